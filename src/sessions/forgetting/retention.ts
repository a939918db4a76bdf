import { randomUUID } from 'node:crypto'
import { type Clock, sleep } from '../../core/clock.ts'
import { hasContent } from '../../core/emptied.ts'
import { failpoint } from '../../core/failpoint.ts'
import { addCounts, NO_PLAN, NOTHING_FORGOTTEN } from '../../core/forgetting.ts'
import type { MediaId } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import type { ForgettingOperator, RetentionLimit, RetentionReport } from '../../core/operate-forgetting.ts'
import type { AgeLimit } from '../../core/retention.ts'
import type { Session } from '../../core/session.ts'
import type { RetainedSession, RetentionMark } from '../../store/forget-port.ts'
import type { Store } from '../../store/store.ts'
import { agedEvents } from './aged-events.ts'
import { removeAged } from './aged-turns.ts'
import type { ApplyPorts } from './apply.ts'
import { scrub } from './forgetting.ts'
import { type KnownLimits, limitOfSession } from './session-limit.ts'

export interface RetentionDeps extends ApplyPorts {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  /** Returns the time to age by: no later than the newest record, so that a clock that is ahead ages nothing. */
  ageingTime(): number
  readonly limits: KnownLimits
  /**
   * Owners learn in private of what is going to be removed. Resolves to true once that is on disk, to false where the
   * store did not take it; once a day for a subject.
   */
  tellOwners(about: string, text: string): Promise<boolean>
  /** Deletes those of these files that nothing names any more. */
  forgetFiles(ids: readonly MediaId[]): Promise<number>
  stopping(): boolean
}

export interface Retention extends Pick<ForgettingOperator, 'retention' | 'runRetention'> {
  /** Reports limits that are new or shorter, and removes what is older than those that were reported a day ago. */
  round(): Promise<void>
  /** Returns the limits and since when each removes, without counting what it would remove. */
  limits(): Promise<readonly RetentionLimit[]>
}

const DAY_MS = 86_400_000
/** Between the report of a limit and its first run. */
const WAITS_MS = DAY_MS
/** Limits are looked at each hour; one that was not looked at for longer than this is reported anew. */
const UNSEEN_MS = 3 * DAY_MS
/** Conversations change by the day: each is looked at once a day. */
const EVERY_MS = DAY_MS
const SESSIONS_PAGE = 100
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
      await reportDue(deps)
      const now = clock.elapsed()
      if (now < nextAt || limits.all.length === 0) return
      const events = await apply()
      // After one that failed the next, in an hour, tries again.
      nextAt = now + EVERY_MS
      if (events > 0) logger.info('Conversations lost what is older than their limits', { events })
    },
    limits: () => limitsNow(deps),
    retention: () => counted(deps),
    async runRetention() {
      const at = deps.ageingTime()
      const marks = new Map((await store.read.forgetting.marks()).map((mark) => [mark.rule, mark]))
      for (const { key: rule, days } of limits.all) {
        const reportedAt = marks.get(rule)?.reportedAt ?? at
        await store.write((tx) => tx.forgetting.mark({ rule, days, reportedAt, startsAt: at, seenAt: at }))
      }
      // A round that runs already has looked at which limits begin before these did.
      await running?.catch(() => {})
      await apply()
      return counted(deps)
    },
  }
}

/** Notifies owners of each limit that is due, which removes nothing for a day from then on. */
async function reportDue(deps: RetentionDeps): Promise<void> {
  const { store, limits, logger, tellOwners } = deps
  const at = deps.ageingTime()
  const marks = new Map((await store.read.forgetting.marks()).map((mark) => [mark.rule, mark]))
  for (const { rule } of marks.values())
    if (!limits.all.some(({ key }) => key === rule)) await store.write((tx) => tx.forgetting.unmark(rule))
  const due = limits.all.filter(({ key, days }) => isDue(marks.get(key), days, at))
  for (const limit of limits.all) {
    const mark = marks.get(limit.key)
    if (mark === undefined || due.includes(limit)) continue
    // A clock that was set back leaves no limit to begin later than a day from now.
    const startsAt = Math.min(mark.startsAt, at + WAITS_MS)
    await store.write((tx) => tx.forgetting.mark({ ...mark, days: limit.days, startsAt, seenAt: at }))
  }
  if (due.length === 0) return
  const found = await counted(deps)
  for (const { rule, key, days } of due) {
    const { sessions = 0, events = 0 } = found.find((one) => one.rule === rule) ?? {}
    logger.warn('A limit removes what is older from a day on', {
      rule,
      days,
      sessions,
      events,
      startsAt: at + WAITS_MS,
    })
    // First, so that a limit which a crash leaves without a mark is reported once more.
    const isTold = await tellOwners(
      `${key}:${days}`,
      `From tomorrow on I forget what is older than ${days} days in ${sessions} conversations (${rule}): ${events} entries of logs now, with their files, memories and answers. \`parley retention run\` does it at once; another limit in my configuration is reported anew.`,
    )
    if (!isTold) continue
    await store.write((tx) =>
      tx.forgetting.mark({ rule: key, days, reportedAt: at, startsAt: at + WAITS_MS, seenAt: at }),
    )
  }
}

/**
 * A limit that is new or shorter, and one that was not looked at for days: the clock was set or the daemon stood still,
 * and more has become old meanwhile than owners know of.
 */
function isDue(mark: RetentionMark | undefined, days: number, at: number): boolean {
  return mark === undefined || mark.days > days || (mark.seenAt !== undefined && at - mark.seenAt > UNSEEN_MS)
}

/** Returns the limits, with how much each would remove by now. */
async function counted(deps: RetentionDeps): Promise<readonly RetentionReport[]> {
  const found = new Map(deps.limits.all.map(({ rule }) => [rule, { sessions: 0, events: 0 }]))
  for await (const { session, row, limit } of limited(deps)) {
    const sum = found.get(limit.rule)
    if (sum === undefined) continue
    sum.sessions++
    sum.events += await olderIn(deps, session, row, limit)
  }
  return (await limitsNow(deps)).map((limit) => ({ ...limit, ...(found.get(limit.rule) ?? NONE) }))
}

/** Returns the limits, and since when each removes. */
async function limitsNow({
  store,
  limits,
}: Pick<RetentionDeps, 'store' | 'limits'>): Promise<readonly RetentionLimit[]> {
  const marks = new Map((await store.read.forgetting.marks()).map((mark) => [mark.rule, mark]))
  return limits.all.map(({ rule, key, days }) => ({ rule, days, ...timesOf(marks.get(key)) }))
}

const NONE = { sessions: 0, events: 0 }

function timesOf(mark: RetentionMark | undefined): Pick<RetentionLimit, 'reportedAt' | 'startsAt'> {
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
      const limit = session && (await limitOfSession(read, limits, session))
      if (session && limit) yield { session, row, limit }
    }
    if (page.length < SESSIONS_PAGE) return
  }
}

async function olderIn(
  { store: { read }, ageingTime, clock }: RetentionDeps,
  { id }: Session,
  { seq }: RetainedSession,
  { days }: AgeLimit,
): Promise<number> {
  const ages = { before: ageingTime() - days * DAY_MS, now: clock.now() }
  let count = 0
  for (let after = seq; ; ) {
    const older = await agedEvents(read.events, id, { after, ...ages })
    count += older.filter((event) => !event.forgotten && hasContent(event)).length
    const last = older.at(-1)
    if (last === undefined) return count
    after = last.seq
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
  let seq = 0
  while (!stopping()) {
    const done = await store.write((tx) => removeAged(tx, { ...removing, seq }, deps))
    if (done === undefined) return events
    seq = done.seq
    failpoint('CP46-retention-emptied')
    events += done.events
    for (const file of done.media) round.media.add(file)
    await sleep(clock, PAUSE_MS)
  }
  return events
}
