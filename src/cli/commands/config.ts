import { configReference } from '../../config/reference.ts'
import { EXIT, ParleyError } from '../../core/errors.ts'
import type { ReloadReport } from '../../core/operate-config.ts'
import { askOperator } from '../ask-operator.ts'
import type { CliPorts } from '../ports.ts'
import { plain, toJson } from '../print/plain.ts'
import { type ReadOptions, type ReadPorts, show } from '../show.ts'

/** Loads the configuration like `start`. Throws `config`, with the path, for a mistake and for a missing file. */
export async function checkConfig(ports: ReadPorts & Pick<CliPorts, 'compile'>, options: ReadOptions): Promise<number> {
  const { config, lineOf } = await ports.load(options.config, 'check')
  const { file } = config
  const warnings = [...config.warnings, ...(await ports.compile(config))]
  const source = file ?? 'the environment (no file)'
  show(ports, options, {
    value: { ok: true, ...(file === undefined ? {} : { file }), warnings },
    lines: (style) => [
      `${style.good('✓')} ${source} is valid`,
      ...warnings.map((warning) => `  warning: ${at(lineOf?.(warning))}${plain(warning)}`),
    ],
  })
  return EXIT.ok
}

function at(line: number | undefined): string {
  return line === undefined ? '' : `line ${line}: `
}

/** Makes the running daemon apply a changed policy: people, access and sending. */
export async function reloadConfig(ports: ReadPorts, options: ReadOptions): Promise<number> {
  const report = await askToReload(ports, options).catch(refuse)
  const { wider, narrower, other, warnings, later } = report
  const same = wider.length + narrower.length + other.length === 0
  show(ports, options, {
    value: report,
    lines: (style) => [
      ...wider.map((line) => `${style.bad('wider')}     ${plain(line)}`),
      ...narrower.map((line) => `narrower  ${plain(line)}`),
      ...other.map((line) => `other     ${plain(line)}`),
      ...warnings.map((line) => `warning   ${plain(line)}`),
      ...later.map((name) => `at start  ${plain(name)}`),
      same ? 'Nothing has changed in who is who, who may talk, dispatch and send policy.' : 'This holds now.',
      later.length === 0 ? 'Nothing else in the file has changed.' : 'The rest takes effect at the next start.',
    ],
  })
  return EXIT.ok
}

async function askToReload(ports: ReadPorts, options: ReadOptions): Promise<ReloadReport> {
  const loaded = await ports.load(options.config, 'ask')
  return askOperator(ports, loaded, (operator) => operator.config.reload())
}

/** A mistake exits as one of the configuration whether it is found here or by the daemon. */
function refuse(error: unknown): never {
  if (!(error instanceof ParleyError)) throw error
  if (error.code === 'invalid') throw new ParleyError('config', error.message, { cause: error })
  if (error.code !== 'config') throw error
  throw new ParleyError('config', `${error.message}\nNothing was changed: the policy of before holds.`, {
    cause: error,
  })
}

export async function printSchema(
  ports: Pick<CliPorts, 'stdout' | 'configSchema'>,
  { markdown = false }: { readonly markdown?: boolean } = {},
): Promise<number> {
  const schema = await ports.configSchema()
  ports.stdout.write(markdown ? configReference(schema) : toJson(schema))
  return EXIT.ok
}

export async function explainConfig(
  ports: ReadPorts & Pick<CliPorts, 'explain'>,
  options: ReadOptions,
): Promise<number> {
  const loaded = await ports.load(options.config)
  const quiet = { ...ports, stderr: { ...ports.stderr, write() {} } }
  const known = await askOperator(quiet, loaded, (operator) => operator.people.list()).catch((error: unknown) => {
    if (!(error instanceof ParleyError)) throw error
    // Before the first start there is no store: nobody has claimed the bot, and nobody was let in.
    if (error.code !== 'not_found') ports.stderr.write(`Whoever the store knows is left out: ${error.message}\n`)
    return undefined
  })
  const lines = await ports.explain(loaded.config, known)
  show(ports, options, { value: lines, lines: () => lines.map(plain) })
  return EXIT.ok
}
