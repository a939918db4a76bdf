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
import type { Store, StoreReader } from '../../store/store.ts'

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

/** Returns true while the run of a request may still have an answer for whoever sends it again. */
async function isOwed(
  { inbox, turns }: Pick<StoreReader, 'inbox' | 'turns'>,
  { id, begunAt }: KeyedRequest,
  now: number,
): Promise<boolean> {
  const [row] = await inbox.find(runId('post', id))
  if (row?.outcome?.startsWith('refused')) return false
  if (row !== undefined && row.state !== 'done') return true
  const turn = row?.turnId && (await turns.get(row.turnId))
  return Math.abs(now - ((turn || undefined)?.endedAt ?? begunAt)) < REPEAT_MS
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
