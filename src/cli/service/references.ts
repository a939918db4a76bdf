import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Credential, ServiceScope } from './unit-file.ts'

/** The secrets, files and variables of a configuration, as its service will find them. */
export interface Supplies {
  readonly credentials: readonly Credential[]
  /** The variables that it names. */
  readonly names: readonly string[]
  /** The file of variables for the service; it may be missing. */
  readonly variables: string
  /** Sentences on what the service will miss. */
  readonly missing: readonly string[]
  /** Sentences on what it cannot open at all. */
  readonly closed: readonly string[]
}

const REFERENCE = /\$\{(env|file|credential):\s*([^{}]*?)\s*\}/g
const OTHERS_READ = 0o004

/**
 * Returns the secrets, files and variables that a configuration names. A service of the system runs as a user of its
 * own, who opens no file of root: its secrets are credentials.
 */
export function suppliesOf(config: string, scope: ServiceScope): Supplies {
  const folder = dirname(config)
  const variables = join(folder, 'parley.env')
  const named = referencesIn(readFileSync(config, 'utf8'))
  const of = (kind: string): readonly string[] => [
    ...new Set(named.flatMap(([one, name]) => (one === kind ? [name] : []))),
  ]
  const credentials = of('credential').map((name) => ({ name, file: join(folder, name) }))
  const files = of('file').map((name) => resolve(folder, name))
  const set = variablesIn(variables)
  return {
    ...{ credentials, variables, names: of('env') },
    missing: [
      ...credentials.flatMap(({ name, file }) =>
        existsSync(file)
          ? []
          : [`Put the secret "${name}" into ${file} (0600): the service is not started without it.`],
      ),
      ...of('env').flatMap((name) =>
        set.has(name)
          ? []
          : [`The service does not see the variables of your shell: put ${name}=... into ${variables}`],
      ),
    ],
    closed: scope === 'user' ? [] : files.flatMap((file) => closedTo(file, folder)),
  }
}

function referencesIn(text: string): readonly (readonly [kind: string, name: string])[] {
  const said = text.replace(/^\s*#.*$/gm, '')
  return [...said.matchAll(REFERENCE)].map(([, kind = '', name = '']) => [kind, name])
}

function variablesIn(file: string): ReadonlySet<string> {
  if (!existsSync(file)) return new Set()
  return new Set([...readFileSync(file, 'utf8').matchAll(/^\s*([A-Za-z_]\w*)=./gm)].map(([, name = '']) => name))
}

function closedTo(file: string, folder: string): readonly string[] {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined || (found.mode & OTHERS_READ) !== 0) return []
  const name = basename(file)
  const move = dirname(file) === folder ? '' : ` and move the file to ${join(folder, name)}`
  return [`The service cannot read ${file}: write \${credential:${name}} in place of its \${file:...}${move}`]
}
