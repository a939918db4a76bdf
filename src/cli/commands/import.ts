import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { EXIT, ParleyError, toError } from '../../core/errors.ts'
import type { BundleReport, ImportReport } from '../../core/import.ts'
import { readOldStore } from '../old-stores.ts'
import type { CliPorts, LoadedConfig } from '../ports.ts'
import { counted, oneLine } from '../print/plain.ts'
import { createProgress } from '../print/progress.ts'
import { type ReadOptions, show } from '../show.ts'

type ImportPorts = Pick<CliPorts, 'env' | 'cwd' | 'stdout' | 'stderr' | 'load' | 'importSessions' | 'importBundle'>

export interface ImportCommand extends ReadOptions {
  readonly dryRun?: boolean
}

/** Imports the conversations of an older program from its folder, or a session of another store from its file. */
export async function importFrom(ports: ImportPorts, from: string, options: ImportCommand): Promise<number> {
  const { dryRun = false } = options
  const path = resolve(ports.cwd, from)
  const loaded = await ports.load(options.config, 'ask')
  const found = await stat(path).catch((error: unknown) => {
    throw notThere(path, error)
  })
  if (found.isDirectory()) return importFolder({ ...ports, loaded }, path, options)
  // To open a pipe would wait for a writer, and a device has no end.
  if (!found.isFile()) throw new ParleyError('invalid', `${path} is a device, a pipe or a socket: ${NAME_ONE}`)
  const report = await ports.importBundle(loaded, path, dryRun)
  show(ports, options, { value: report, lines: () => [describeBundle(report, dryRun)] })
  return EXIT.ok
}

const NAME_ONE = 'name a bundle, or the folder of an older program.'

function notThere(path: string, thrown: unknown): ParleyError {
  const error = toError(thrown)
  const isNone = 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
  const message = isNone
    ? `There is no file or folder ${path}: ${NAME_ONE}`
    : `${path} cannot be read: ${error.message}`
  return new ParleyError('invalid', message, { cause: error })
}

function describeBundle({ session, key, events, files, state }: BundleReport, dryRun: boolean): string {
  if (state === 'present') return `${oneLine(session)} is there already, as ${oneLine(key)}; nothing was changed.`
  const where =
    state === 'beside'
      ? ` beside others; to continue it in a chat: parley sessions move ${oneLine(session)} <chat>`
      : ''
  return `${oneLine(session)}: ${counted(events, 'event')} and ${counted(files, 'file')} ${dryRun ? 'would be imported' : 'imported'} as ${oneLine(key)}${where}`
}

async function importFolder(
  { loaded, ...ports }: ImportPorts & { readonly loaded: LoadedConfig },
  folder: string,
  options: ImportCommand,
): Promise<number> {
  const { dryRun = false } = options
  const progress = createProgress(ports.stderr, 'conversations')
  const files = await readOldStore(folder)
  const { at } = progress
  const report = await ports.importSessions(loaded, files, { dryRun, progress: at }).finally(progress.end)
  show(ports, options, { value: report, lines: () => describe(report, dryRun) })
  const { imported, present, unreadable } = report
  return imported.length + present.length === 0 && unreadable.length > 0 ? EXIT.migration : EXIT.ok
}

function describe({ imported, present, unreadable }: ImportReport, dryRun: boolean): readonly string[] {
  const verb = dryRun ? 'would be imported' : 'imported'
  const before = present.filter(({ as }) => as === 'imported')
  const left = present.length - before.length
  const kept = left === 0 ? '' : `, ${left} not, since their chats have begun here`
  return [
    ...imported.map(({ file, key, messages, words, ...lost }) => {
      const said = words.length === 0 ? '' : `, words of ${words.join(', ')}`
      return `${oneLine(file)}: ${counted(messages, 'message')} as ${oneLine(key)}${said}${lostText(lost)}`
    }),
    ...present.map((one) => `${oneLine(one.file)}: ${presentText(one)}`),
    ...unreadable.map(({ file, reason }) => `${oneLine(file)}: skipped, ${oneLine(reason)}`),
    `${imported.length} ${verb}, ${before.length} there already, ${unreadable.length} skipped${kept}`,
    ...(imported.length > 0 && !dryRun ? ['parley sessions list --all shows them.'] : []),
  ]
}

/** A chat has one conversation at a time, and nobody is asked here which of the two it is to be. */
function presentText({ session, as, kind }: ImportReport['present'][number]): string {
  if (as === 'imported') return `there already, as ${session}`
  const instead = kind === 'other' ? `; it can be once that is deleted: parley sessions delete ${session}` : ''
  return `not imported, its chat has a conversation that began here, ${session}${instead}`
}

type Lost = Pick<ImportReport['imported'][number], 'skipped' | 'damaged'>

function lostText({ skipped, damaged }: Lost): string {
  if (skipped === 0) return ''
  const more = skipped > damaged.length ? ' …' : ''
  return `, ${skipped} damaged left out (line ${damaged.join(', ')}${more})`
}
