import { createHash } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import { failpoint } from '../../core/failpoint.ts'
import { runId } from '../../core/ids.ts'
import type {
  AskedOnce,
  Kept,
  KeptAnswer,
  KeyedRequest,
  KeyedRequests,
  Repeats,
  RequestId,
} from '../../core/keyed-request.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { resumable } from '../turns/ask-again.ts'
import { newestFirst } from './read-messages.ts'

export interface KeyedRequestDeps {
  readonly store: Store
  readonly clock: Clock
}

/** The time for which a key names its first request. */
export const KEY_MS = 86_400_000
/** The time for which a request that was not answered is taken for the same when it comes again. */
export const REPEAT_MS = 600_000
/** Keys of one holder; beyond them the oldest is forgotten before its day is over. */
const MOST_KEYS = 10_000
/** The newest of them have their answers too: these are long, and nobody fills the disk with them. */
const MOST_ANSWERS = 500
/** A longer answer is given once. */
const MOST_ANSWER = 65_536

interface UnderWay {
  readonly content: string
  readonly answer: Promise<KeptAnswer>
}

export function createKeyedRequests({ store, clock }: KeyedRequestDeps): KeyedRequests {
  const underWay = new Map<string, UnderWay>()

  /** Returns the request as it is on record, from now on if it is the first with its key. */
  async function record(key: string, { holder, content }: AskedOnce): Promise<KeyedRequest> {
    const now = clock.now()
    return store.write(async (tx) => {
      const known = await tx.keyedRequests.get(key)
      // One of a time yet to come is left from a clock that was wrong.
      if (known && Math.abs(now - known.begunAt) < KEY_MS) return known
      const begun = { key, id: hashOf([key, String(now)]) as RequestId, holder, content, begunAt: now }
      await tx.keyedRequests.begin(begun, { requests: MOST_KEYS, bodies: MOST_ANSWERS })
      return begun
    })
  }

  async function carryOutOnce(
    key: string,
    asked: AskedOnce,
    kept: Kept,
    carryOut: Parameters<KeyedRequests['once']>[2],
  ): Promise<KeptAnswer> {
    const since = await store.read.forgetting.removals()
    const { id, content, answer: known } = await record(key, asked)
    if (content !== asked.content) throw otherContent()
    if (known?.body !== undefined) return known
    if (known) throw notKept()
    failpoint('CP49-keyed-request-begun')
    const answer = await carryOut(id)
    failpoint('CP48-keyed-request-carried-out')
    await keep(id, { kept, since }, answer)
    return answer
  }

  /**
   * The key of a request that was refused can be used again; after a failure nobody knows what it did. The door for
   * clients of OpenAI refuses in words of a status also what was said and not answered: said again, it would stand
   * there twice.
   */
  async function keep(
    id: RequestId,
    { kept, since }: { readonly kept: Kept; readonly since: number },
    { status, body }: Required<KeptAnswer>,
  ): Promise<void> {
    if (status >= 500) return
    if (status >= 400)
      return store.write(async (tx) => {
        if (kept !== 'effect' || !(await isInLog(tx, id))) await tx.keyedRequests.drop(id)
      })
    if (kept === 'effect') return
    const given = kept !== 'nothing' && body.length <= MOST_ANSWER ? body : undefined
    await store.write(async (tx) => {
      // Kept answers were forgotten: one that was being made then may have the same words.
      const stale = kept === 'answer' && (await tx.forgetting.hasRemovedSince(since))
      await tx.keyedRequests.answered(id, status, stale ? undefined : given)
    })
  }

  return {
    async once(asked, kept, carryOut) {
      const key = hashOf([asked.holder, asked.route, asked.key])
      const first = underWay.get(key)
      if (first && first.content !== asked.content) throw otherContent()
      if (first) return first.answer
      const answer = carryOutOnce(key, asked, kept, carryOut).finally(() => underWay.delete(key))
      underWay.set(key, { content: asked.content, answer })
      return answer
    },
  }
}

/** Names texts for sessions that came without a key; their runs have their ids from the names. */
export function createRepeats({ store, clock }: KeyedRequestDeps): Repeats {
  return {
    async begin({ holder, route, content }) {
      const key = hashOf(['repeat', holder, route, content])
      return store.write(async (tx) => {
        const now = clock.now()
        const known = await tx.keyedRequests.get(key)
        if (known && (await isOwed(tx, known, now))) return known.id
        const id = hashOf([key, String(now), known?.id ?? '']) as RequestId
        const begun = { key, id, holder, content, begunAt: now }
        await tx.keyedRequests.begin(begun, { requests: MOST_KEYS, bodies: MOST_ANSWERS })
        return id
      })
    },
    given: (id) => store.write((tx) => tx.keyedRequests.drop(id)),
  }
}

type Owing = Pick<StoreReader, 'inbox' | 'turns' | 'sessions' | 'events' | 'forgetting'>

/** The outcomes of a run whose answer, or whose end, is read from the log as long as there is one. */
const ON_RECORD: ReadonlySet<unknown> = new Set(['answered', 'silent', 'context', 'cancelled', 'quarantined'])

/**
 * Returns true while the run of a request may still have an answer for whoever sends it again. One that failed has none
 * where it cannot be resumed, unless it may have done something, which must not be done twice unasked; one whose words
 * or whose session are gone has none.
 */
async function isOwed(read: Owing, { id, begunAt }: KeyedRequest, now: number): Promise<boolean> {
  const [row] = await read.inbox.find(runId('post', id))
  const { outcome, sessionId, turnId, state } = row ?? {}
  if (row !== undefined && state !== 'done') return true
  const turn = turnId && (await read.turns.get(turnId))
  if (Math.abs(now - ((turn || undefined)?.endedAt ?? begunAt)) >= REPEAT_MS) return false
  if (row === undefined) return true
  if (outcome === 'failed') return (await resumable(read, row)) !== undefined || hasActed(read, row)
  const session = sessionId && (await read.sessions.get(sessionId))
  // A session that was deleted may have a successor of its name.
  const isThere = session && session.createdAt <= ((turn || undefined)?.endedAt ?? now)
  return ON_RECORD.has(outcome) && isThere === true
}

/** Returns true for a turn in whose log is a call of a tool that does more than to read. */
async function hasActed(read: Owing, { sessionId, turnId }: InboxRow): Promise<boolean> {
  const session = sessionId && (await read.sessions.get(sessionId))
  if (!session) return false
  for await (const event of newestFirst(read.events, session)) {
    if (event.turnId !== turnId) continue
    if (event.type === 'tool_call' && event.data.class !== 'pure') return true
    if (event.type === 'turn_started') break
  }
  return false
}

/** Returns true for a text that a session has taken, whatever became of its turn. */
async function isInLog({ inbox }: Pick<StoreReader, 'inbox'>, id: RequestId): Promise<boolean> {
  const rows = await inbox.find(runId('post', id))
  return rows.some(({ outcome = '' }) => !outcome.startsWith('refused'))
}

function otherContent(): ParleyError {
  return new ParleyError(
    'conflict',
    'This Idempotency-Key was used for another request within a day: use a new one for each.',
  )
}

function notKept(): ParleyError {
  return new ParleyError(
    'conflict',
    'This request was carried out; its answer was given once and is not kept. Look at what there is now.',
  )
}

function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
