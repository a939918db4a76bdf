import { arch, cpus, freemem, platform, release, totalmem } from 'node:os'
import type { Config } from '../config/config.ts'
import { configJsonSchema } from '../config/json-schema.ts'
import type { Surroundings } from '../config/places.ts'
import { readSource } from '../config/read-source.ts'
import { type ChannelCatalogue, traitsOf } from '../config/schema.ts'
import { createChannels } from '../core/channel-traits.ts'
import { errorCode } from '../core/errors.ts'
import type { SupportReport, SupportRequest } from '../core/support.ts'
import { openToRead, storeSizes } from '../store/engines/examine-database.ts'
import type { Database } from '../store/engines/sqlite-driver.ts'
import { storeKeyOf } from './store-key.ts'
import { type OwnWords, ownWords, Pseudonyms, plainSettings } from './support-settings.ts'

export interface SupportParts extends Surroundings {
  readonly version: string
  readonly catalogue: ChannelCatalogue
}

const ABOUT = [
  'In it: versions, the machine in numbers, the settings of the configuration, how',
  'many rows each table has and in which states, the codes and trace ids of recent',
  'failures, and which checks of "parley doctor" passed.',
  "Not in it: tokens and keys, names, ids, titles, addresses, paths, and anybody's",
  'words. The same name or id has the same number everywhere in this file, and a',
  'number means nothing outside of it.',
]

/** The tables in which a row has a state of its own. */
const STATEFUL = [
  ...['inbox', 'turns', 'outbox', 'schedule_slots', 'approvals', 'questions', 'admissions', 'restorations'],
  'forgettings',
]
const MOST_FAILURES = 50
/** The form of a code of ours; whatever else stands in its place may be a text. */
const CODE = /^[a-z][a-z_]{2,39}$/
const TRACE = /^tr_[\w-]{1,60}$/

/** Returns the facts about a daemon for a report, from whatever of it can be read. Never throws for what cannot. */
export async function supportReport(request: SupportRequest<Config>, own: SupportParts): Promise<SupportReport> {
  const names = new Pseudonyms()
  const words = ownWords(configJsonSchema(own.catalogue), createChannels(traitsOf(own.catalogue)).ids)
  const tree = await treeOf(request, own)
  // Before the mistakes, so that a name has the kind of its place in both.
  const settings = plainSettings(tree ?? {}, { words, names })
  return {
    about: ABOUT,
    program: programFacts(own.version),
    configuration: {
      state: stateOf(request, tree),
      mistakes: request.mistakes.map((line) => mistakeIn(line, { words, names })),
      warnings: request.warnings.length,
      settings,
    },
    daemon: daemonFacts(request, { words, names }),
    store: storeFacts(request.config),
    findings: request.findings.map(({ part, check, state }) => ({
      part: partOf(part, { words, names }),
      check,
      state,
    })),
  }
}

function programFacts(version: string): Readonly<Record<string, string | number>> {
  const [memory, free] = [totalmem(), freemem()].map((bytes) => Math.round(bytes / 1024 / 1024))
  return {
    ...{ parley: version, node: process.version, napi: process.versions.napi ?? '', system: `${platform()} ${arch()}` },
    ...{
      kernel: release().replace(/[^\d.].*$/, ''),
      processors: cpus().length,
      memoryMB: memory ?? 0,
      freeMB: free ?? 0,
    },
  }
}

async function treeOf({ path }: SupportRequest<Config>, own: SupportParts): Promise<unknown> {
  try {
    const { file, tree } = await readSource({ ...own, ...(path === undefined ? {} : { path }) })
    return file === undefined ? {} : tree
  } catch {
    return undefined
  }
}

function stateOf({ config, mistakes }: SupportRequest<Config>, tree: unknown): SupportReport['configuration']['state'] {
  if (config !== undefined) return mistakes.length > 0 ? 'has mistakes' : 'read'
  if (tree === undefined) return 'cannot be read'
  return Object.keys(tree as object).length === 0 ? 'absent' : 'has mistakes'
}

interface Replacing {
  readonly words: OwnWords
  readonly names: Pseudonyms
}

/** Returns the place of a mistake from its line, `<file>:<line>: <setting>: <sentence>`. */
function mistakeIn(text: string, replacing: Replacing): SupportReport['configuration']['mistakes'][number] {
  const [, line] = /(?:^|:)(\d{1,7}): /.exec(text) ?? []
  const [, typed] = /: ([\w-]+(?:\.[\w-]+|\[\d+\])+): /.exec(text) ?? []
  // The number of an entry of a list stands in brackets; any other number is a name.
  const setting = typed?.replace(/\[\d+\]|[\w-]+/g, (word) =>
    word.startsWith('[') || replacing.words.settings.has(word) ? word : replacing.names.of('name', word),
  )
  return { ...(line === undefined ? {} : { line: Number(line) }), ...(setting === undefined ? {} : { setting }) }
}

/** A part is named by a word of ours; what follows it is a name: `slack/work`, `model ollama`. */
function partOf(part: string, { words, names }: Replacing): string {
  const [, first = '', mark = '', rest = ''] = /^(\w+)([/ ]?)(.*)$/.exec(part) ?? []
  const isOwn = rest === '' || words.values.has(rest) || rest === 'default' || rest === 'server'
  return isOwn ? part : `${first}${mark}${names.of('name', rest)}`
}

function daemonFacts(
  { status, trouble }: SupportRequest<Config>,
  { words, names }: Replacing,
): Readonly<Record<string, unknown>> {
  if (status === undefined) return { state: trouble === undefined ? 'does not run' : 'does not answer' }
  const { startedAt, version, sessions, runningTurns, waiting, ownerKnown, outbox, channels } = status
  return {
    ...{ state: 'runs', version, startedAt, sessions, runningTurns, waiting, ownerKnown, outbox },
    channels: channels.map(({ channel, account, status: state }) => ({
      channel: words.values.has(channel) ? channel : names.of('channel', channel),
      account: account === 'default' ? account : names.of('account', account),
      state,
    })),
  }
}

function storeFacts(config: Config | undefined): Readonly<Record<string, unknown>> {
  if (config === undefined) return { state: 'unknown, since no configuration could be read' }
  try {
    const { path } = config.store
    const sizes = storeSizes(path)
    if (sizes.bytes === 0) return { state: 'absent', ...sizes }
    const key = storeKeyOf(config)
    const database = openToRead(path, key)
    try {
      return { state: 'read', encrypted: key !== undefined, ...sizes, ...rowsIn(database) }
    } finally {
      database.close()
    }
  } catch (error) {
    return { state: 'cannot be read', code: errorCode(error) }
  }
}

function rowsIn(database: Database): Readonly<Record<string, unknown>> {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").pluck().all()
  const names = tables.map(String)
  if (!['migrations', 'counters', 'outbox'].every((name) => names.includes(name))) return { kind: 'of another program' }
  const count = (name: string): number => Number(database.prepare(`SELECT COUNT(*) FROM "${name}"`).pluck().get())
  const states = STATEFUL.filter((name) => names.includes(name)).map((name) => [name, statesIn(database, name)])
  return {
    schema: Number(database.prepare('SELECT MAX(version) FROM migrations').pluck().get()),
    sqlite: String(database.prepare('SELECT sqlite_version()').pluck().get()),
    rows: Object.fromEntries(names.filter((name) => /^[a-z_]{1,40}$/.test(name)).map((name) => [name, count(name)])),
    states: Object.fromEntries(states),
    failures: failuresIn(database),
  }
}

interface CountRow {
  readonly state: unknown
  readonly count: number
}

function statesIn(database: Database, table: string): Readonly<Record<string, number>> {
  const rows = database.prepare<[], CountRow>(`SELECT state, COUNT(*) AS count FROM ${table} GROUP BY state`).all()
  return Object.fromEntries(rows.map(({ state, count }) => [codeOf(state), count]))
}

interface FailureRow {
  readonly what: string
  readonly trace: unknown
  readonly code: unknown
  readonly at: number | null
}

function failuresIn(database: Database): readonly Readonly<Record<string, unknown>>[] {
  const rows = database
    .prepare<[], FailureRow>(
      `SELECT * FROM (SELECT 'turn' AS what, trace_id AS trace, error AS code, ended_at AS at FROM turns
         WHERE state IN ('failed', 'quarantined') ORDER BY ended_at DESC LIMIT ${MOST_FAILURES})
       UNION ALL SELECT * FROM (SELECT state AS what, trace_id AS trace, reason AS code, started_at AS at FROM outbox
         WHERE state IN ('rejected', 'uncertain', 'given_up', 'expired') ORDER BY no DESC LIMIT ${MOST_FAILURES})`,
    )
    .all()
  return rows.map(({ what, trace, code, at }) => ({
    ...{ what, code: codeOf(code), at: at === null ? null : new Date(at).toISOString() },
    ...(TRACE.test(String(trace)) ? { trace } : {}),
  }))
}

function codeOf(value: unknown): string {
  return CODE.test(String(value)) ? String(value) : 'other'
}
