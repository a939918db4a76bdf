import { resolve } from 'node:path'
import { EXIT } from '../../core/errors.ts'
import type { CliPorts } from '../ports.ts'
import { oneLine, toJson } from '../print/plain.ts'
import { type ReadOptions, show } from '../show.ts'
import { checkWritable, writePrivately } from '../write-privately.ts'
import { readConfig, statusOf } from './doctor.ts'

export interface SupportOptions extends ReadOptions {
  readonly file?: string
  readonly force?: boolean
}

type SupportPorts = Pick<
  CliPorts,
  'env' | 'cwd' | 'now' | 'stdout' | 'stderr' | 'load' | 'compile' | 'examine' | 'support'
>

/**
 * Writes a file for a report that its owner alone can read, and says what is in it. Asks nothing over the network, and
 * writes it also where no configuration can be read or nothing runs.
 */
export async function support(ports: SupportPorts, options: SupportOptions): Promise<number> {
  const day = new Date(ports.now()).toISOString().slice(0, 10)
  const path = resolve(ports.cwd, options.file ?? `parley-support-${day}.json`)
  await checkWritable(path, options.force === true)
  const { loaded, mistakes, warnings } = await readConfig(ports, options.config)
  const about = loaded === undefined ? {} : { config: loaded.config, ...(await statusOf(loaded)) }
  const { findings } = await ports.examine({
    ...about,
    ...{ mistakes, warnings, parts: [], offline: true, fix: false, now: ports.now() },
    progress: () => {},
  })
  const asked = options.config === undefined ? {} : { path: options.config }
  const report = await ports.support({ ...asked, ...about, mistakes, warnings, findings })
  const bytes = await writePrivately(path, pieces(toJson(report)), { force: options.force === true, now: ports.now() })
  show(ports, options, {
    value: { file: path, bytes },
    lines: () => [
      ...report.about,
      '',
      `Wrote ${oneLine(path)} (${Math.ceil(bytes / 1024)} KB),`,
      'which you alone can read. Look through it, and attach it.',
    ],
  })
  return EXIT.ok
}

async function* pieces(text: string): AsyncGenerator<string> {
  yield text
}
