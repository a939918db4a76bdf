import { randomUUID } from 'node:crypto'
import { type Clock, sleep } from '../../core/clock.ts'
import { hasContent } from '../../core/emptied.ts'
import type { SessionEvent } from '../../core/event.ts'
import { failpoint } from '../../core/failpoint.ts'
import { addCounts, type ForgetPlan, NOTHING_FORGOTTEN } from '../../core/forgetting.ts'
import type { InboxId, MediaId, TurnId } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import type { ForgettingOperator, RetentionReport } from '../../core/operate-forgetting.ts'
import type { AgeLimit } from '../../core/retention.ts'
import type { Session } from '../../core/session.ts'
import type { RetainedSession, RetentionMark } from '../../store/forget-port.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import { addressOf } from '../service/address-of.ts'
import { forgetMade } from '../turns/forget-made.ts'
import { isShown, messagesIn } from './aged-words.ts'
import { type ApplyPorts, beginApplying, pieces } from './apply.ts'
import { NO_PLAN, scrub } from './forgetting.ts'
import { filesIn } from './matches.ts'

export interface RetentionDeps extends ApplyPorts {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  /** Returns the time to age by. */
  ageingTime(): number
  readonly limits: {
    readonly all: readonly AgeLimit[]
    of(address: ReturnType<typeof addressOf>): AgeLimit | undefined
  }
  /** Owners learn in private of what is going to be removed. */
  tellOwners(about: string, text: string): void
  /** Deletes those of these files that nothing names any more. */
  forgetFiles(ids: readonly MediaId[]): Promise<number>
  stopping(): boolean
}

export interface Retention extends Pick<ForgettingOperator, 'retention' | 'runRetention'> {
  /** Reports limits that are new or shorter, and removes what is older than those that were reported a day ago. */
  round(): Promise<void>
}

const DAY_MS = 86_400_000
/** Between the report of a limit and its first run. */
const WAITS_MS = DAY_MS
/** Conversations change by the day: each is looked at once a day. */
const EVERY_MS = DAY_MS
const SESSIONS_PAGE = 100
/** The events looked at in one transaction. */
const BATCH = 100
const PAUSE_MS = 20

/** Applies the age limits of conversations, in small transactions and never in the middle of a turn (decision 0038). */
export function createRetention(deps: RetentionDeps): Retention {
  const { store, limits, clock, logger } = deps
  let nextAt = Number.NEGATIVE_INFINITY
  let running: Promise<number> | undefined

  async function apply(): Promise<number> {
    running ??= removeAll(deps).finally(() => {
      running = undefined
    })
    return running
  }

  return {
    async round() {
      await report(deps)
      const now = clock.elapsed()
      if (now < nextAt || limits.all.length === 0) return
      nextAt = now + EVERY_MS
      const events = await apply()
      if (events > 0) logger.info('Conversations lost what is older than their limits', { events })
    },
    retention: () => reports(deps),
    async runRetention() {
      const at = deps.ageingTime()
      const marks = new Map((await store.read.forgetting.marks()).map((mark) => [mark.rule, mark]))
      for (const { key: rule, days } of limits.all) {
        const reportedAt = marks.get(rule)?.reportedAt ?? at
        await store.write((tx) => tx.forgetting.mark({ rule, days, reportedAt, startsAt: at }))
      }
      await apply()
      return reports(deps)
    },
  }
}

/** A limit that is new or shorter than the one reported before waits a day, and owners are notified. */
async function report(deps: RetentionDeps): Promise<void> {
  const { store, limits, logger, tellOwners } = deps
  const at = deps.ageingTime()
  const marks = new Map((await store.read.forgetting.marks()).map((mark) => [mark.rule, mark]))
  for (const { rule } of marks.values())
    if (!limits.all.some(({ key }) => key === rule)) await store.write((tx) => tx.forgetting.unmark(rule))
  const due = limits.all.filter(({ key, days }) => (marks.get(key)?.days ?? Number.POSITIVE_INFINITY) > days)
  for (const { key, days } of limits.all) {
    const mark = marks.get(key)
    if (mark !== undefined && mark.days < days) await store.write((tx) => tx.forgetting.mark({ ...mark, days }))
  }
  if (due.length === 0) return
  const counted = await reports(deps)
  for (const { rule, key, days } of due) {
    await store.write((tx) => tx.forgetting.mark({ rule: key, days, reportedAt: at, startsAt: at + WAITS_MS }))
    const { sessions = 0, events = 0 } = counted.find((one) => one.rule === rule) ?? {}
    logger.warn('A limit removes what is older from a day on', {
      rule,
      days,
      sessions,
      events,
      startsAt: at + WAITS_MS,
    })
    tellOwners(
      `${key}:${days}`,
      `From tomorrow on I forget what is older than ${days} days in ${sessions} conversations (${rule}): ${events} entries of logs now, with their files, memories and answers. \`parley retention run\` does it at once; another limit in my configuration is reported anew.`,
    )
  }
}

async function reports(deps: RetentionDeps): Promise<readonly RetentionReport[]> {
  const marks = new Map((await deps.store.read.forgetting.marks()).map((mark) => [mark.rule, mark]))
  const found = new Map(deps.limits.all.map(({ rule }) => [rule, { sessions: 0, events: 0 }]))
  for await (const { session, row, limit } of limited(deps)) {
    const sum = found.get(limit.rule)
    if (sum === undefined) continue
    sum.sessions++
    sum.events += await olderIn(deps, session, row, limit)
  }
  return deps.limits.all.map(({ rule, key, days }) => ({
    rule,
    days,
    ...(found.get(rule) ?? NONE),
    ...timesOf(marks.get(key)),
  }))
}

const NONE = { sessions: 0, events: 0 }

function timesOf(mark: RetentionMark | undefined): Pick<RetentionReport, 'reportedAt' | 'startsAt'> {
  return mark === undefined ? {} : { reportedAt: mark.reportedAt, startsAt: mark.startsAt }
}

interface Limited {
  readonly session: Session
  readonly row: RetainedSession
  readonly limit: AgeLimit
}

async function* limited({ store: { read }, limits, stopping }: RetentionDeps): AsyncGenerator<Limited> {
  for (let after = 0; !stopping(); ) {
    const page = await read.forgetting.sessions(after, SESSIONS_PAGE)
    for (const row of page) {
      after = row.no
      const session = await read.sessions.get(row.id)
      const limit = session && limits.of(addressOf(session))
      if (session && limit) yield { session, row, limit }
    }
    if (page.length < SESSIONS_PAGE) return
  }
}

async function olderIn(
  { store: { read }, ageingTime }: RetentionDeps,
  { id }: Session,
  { seq }: RetainedSession,
  { days }: AgeLimit,
): Promise<number> {
  const before = ageingTime() - days * DAY_MS
  let count = 0
  for (let after = seq; ; ) {
    const page = await read.events.since(id, after, BATCH)
    const older = page.filter(({ at }) => at < before)
    count += older.filter((event) => !event.forgotten && hasContent(event)).length
    after = page.at(-1)?.seq ?? after
    if (older.length < BATCH) return count
  }
}

/** A round is a request of its own, so that the start after a crash leaves no byte of what was emptied. */
async function removeAll(deps: RetentionDeps): Promise<number> {
  const { store } = deps
  const at = deps.ageingTime()
  const begun = (await store.read.forgetting.marks()).filter(({ startsAt }) => startsAt <= at)
  if (begun.length === 0) return 0
  const request = `retention ${randomUUID()}`
  const media = new Set<MediaId>()
  let events = 0
  for await (const one of limited(deps))
    if (begun.some(({ rule, days }) => rule === one.limit.key && days <= one.limit.days))
      events += await removeIn(deps, one, { request, media })
  if (events === 0) return 0
  const files = await deps.forgetFiles([...media])
  await scrub(deps)
  const counts = addCounts(NOTHING_FORGOTTEN, { events, files })
  await store.write((tx) => tx.forgetting.finish(request, { plan: NO_PLAN, counts }))
  return events
}

interface Round {
  /** The request under which what was emptied is scrubbed. */
  readonly request: string
  /** Gets the files that the removed messages named. */
  readonly media: Set<MediaId>
}

async function removeIn(deps: RetentionDeps, { session, row, limit }: Limited, round: Round): Promise<number> {
  const { store, clock, stopping } = deps
  const before = deps.ageingTime() - limit.days * DAY_MS
  const removing = { session, no: row.no, before, by: limit.rule, request: round.request }
  let events = 0
  while (!stopping()) {
    const done = await store.write((tx) => removeSome(tx, removing, deps))
    if (done === undefined) return events
    failpoint('CP46-retention-emptied')
    events += done.events
    for (const file of done.media) round.media.add(file)
    await sleep(clock, PAUSE_MS)
  }
  return events
}

interface Removing {
  readonly session: Session
  readonly no: number
  readonly before: number
  readonly by: string
  readonly request: string
}

interface Removed {
  readonly events: number
  readonly media: readonly MediaId[]
}

/** Returns what was emptied; undefined: nothing is left, or a turn runs. */
async function removeSome(tx: StoreWriter, removing: Removing, ports: RetentionDeps): Promise<Removed | undefined> {
  const { session, no, before, by, request } = removing
  if ((await tx.turns.running()).some(({ sessionId }) => sessionId === session.id)) return undefined
  const row = (await tx.forgetting.sessions(no - 1, 1))[0]
  if (row?.no !== no) return undefined
  const page = wholeTurns(await tx.events.since(session.id, row.seq, BATCH), before)
  const last = page.at(-1)
  if (last === undefined) return undefined
  const found = page.filter((event) => !event.forgotten && hasContent(event))
  await tx.forgetting.retained(no, last.seq)
  if (found.length === 0) return { events: 0, media: [] }
  const plan = await planOf(tx, session, found)
  await beginApplying(tx, by, plan, ports)
  for (const piece of pieces(plan)) await piece(tx)
  const askedAt = ports.clock.now()
  if ((await tx.forgetting.get(request)) === undefined)
    await tx.forgetting.begin({ id: request, state: 'running', plan: NO_PLAN, counts: NOTHING_FORGOTTEN, askedAt })
  return { events: found.length, media: plan.media }
}

/** A turn goes as a whole: what is left of a page ends with the end of a turn, or before one began. */
function wholeTurns(page: readonly SessionEvent[], before: number): readonly SessionEvent[] {
  const older = page.filter(({ at }) => at < before)
  const end = older.findLastIndex(({ type }) => type === 'turn_completed' || type === 'turn_cancelled')
  const rest = older.slice(end + 1)
  const open = rest.findIndex((event) => event.at >= before - DAY_MS && isOfTurn(event))
  return open === -1 ? older : older.slice(0, end + 1 + open)
}

function isOfTurn(event: SessionEvent): boolean {
  return event.turnId !== undefined || (event.type === 'user_message' && event.data.triggers)
}

/** Everything made of old words goes with them: memories, summaries and working memories that stand for them. */
async function planOf(tx: StoreWriter, session: Session, found: readonly SessionEvent[]): Promise<ForgetPlan> {
  const { id } = session
  const first = found[0]?.seq ?? 0
  const messages = found.flatMap(messagesIn)
  const said = messages.map(({ text }) => text)
  for (const text of said) await tx.sessions.unsay(id, text)
  await forgetMade(tx, id, { messages, said })
  const folds = (await tx.events.latestOf(id, ['context_compacted', 'checkpoint_written'], FOLDS)).filter(
    (event) =>
      !event.forgotten &&
      (event.type === 'context_compacted' || event.type === 'checkpoint_written') &&
      first <= event.seq - event.data.back,
  )
  const inbox: InboxId[] = []
  const last = found.at(-1)?.at ?? 0
  for (const { messageId = '' } of messages)
    for (const row of await tx.inbox.inSession(id, messageId)) if (row.dispatch.receivedAt <= last) inbox.push(row.id)
  const turns = [...new Set(found.flatMap(({ turnId }): TurnId[] => (turnId === undefined ? [] : [turnId])))]
  const empty = [...new Set([...found, ...folds].map(({ seq }) => seq))]
  return {
    ...{ quoting: [], unsay: [], entries: [], schedules: [], applicants: [], inbox, sources: turns },
    sessions: [{ id, empty, cut: [], turns, ...((await isShown(tx, id, found)) ? { unnamed: 'preview' } : {}) }],
    media: [...new Set(found.flatMap(filesIn))],
  }
}

const FOLDS = 100
