import { existsSync } from 'node:fs'
import { NOTHING_YET } from '../../config/environment.ts'
import { EXIT, errorCode, toError } from '../../core/errors.ts'
import type { DoctorReport, DoctorRequest, Finding } from '../../core/finding.ts'
import { connectLocal } from '../local-client.ts'
import type { CliPorts, LoadedConfig } from '../ports.ts'
import { wrapped } from '../print/columns.ts'
import { counted, oneLine } from '../print/plain.ts'
import { createProgress } from '../print/progress.ts'
import type { Style } from '../print/style.ts'
import { typedAs } from '../service/installation.ts'
import { type ReadOptions, show, widthOf } from '../show.ts'
import { socketPathOf } from '../socket-path.ts'

export interface DoctorOptions extends ReadOptions {
  readonly parts: readonly string[]
  readonly offline?: boolean
  readonly fix?: boolean
}

type DoctorPorts = Pick<
  CliPorts,
  'env' | 'cwd' | 'now' | 'stdout' | 'stderr' | 'load' | 'compile' | 'examine' | 'machine'
>

/**
 * Looks for whatever is wrong. Resolves with 0 where nothing has failed, with 1 where something has, and with 78 where
 * no configuration could be read: everything else is examined all the same.
 */
export async function doctor(ports: DoctorPorts, options: DoctorOptions): Promise<number> {
  const { loaded, mistakes, warnings } = await readConfig(ports, options.config)
  const isNew = mistakes[0]?.startsWith(NOTHING_YET) === true
  const progress = createProgress(ports.stderr, 'checks')
  try {
    const report = await ports.examine({
      ...(loaded === undefined ? {} : { config: loaded.config, ...(await statusOf(loaded)) }),
      ...{ mistakes, warnings, parts: options.parts, now: ports.now() },
      ...{ offline: options.offline === true, fix: options.fix === true },
      progress: options.json === true ? () => {} : progress.at,
    })
    progress.end()
    const typed = typedAs(await ports.machine(), ports)
    show(ports, options, {
      value: report,
      lines: (style) => [...printReport(report, style, widthOf(ports.stdout)), ...howToType(report, typed)],
    })
    if (loaded === undefined || isNew) return EXIT.config
    return report.findings.some(({ state }) => state === 'failed') ? EXIT.failed : EXIT.ok
  } finally {
    progress.end()
  }
}

interface ReadConfig {
  readonly loaded?: LoadedConfig
  readonly mistakes: readonly string[]
  readonly warnings: readonly string[]
}

/**
 * Reads the configuration strictly, else as a start does, else as a question to a daemon does: what one of them refuses
 * is said, and the next one still lets everything else be examined.
 */
export async function readConfig(
  { load, compile }: Pick<DoctorPorts, 'load' | 'compile'>,
  path?: string,
): Promise<ReadConfig> {
  let mistakes: readonly string[] = []
  for (const use of ['check', 'run', 'ask'] as const) {
    try {
      const loaded = await load(path, use)
      const { config } = loaded
      // Whatever keeps the rules from being compiled is among the mistakes already.
      const compiled = mistakes.length > 0 ? [] : await compile(config)
      // Whoever has configured nothing and started nothing has one thing to do.
      if (mistakes[0]?.startsWith(NOTHING_YET) && !existsSync(config.store.path)) return { mistakes, warnings: [] }
      return { loaded, mistakes, warnings: [...config.warnings, ...compiled].map((one) => atLine(loaded, one)) }
    } catch (error) {
      if (errorCode(error) !== 'config') throw error
      if (mistakes.length === 0) mistakes = mistakesIn(toError(error).message)
    }
  }
  return { mistakes, warnings: [] }
}

/** The guide of a first start is one thing to do; anything else is a mistake a line. */
function mistakesIn(message: string): readonly string[] {
  return message.startsWith(NOTHING_YET) ? [`${NOTHING_YET} Run: parley init`] : message.split('\n')
}

function atLine({ config: { file }, lineOf }: LoadedConfig, warning: string): string {
  const line = lineOf?.(warning)
  return file === undefined || line === undefined ? warning : `${file}:${line}: ${warning}`
}

const ANSWER_MS = 5_000

/** Returns the answer of the daemon on its socket, or why it gave none; nothing where none runs. */
export async function statusOf({ config }: LoadedConfig): Promise<Pick<DoctorRequest<unknown>, 'status' | 'trouble'>> {
  try {
    const status = await (await connectLocal(socketPathOf(config), ANSWER_MS))?.status()
    return status === undefined ? {} : { status }
  } catch (error) {
    return { trouble: toError(error).message }
  }
}

/** The remedies name the program as it is called once it is installed for all shells. */
function howToType({ findings }: DoctorReport, typed: string | undefined): readonly string[] {
  const names = findings.some(({ remedy = '' }) => /\bparley \w/.test(remedy))
  return typed !== undefined && names ? [`Here "parley" is typed as: ${typed}`] : []
}

function printReport({ findings, fixed, usd }: DoctorReport, style: Style, width: number): readonly string[] {
  const parts = [...new Set(findings.map(({ part }) => part))]
  const of = (state: Finding['state']): number => findings.filter((one) => one.state === state).length
  const sums = [
    ...[`${of('failed')} failed`, counted(of('warning'), 'warning'), `${of('ok')} ok`],
    ...(of('skipped') === 0 ? [] : [`${of('skipped')} skipped`]),
  ]
  return [
    ...parts.flatMap((part) => [
      style.bold(oneLine(part)),
      ...findings.filter((one) => one.part === part).flatMap((one) => findingLines(one, style, width)),
    ]),
    '',
    `${sums.join(', ')}.${usd > 0 ? ` The models cost $${usd.toFixed(4)}.` : ''}`,
    ...(fixed.length === 0 ? [] : [`${counted(fixed.length, 'thing')} mended.`]),
  ]
}

function findingLines({ state, says, remedy }: Finding, style: Style, width: number): readonly string[] {
  const [first = '', ...more] = wrapped(oneLine(says), width, '    ')
  const mark = { ok: style.good('✓'), warning: style.bad('!'), failed: style.bad('✗'), skipped: style.dim('·') }[state]
  return [
    `  ${mark}${first.slice(3)}`,
    ...more,
    ...(remedy === undefined ? [] : wrapped(oneLine(remedy), width, '      ').map((line) => style.bold(line))),
  ]
}
