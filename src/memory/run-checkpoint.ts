import type { AgentProfile } from '../core/agent-profile.ts'
import type { Charge } from '../core/budget.ts'
import type { CheckpointData, CheckpointReason } from '../core/checkpoint.ts'
import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import type { EventDraft } from '../core/event.ts'
import { failpoint } from '../core/failpoint.ts'
import { isLeaving } from '../core/forgetting.ts'
import type { SessionId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import {
  type CheckpointOutcome,
  type Introspect,
  type Introspection,
  MEMORY_LIMITS,
  type MemoryEntry,
} from '../core/memory.ts'
import type { MessageName } from '../core/message.ts'
import type { AuthorId } from '../core/platform-id.ts'
import type { Session, SessionIdentity } from '../core/session.ts'
import { endsWorking } from '../core/working-ends.ts'
import type { CheckpointPlace } from '../store/memory-port.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import { described, shortened } from './memory-text.ts'
import { type Slice, sliceOf, sourcesOf } from './slice.ts'
import { type Working, workingNow } from './working-now.ts'

export interface CheckpointDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly introspect: Introspect
  agent(session: SessionIdentity): AgentProfile
  /** Returns true for an author who is an owner now. */
  isOwner(author: AuthorId): Promise<boolean>
  /** Called after the commit with the event that was appended. */
  saw(
    session: SessionIdentity,
    appended: { readonly seq: number; readonly at: number; readonly events: readonly EventDraft[] },
  ): void
}

/** The newest events that one checkpoint reads at most: older ones are left out. */
const MOST_EVENTS = 1_000
/** Entries of the session that the model is shown. */
const MOST_SHOWN = 50
/** A working memory made of more messages than this is removed when any message is deleted. */
const MOST_SOURCES = 300

/**
 * Looks through the events since the last checkpoint and commits what comes of it, the cursor with it: all or nothing
 * (S34). What its model writes is for this session and counts as the words of everybody who wrote here. Throws what the
 * model throws, and `conflict` where a message was deleted meanwhile.
 */
export async function runCheckpoint(
  deps: CheckpointDeps,
  {
    session: id,
    reason,
    charge,
  }: { readonly session: SessionId; readonly reason: CheckpointReason; readonly charge?: Charge | undefined },
  signal: AbortSignal,
): Promise<CheckpointOutcome> {
  const { store, introspect, agent, logger } = deps
  signal.throwIfAborted()
  const session = await store.read.sessions.get(id)
  const last = await store.read.events.latestCheckpoint(id)
  const slice = session === undefined ? undefined : await sliceSince(store, id, last)
  if (session === undefined || slice === undefined || slice.lines.length === 0) {
    await store.write((tx) => tx.checkpoints.settle(id))
    return { kind: 'nothing' }
  }
  const before = await workingNow(store.read, id, last)
  const own = (await store.read.memory.newest([id], MOST_SHOWN)).filter(({ by }) => by !== 'person')
  const { description } = session
  const found = await introspect(
    {
      agent: agent(session),
      sessionId: id,
      charge,
      lines: slice.lines,
      working: before?.working,
      description,
      entries: own,
    },
    signal,
  )
  if (found.refused.length > 0)
    logger.warn('A checkpoint asked for tools that it does not have', {
      sessionId: id,
      tools: found.refused.join(', '),
    })
  failpoint('CP27-checkpoint-uncommitted')
  const owners = await ownersAmong(await store.read.authors.of(id), deps)
  const outcome = await store.write((tx) =>
    write(tx, { session, reason, slice, last, before, own, owners, found }, deps),
  )
  failpoint('CP28-checkpoint-committed')
  if (outcome === undefined) return { kind: 'nothing' }
  const { saved, changed, removed } = outcome
  logger.info('A checkpoint was written', { sessionId: id, reason, model: found.model, saved, changed, removed })
  return outcome
}

async function ownersAmong(
  authors: readonly AuthorId[],
  { isOwner }: Pick<CheckpointDeps, 'isOwner'>,
): Promise<ReadonlySet<AuthorId>> {
  const found = await Promise.all(authors.map(async (author) => ((await isOwner(author)) ? [author] : [])))
  return new Set(found.flat())
}

/**
 * Returns the events after the last one that the newest checkpoint covers. A history that was replaced is in no prompt
 * any more, and so in no memory either.
 */
async function sliceSince({ read }: Store, id: SessionId, last: CheckpointPlace | undefined): Promise<Slice> {
  const cursor = last === undefined ? 0 : last.seq - last.data.back
  const leaving = await read.forgetting.leaving(id)
  const events = (await read.events.latest(id, MOST_EVENTS)).filter(({ seq }) => seq > cursor)
  const since = events.slice(events.findLastIndex(isReplacement) + 1)
  return sliceOf(since.filter((event) => !isLeaving(event, leaving)))
}

function isReplacement(event: EventDraft): boolean {
  return event.type === 'history_boundary' && event.data.kind === 'replaced'
}

interface Finding {
  readonly session: Session
  readonly reason: CheckpointReason
  readonly slice: Slice
  readonly last: CheckpointPlace | undefined
  /** The working memory that the model was shown. */
  readonly before: Working | undefined
  /** The entries that the model was shown. */
  readonly own: readonly MemoryEntry[]
  /** The authors of the session who are owners. */
  readonly owners: ReadonlySet<AuthorId>
  readonly found: Introspection
}

async function write(
  tx: StoreWriter,
  finding: Finding,
  { clock, saw }: CheckpointDeps,
): Promise<Extract<CheckpointOutcome, { kind: 'done' }> | undefined> {
  const { session, reason, slice, last, before, found } = finding
  const now = await tx.sessions.get(session.id)
  if (now === undefined || now.createdAt !== session.createdAt) return undefined
  if ((await tx.events.latestCheckpoint(session.id))?.seq !== last?.seq) return undefined
  await refuseDeleted(tx, now, finding)
  await refuseRemoved(tx, finding)
  const at = clock.now()
  const saved = await save(tx, finding, at)
  const { changed, removed } = await revise(tx, finding, at)
  const working = found.working === undefined ? before?.working : shortened(found.working, MEMORY_LIMITS.working)
  const sources = workingSources(slice, before)
  const data: CheckpointData = {
    ...{ reason, model: found.model, usage: found.usage, back: now.lastSeq + 1 - slice.upTo },
    entries: [...saved, ...changed, ...removed],
    ...(working ? { working, ...(sources ? { sources } : {}) } : {}),
  }
  const events = [{ type: 'checkpoint_written', data }] as const
  // A checkpoint is not activity of the session, which keeps its place in lists.
  const seq = await tx.events.append(session.id, now.lastActivityAt, events)
  const description = described(found.description ?? '')
  if (description !== '') await tx.sessions.describe(session.id, description, 'ai')
  await tx.checkpoints.settle(session.id)
  tx.afterCommit(() => saw(session, { seq, at: now.lastActivityAt, events }))
  return { kind: 'done', saved: saved.length, changed: changed.length, removed: removed.length }
}

/** Throws `conflict` if one of the messages was deleted or put aside since: it is looked through again without. */
async function refuseDeleted(
  tx: StoreWriter,
  { id, lastSeq }: Session,
  { slice: { sources, upTo }, before }: Finding,
): Promise<void> {
  const later = lastSeq === upTo ? [] : await tx.events.since(id, upTo, lastSeq - upTo)
  const names = [...sources.values()]
  const gone = later.some(
    (event) =>
      event.type === 'history_taken_over' ||
      event.type === 'words_forgotten' ||
      event.type === 'exchange_taken_back' ||
      isReplacement(event) ||
      (before !== undefined && endsWorking(before, event)) ||
      (event.type === 'message_deleted' && names.some((one) => isSame(one, event.data))),
  )
  if (gone) throw new ParleyError('conflict', 'What was being looked through was changed.')
}

/** Throws `conflict` if an entry that the model was shown is there no more: what it wrote may be made of it. */
async function refuseRemoved(tx: StoreWriter, { own }: Finding): Promise<void> {
  for (const { no } of own)
    if ((await tx.memory.get(no)) === undefined)
      throw new ParleyError('conflict', 'What was being looked through was changed.')
}

function isSame(one: MessageName, other: MessageName): boolean {
  return one.messageId === other.messageId && one.chat === other.chat
}

async function save(tx: StoreWriter, { session, slice, own, found }: Finding, at: number): Promise<readonly number[]> {
  const authors = await tx.authors.of(session.id)
  const known = new Set(own.map(({ text }) => text))
  const numbers: number[] = []
  for (const [nth, { text: given, lines }] of found.saved.entries()) {
    const text = shortened(given, MEMORY_LIMITS.entry)
    if (text === '' || known.has(text)) continue
    known.add(text)
    const { no } = await tx.memory.add({
      ...{ agentId: session.agentId, sessionId: session.id, text, authors, by: 'checkpoint', at },
      request: `checkpoint ${session.id} ${session.createdAt} ${slice.upTo} ${nth}`,
      sources: sourcesOf(text, lines, slice),
    })
    numbers.push(no)
  }
  return numbers
}

/**
 * Changes and removes entries as the model asks: only those that it was shown, and that nobody has changed or removed
 * meanwhile. An entry stays if anybody, or a page, has spoken in the session who is neither an owner nor one of the
 * entry's authors: the change may be their idea.
 */
async function revise(
  tx: StoreWriter,
  { session, slice, own, owners, found }: Finding,
  at: number,
): Promise<{ readonly changed: readonly number[]; readonly removed: readonly number[] }> {
  const authors = await tx.authors.of(session.id)
  const isOwn = async (no: number): Promise<boolean> => {
    const now = own.some((entry) => entry.no === no) ? await tx.memory.get(no) : undefined
    // Nobody else changes entries: another checkpoint would have been found above.
    if (now === undefined || now.by === 'person') return false
    return authors.every((author) => owners.has(author) || now.authors.includes(author))
  }
  const changed: number[] = []
  for (const { no, text: given, lines } of found.changed) {
    const text = shortened(given, MEMORY_LIMITS.entry)
    if (text === '' || !(await isOwn(no))) continue
    await tx.memory.change(no, { text, authors, by: 'checkpoint', at, sources: sourcesOf(text, lines, slice) })
    changed.push(no)
  }
  const removed: number[] = []
  for (const no of found.removed) if ((await isOwn(no)) && (await tx.memory.remove(no))) removed.push(no)
  return { changed, removed }
}

/** A working memory continues the one before, whose messages it keeps; undefined: too many to name. */
function workingSources({ sources }: Slice, before: Working | undefined): readonly MessageName[] | undefined {
  const earlier = before === undefined ? [] : before.sources
  if (earlier === undefined) return undefined
  const all = [...earlier, ...sources.values()]
  return all.length > MOST_SOURCES ? undefined : all
}
