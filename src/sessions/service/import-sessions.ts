import type { Namespace } from '../../core/caller.ts'
import type { Clock } from '../../core/clock.ts'
import type { Route } from '../../core/dispatch.ts'
import { ParleyError, toError } from '../../core/errors.ts'
import type { IdSource, ScopeKey } from '../../core/ids.ts'
import type { ImportOptions, ImportReport, OldFile } from '../../core/import.ts'
import { NO_USAGE } from '../../core/model.ts'
import { type AuthorId, NOBODY } from '../../core/platform-id.ts'
import { redacted } from '../../core/redact-dispatch.ts'
import { fallbackDescription, type Session, type SessionDraft } from '../../core/session.ts'
import { mainAlias, normalName } from '../../core/session-alias.ts'
import type { EventToAppend } from '../../store/event-port.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import { startSession } from '../turns/open-session.ts'
import type { OldMessage, OldSession } from './old-fields.ts'
import { keyOfName, readOldSession } from './read-old-session.ts'

export interface ImportDeps {
  readonly store: Pick<Store, 'write'>
  readonly clock: Clock
  readonly ids: IdSource
  /** Returns the route that an old key means. */
  route(key: string): Pick<Route, 'agent' | 'scope' | 'scopeKey' | 'displayKey' | 'kind' | 'chatType'>
  /** Returns the platform id of the person whose direct chat a key means, if the configuration knows them by it. */
  personOf(key: string): AuthorId | undefined
  /** Returns a text without the values of configured secrets. */
  redact(this: void, text: string): string
}

/** The ids of imported sessions begin with it. */
const IMPORTED = 'import' as Namespace

/** Undoes what a trial run wrote. */
class TrialRun extends Error {
  readonly report: ImportReport

  constructor(report: ImportReport) {
    super('this was a trial')
    this.report = report
  }
}

type Mutable<Report> = { -readonly [List in keyof Report]: Report[List] extends readonly (infer Row)[] ? Row[] : never }

/**
 * Imports conversations of an older program in one transaction: a failure leaves the store as it was and throws
 * `migration_failed` (K40). A conversation that exists is left alone, so that a second run changes nothing; unreadable
 * files are reported (K39). An imported session is taken over at its chat's next message (K27).
 */
export async function importSessions(
  deps: ImportDeps,
  files: readonly OldFile[],
  options: ImportOptions = {},
): Promise<ImportReport> {
  const unreadable: ImportReport['unreadable'][number][] = []
  const sessions: { readonly file: string; readonly old: OldSession }[] = []
  for (const file of files) {
    try {
      sessions.push({ file: file.name, old: withoutSecrets(readOldSession(file), deps) })
    } catch (error) {
      unreadable.push({ file: file.name, reason: toError(error).message })
    }
  }
  try {
    return await deps.store.write(async (tx) => {
      const written = await writeAll(tx, { ...deps, ...options }, sessions)
      const done = { ...written, unreadable: [...unreadable, ...written.unreadable] }
      if (options.dryRun) throw new TrialRun(done)
      return done
    })
  } catch (cause) {
    if (cause instanceof TrialRun) return cause.report
    const message = `the import failed and changed nothing: ${toError(cause).message}`
    throw new ParleyError('migration_failed', message, { cause })
  }
}

/** Its texts are looked at as they are read: a file may write them in other characters. */
function withoutSecrets(old: OldSession, { redact }: ImportDeps): OldSession {
  return { ...redacted(old, redact), key: old.key }
}

async function writeAll(
  tx: StoreWriter,
  deps: ImportDeps & Pick<ImportOptions, 'progress'>,
  sessions: readonly { readonly file: string; readonly old: OldSession }[],
): Promise<ImportReport> {
  const written: Mutable<ImportReport> = { imported: [], present: [], unreadable: [] }
  const before = await importedBefore(tx)
  for (const [index, { file, old }] of sessions.entries()) {
    deps.progress?.(index + 1, sessions.length)
    const draft = draftOf(deps, file, old)
    const name = nameOf(draft, old.key)
    const known =
      (await tx.sessions.current(draft.scopeKey)) ??
      (await tx.sessions.resolve(name)) ??
      underOtherKey(before, { file, draft, byName: deps.route(keyOfName(file)).scopeKey })
    if (known) {
      noteKnown(written, file, known)
      continue
    }
    const now = deps.clock.now()
    // A time in the future would keep it the newest of all.
    const at = Math.min(old.updatedAt ?? now, now)
    const { id, scopeKey, displayKey } = await startSession(tx, draft, { at, draw: () => deps.ids.session(IMPORTED) })
    await tx.aliases.add(scopeKey, [name])
    const person = deps.personOf(old.key)
    const events = eventsOf(old, deps.ids, person)
    if (events.length > 0) await tx.events.append(id, at, events)
    if (old.title !== undefined) await tx.sessions.describe(id, fallbackDescription(old.title), 'ai')
    for (const author of authorsOf(person)) await tx.authors.add(id, author)
    const { damaged, messages } = old
    const lost = { skipped: damaged.length, damaged: damaged.slice(0, MOST_NAMED) }
    const words = person === undefined ? [] : [person]
    written.imported.push({ file, session: id, key: displayKey, messages: messages.length, ...lost, words })
  }
  return written
}

/** Names a file that is left out because there is a session of its key. */
function noteKnown({ present, unreadable }: Mutable<ImportReport>, file: string, known: Session): void {
  const other = importedFromOther(known, file)
  if (other === undefined) present.push({ file, session: known.id, as: cameHere(known), kind: known.kind })
  else
    unreadable.push({ file, reason: `it has the key of ${other}, which is imported, and a chat has one conversation` })
}

/** Returns the name by which its chat finds it: a key that is a hash is known by nothing else. */
function nameOf({ kind, agentId, displayKey }: SessionDraft, key: string): string {
  if (kind === 'main') return mainAlias(agentId)
  const name = normalName(key)
  return name.startsWith('sk_v1_') ? name : displayKey
}

const PAGE = 200

/** Returns every session that an import has made. */
async function importedBefore({ sessions }: StoreWriter): Promise<readonly Session[]> {
  const all: Session[] = []
  for (let total = 1; all.length < total; ) {
    const page = await sessions.list({ namespace: IMPORTED, inactive: true, limit: PAGE, offset: all.length })
    if (page.sessions.length === 0) break
    all.push(...page.sessions)
    total = page.total
  }
  return all
}

/**
 * Returns the session that was imported from a file under another key. What names its key stands in a file beside it,
 * which may be gone by now, or have come since; without it the name of the file is its key.
 */
function underOtherKey(
  before: readonly Session[],
  { file, draft, byName }: { readonly file: string; readonly draft: SessionDraft; readonly byName: ScopeKey },
): Session | undefined {
  return before.find(
    ({ metadata, scopeKey }) =>
      metadata.imported_from !== undefined &&
      isSameFile(metadata.imported_from, file) &&
      (draft.scopeKey === byName || scopeKey === byName),
  )
}

function cameHere({ source }: Session): 'imported' | 'begun here' {
  return source.kind === 'api' && source.triggerType === 'import' ? 'imported' : 'begun here'
}

/** Returns the file from which a session was imported if it is another one. */
function importedFromOther({ metadata: { imported_from: from } }: Session, file: string): string | undefined {
  return from === undefined || isSameFile(from, file) ? undefined : from
}

/** The same file has a longer name where a folder above is imported. */
function isSameFile(one: string, other: string): boolean {
  return `/${one}`.endsWith(`/${other}`) || `/${other}`.endsWith(`/${one}`)
}

/** Lines that a report names by number. */
const MOST_NAMED = 20

/**
 * Whoever has made the file can have named the owner in its key, and the older program did not say what was forwarded
 * or read from a page: imported words are nobody's as well.
 */
function authorsOf(person: AuthorId | undefined): readonly AuthorId[] {
  return person === undefined ? [NOBODY] : [person, NOBODY]
}

function draftOf({ ids, route }: ImportDeps, file: string, { key }: OldSession): SessionDraft {
  const { agent, ...rest } = route(key)
  return {
    ...rest,
    id: ids.session(IMPORTED),
    agentId: agent,
    source: { kind: 'api', interactive: true, triggerType: 'import', triggerId: file },
    metadata: { imported_from: file },
  }
}

/** Messages that the older program no longer showed its model stay in the log, before a boundary. */
function eventsOf(
  { messages, hidden, summary }: OldSession,
  ids: IdSource,
  person: AuthorId | undefined,
): readonly EventToAppend[] {
  const turnsOf = (some: readonly OldMessage[]) => eventsOfTurns(some, ids, person)
  if (hidden === 0 && summary === undefined) return turnsOf(messages)
  const exchanges = summary === undefined ? [] : [{ user: SUMMARY_QUESTION, assistant: summary }]
  const boundary: EventToAppend = { type: 'history_boundary', data: { kind: 'replaced', exchanges } }
  return [...unanswered(turnsOf(messages.slice(0, hidden))), boundary, ...turnsOf(messages.slice(hidden))]
}

/** A hidden question without an answer owes none, or it would wait behind the boundary for the next turn. */
function unanswered(events: readonly EventToAppend[]): readonly EventToAppend[] {
  const answered = events.findLastIndex(({ type }) => type === 'turn_started')
  return events.map((event, index) =>
    event.type === 'user_message' && index > answered ? { ...event, data: { ...event.data, triggers: false } } : event,
  )
}

const SUMMARY_QUESTION = 'What was said here before, in short?'

function eventsOfTurns(
  messages: readonly OldMessage[],
  ids: IdSource,
  person: AuthorId | undefined,
): readonly EventToAppend[] {
  return messages.flatMap((message, index) =>
    message.role === 'user' ? [userEvent(message, person)] : answerEvents(message, messages[index - 1], ids),
  )
}

function userEvent({ text }: OldMessage, person: AuthorId | undefined): EventToAppend {
  const sender = { id: person?.slice(person.indexOf(':') + 1) ?? 'imported', kind: 'user' } as const
  return { type: 'user_message', data: { text, sender, owner: false, addressed: true, triggers: true } }
}

/** An answer ends the turn of the message before it; one without such a message was the agent's own. */
function answerEvents({ text }: OldMessage, before: OldMessage | undefined, ids: IdSource): readonly EventToAppend[] {
  const traceId = ids.trace()
  if (before?.role !== 'user') return [{ type: 'assistant_posted', data: { text, traceId } }]
  const turnId = ids.turn()
  return [
    { type: 'turn_started', turnId, data: { traceId } },
    { type: 'assistant_message', turnId, data: { text, model: 'imported', usage: NO_USAGE } },
    { type: 'turn_completed', turnId, data: { outcome: 'answered', usage: NO_USAGE, steps: 0 } },
  ]
}
