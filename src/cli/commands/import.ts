import { readdir, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { EXIT, ParleyError, toError } from '../../core/errors.ts'
import type { ImportReport, OldFile } from '../../core/import.ts'
import type { CliPorts } from '../ports.ts'
import { oneLine } from '../print/plain.ts'
import { type ReadOptions, show } from '../show.ts'

type ImportPorts = Pick<CliPorts, 'env' | 'cwd' | 'stdout' | 'load' | 'importSessions'>

export async function importFolder(ports: ImportPorts, folder: string, options: ReadOptions): Promise<number> {
  const loaded = await ports.load(options.config, 'ask')
  const report = await ports.importSessions(loaded, await readFolder(resolve(ports.cwd, folder)))
  show(ports, options, { value: report, lines: () => describe(report) })
  return EXIT.ok
}

/** Returns the files of that folder alone; links and folders with the name of a file are reported and not followed. */
async function readFolder(folder: string): Promise<readonly OldFile[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new ParleyError('invalid', `The folder ${folder} cannot be read: ${toError(cause).message}`, { cause })
  })
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  const files = entries.map(({ name }) => name).filter((name) => /\.jsonl?$/.test(name) && !name.endsWith('.meta.json'))
  return Promise.all(files.sort().map((name) => readOne(folder, name, names)))
}

async function readOne(folder: string, name: string, names: readonly string[]): Promise<OldFile> {
  const text = names.includes(name) ? await textOf(join(folder, name)) : 'no plain file'
  const beside = name.replace(/\.jsonl$/, '.meta.json')
  if (beside === name || !names.includes(beside)) return { name, text }
  return { name, text, meta: await textOf(join(folder, beside)) }
}

const MOST_BYTES = 64 * 1024 * 1024

/** A file that cannot be read is reported like one that is no JSON. */
async function textOf(path: string): Promise<string> {
  try {
    return (await stat(path)).size > MOST_BYTES ? 'larger than 64 MiB' : await readFile(path, 'utf8')
  } catch {
    return 'unreadable'
  }
}

function describe({ imported, present, unreadable }: ImportReport): readonly string[] {
  return [
    ...imported.map(({ file, key, messages, skipped }) => {
      const lost = skipped === 0 ? '' : `, ${skipped} damaged left out`
      return `${oneLine(file)}: ${messages} messages as ${oneLine(key)}${lost}`
    }),
    ...present.map(({ file, session }) => `${oneLine(file)}: there already, as ${session}`),
    ...unreadable.map(({ file, reason }) => `${oneLine(file)}: skipped, ${oneLine(reason)}`),
    `${imported.length} imported, ${present.length} there already, ${unreadable.length} skipped`,
  ]
}
