import { EXIT } from '../../core/errors.ts'
import type { ConversionReport, StoreForm } from '../../core/store-conversion.ts'
import type { CliPorts } from '../ports.ts'
import { oneLine } from '../print/plain.ts'
import { createProgress } from '../print/progress.ts'
import { type ReadOptions, show } from '../show.ts'

type StorePorts = Pick<CliPorts, 'env' | 'stdout' | 'stderr' | 'load' | 'convertStore'>

/** Encrypts or decrypts the store of a daemon that does not run. */
export async function convertStore(ports: StorePorts, to: StoreForm, options: ReadOptions): Promise<number> {
  const loaded = await ports.load(options.config, 'ask')
  const progress = createProgress(ports.stderr, 'files')
  const report = await ports.convertStore(loaded, { to, progress: progress.at }).finally(progress.end)
  show(ports, options, { value: report, lines: () => describe(report) })
  return EXIT.ok
}

function describe({ form, databases, files, left }: ConversionReport): readonly string[] {
  const done = [
    ...databases.map((path) => `${oneLine(path)}: ${form === 'plain' ? 'decrypted' : 'encrypted'}`),
    ...(files > 0 ? [`${files} files of conversations: ${form === 'plain' ? 'decrypted' : 'encrypted'}`] : []),
    ...left.map(oneLine),
  ]
  const already = form === 'plain' ? 'There is nothing encrypted.' : 'All is encrypted already.'
  return [...(done.length === 0 ? [already] : done), ...ADVICE[form]]
}

const ADVICE: Readonly<Record<StoreForm, readonly string[]>> = {
  encrypted: [
    'What was there before is overwritten. An SSD, or a file system with snapshots, may hold it on; only an encrypted disk does not.',
    'Keep store.key in another place too: without it nobody can read any of this.',
  ],
  plain: ['Take store.key out of the configuration before the next start.'],
}
