import { setImmediate } from 'node:timers/promises'
import type { Channels } from '../../core/channel-traits.ts'
import { sleep } from '../../core/clock.ts'
import { errorCode, ParleyError, toError } from '../../core/errors.ts'
import { failpoint } from '../../core/failpoint.ts'
import {
  addCounts,
  type ForgetCounts,
  type ForgetPlan,
  type ForgetReceipt,
  type ForgetTarget,
  type Forgetting,
  NO_PLAN,
  NOTHING_FORGOTTEN,
  type SessionPlan,
} from '../../core/forgetting.ts'
import type { MediaId, SessionId } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import { type ApplyPorts, beginApplying, isNotEmpty, pieces } from './apply.ts'
import { Collection } from './collect.ts'
import { heldElsewhere } from './held-elsewhere.ts'
import { emptySaid, madeMeanwhile, rowsIn, saidBy } from './made-meanwhile.ts'
import { refuseStopping, type SaidPorts, unsaySafely, untilSent } from './said.ts'

export interface ForgettingDeps extends ApplyPorts, SaidPorts {
  readonly logger: Logger
  readonly channels: Channels
  /** Resolves when a turn of the session ends next. */
  nextEnd(session: SessionId): Promise<void>
  /** Deletes those of these files that nothing names any more. */
  forgetFiles(ids: readonly MediaId[]): Promise<number>
  /** Deletes all files that nothing names, and what an interrupted write left. */
  sweepFiles(): Promise<number>
  /** Called once schedules were removed. */
  schedulesChanged(): Promise<void>
  /** Returns the copies of the database that there are, by file. */
  backups(): readonly string[]
}

/** Removes what somebody asked to be forgotten from every store, whatever happens meanwhile (decision 0038). */
export interface ForgettingService {
  /** Returns what would be removed, and removes nothing. */
  preview(target: ForgetTarget): Promise<ForgetReceipt>
  /**
   * Removes it and resolves with the receipt: once nothing is left, or once only turns that still run are to end. The
   * same id is done once, also after a crash.
   */
  forget(id: string, target: ForgetTarget): Promise<ForgetReceipt>
  /** Removes what a later state of this store had removed, where an older copy of it was put back. */
  repeat(id: string, plan: ForgetPlan): Promise<ForgetReceipt>
  /** Returns what became of a request that was begun; undefined: none of this id was. */
  known(id: string): Promise<ForgetReceipt | undefined>
  /** Continues what a crash, a stop or a failure interrupted. Never rejects. */
  recover(): Promise<void>
}

/** Attempts to scrub the store while somebody else reads it, and the pause between two. */
const SCRUBS = { ms: 250, times: 20 }

export function createForgetting(deps: ForgettingDeps): ForgettingService {
  const { store, clock, logger } = deps
  const running = new Map<string, { readonly emptied: Promise<ForgetCounts>; readonly whole: Promise<void> }>()

  /** Runs a request that was begun, once at a time; after something else, where that has to go before. */
  function run(
    one: Forgetting,
    before = Promise.resolve(),
  ): { readonly emptied: Promise<ForgetCounts>; readonly whole: Promise<void> } {
    const known = running.get(one.id)
    if (known) return known
    const emptied = before.then(() => removeAll(deps, one))
    const whole = emptied.then((counts) => removeLater(deps, one, counts)).finally(() => running.delete(one.id))
    const begun = { emptied, whole }
    running.set(one.id, begun)
    whole.catch((err: unknown) => {
      if (!deps.stopping())
        logger.error(
          'Something is not forgotten as a whole; it is tried again within the hour, and at the next start',
          { err, id: one.id },
        )
    })
    return begun
  }

  async function receipt(one: Pick<Forgetting, 'id' | 'plan'>, state: ForgetReceipt['state'], counts: ForgetCounts) {
    return { id: one.id, state, counts, ...(await heldElsewhere(deps, one.plan)), backups: deps.backups() }
  }

  async function result(one: Forgetting): Promise<ForgetReceipt> {
    const { emptied, whole } = run(one)
    try {
      const counts = await emptied
      if (one.plan.sessions.some((session) => session.running !== undefined)) return receipt(one, 'waits', counts)
      await whole
      return receipt(one, 'done', counts)
    } catch (err) {
      throw deps.stopping() ? err : goesOn(err)
    }
  }

  async function known(id: string): Promise<ForgetReceipt | undefined> {
    const one = await store.read.forgetting.get(id)
    if (one === undefined) return undefined
    return one.state === 'done' ? receipt(one, 'done', one.counts) : result(one)
  }

  return {
    known,
    async preview(target) {
      const found = new Collection(target, deps.channels)
      await found.advance(store.read, setImmediate)
      const plan = await found.plan(store.read, setImmediate)
      return receipt({ id: '', plan }, 'planned', await countsOf(store, plan))
    },
    async forget(id, target) {
      const before = await known(id)
      if (before) return before
      const found = new Collection(target, deps.channels)
      // The second takes the rows that came during the first: the transaction, which blocks everybody, has few left.
      for (const _ of [1, 2]) await found.advance(store.read, setImmediate)
      failpoint('CP40-forget-uncommitted')
      const begun = await store.write((tx) => begin(tx, { id, found, at: clock.now() }, deps))
      failpoint('CP41-forget-begun')
      logger.info('Something is being forgotten', { id, sessions: begun.plan.sessions.length })
      if (begun.plan.schedules.length > 0) await deps.schedulesChanged()
      return result(begun)
    },
    async repeat(id, plan) {
      return result(await store.write((tx) => beginPlan(tx, { id, plan, at: clock.now() }, deps)))
    },
    async recover() {
      const open = await store.read.forgetting.open()
      if (open.length === 0) return
      // A process that died has files under names of which no plan knows: those it was fetching for a turn.
      const swept = deps.sweepFiles().then(
        () => {},
        (err: unknown) => logger.warn('Files that nothing names could not be deleted; they are in an hour', { err }),
      )
      for (const one of open) run(one, swept)
    },
  }
}

/** Completes the reading inside the transaction, so that nothing is missed that came meanwhile. */
async function begin(
  tx: StoreWriter,
  { id, found, at }: { readonly id: string; readonly found: Collection; readonly at: number },
  ports: ApplyPorts,
): Promise<Forgetting> {
  await found.advance(tx)
  return beginPlan(tx, { id, plan: await found.plan(tx), at }, ports)
}

async function beginPlan(
  tx: StoreWriter,
  { id, plan, at }: { readonly id: string; readonly plan: ForgetPlan; readonly at: number },
  ports: ApplyPorts,
): Promise<Forgetting> {
  const counts = await beginApplying(tx, id, plan, ports)
  const begun: Forgetting = { id, state: 'running', plan, counts, askedAt: at }
  await tx.forgetting.begin(begun)
  return begun
}

async function removeAll(deps: ForgettingDeps, { id, plan, counts: begun }: Forgetting): Promise<ForgetCounts> {
  const { store } = deps
  let counts = begun
  for (const turn of plan.unsay) {
    const sum = addCounts(counts, { deleting: 1 })
    if (await unsaySafely(deps, turn, (tx) => tx.forgetting.note(id, sum))) counts = sum
  }
  for (const piece of pieces(plan)) {
    refuseStopping(deps)
    counts = await store.write(async (tx) => {
      const sum = addCounts(counts, await piece(tx))
      await tx.forgetting.note(id, sum)
      return sum
    })
  }
  failpoint('CP42-forget-emptied')
  counts = addCounts(counts, { files: await forgetFiles(deps, plan.media) })
  await store.write((tx) => tx.forgetting.note(id, counts))
  await scrub(deps)
  failpoint('CP43-forget-scrubbed')
  return counts
}

/** A turn that ran meanwhile has seen the words: what it did and said is emptied once it has ended. */
async function removeLater(deps: ForgettingDeps, forgetting: Forgetting, before: ForgetCounts): Promise<void> {
  const { id, plan } = forgetting
  const { store } = deps
  const left = plan.sessions.filter(({ running }) => running !== undefined)
  let counts = before
  for (const session of left) counts = addCounts(counts, await removeTurn(deps, forgetting, session))
  if (left.length > 0) await scrub(deps)
  await store.write((tx) => tx.forgetting.finish(id, { plan, counts }))
  deps.logger.info('Something was forgotten', { id, events: counts.events, files: counts.files })
}

/** The events of a turn that are looked through, from the newest back. */
const MOST_OF_TURN = 5_000

async function removeTurn(
  deps: ForgettingDeps,
  { id: by, plan: { media } }: Forgetting,
  { id, running, unnamed }: SessionPlan,
): Promise<Partial<ForgetCounts>> {
  if (running === undefined) return {}
  const { store } = deps
  const { turn, empty, rows: meant = [] } = running
  for (;;) {
    const end = deps.nextEnd(id)
    if ((await store.read.turns.get(turn))?.state !== 'running') break
    await end
    refuseStopping(deps)
  }
  const taken = empty.length > 0
  await untilSent(deps, turn)
  if (taken) await unsaySafely(deps, turn)
  const { counts, files } = await store.write(async (tx) => {
    const latest = await tx.events.latest(id, MOST_OF_TURN)
    const events = latest.filter((event) => event.turnId === turn)
    const rows = new Set([...meant, ...rowsIn(latest, { seqs: empty, asked: await tx.inbox.ofTurn(turn) })])
    const seqs = [...new Set([...empty, ...events.map(({ seq }) => seq)])]
    const plan = { id, empty: seqs, cut: [], turns: [turn], ...(unnamed ? { unnamed } : {}) }
    const made = await madeMeanwhile(tx, turn, events)
    const said = await saidBy(tx, [turn])
    const files = [...media, ...made.media, ...said.media]
    const counts = await beginApplying(tx, by, { ...NO_PLAN, ...made, sessions: [plan] }, deps)
    for (const piece of pieces({ ...NO_PLAN, sessions: [plan], media: files })) await piece(tx)
    for (const row of rows) await pieceOf(tx, row)
    return { counts: { ...addCounts(counts, await emptySaid(tx, said)), sessions: 0 }, files }
  })
  return addCounts(counts, { files: await forgetFiles(deps, files) })
}

/** Deletes files; if one cannot be deleted, no byte of the rest is left at least. */
async function forgetFiles(deps: ForgettingDeps, ids: readonly MediaId[]): Promise<number> {
  try {
    return await deps.forgetFiles(ids)
  } catch (cause) {
    await scrub(deps)
    throw new ParleyError('unavailable', FILE_LEFT, { cause })
  }
}

const FILE_LEFT = 'a file of it cannot be deleted from my disk now; everything else of it is gone'

/** A request that was begun cannot be taken back: the reason alone would read as if nothing were removed. */
function goesOn(cause: unknown): unknown {
  if (errorCode(cause) !== 'unavailable') return cause
  const text = `It is not forgotten as a whole yet: ${toError(cause).message}. I try again within the hour, and at my next start.`
  return new ParleyError('unavailable', text, { cause })
}

async function pieceOf(tx: StoreWriter, row: Forgetting['plan']['inbox'][number]): Promise<void> {
  for (const piece of pieces({ ...NO_PLAN, inbox: [row] })) await piece(tx)
}

/** Leaves no byte of it in the files of the store. */
export async function scrub(deps: Pick<ForgettingDeps, 'store' | 'clock' | 'logger' | 'stopping'>): Promise<void> {
  const { store, clock, logger } = deps
  while (await store.write((tx) => tx.forgetting.mergeIndex())) refuseStopping(deps)
  while ((await store.shrink()) > 0) refuseStopping(deps)
  for (let time = 0; time < SCRUBS.times; time++) {
    if (await store.scrub()) return
    await sleep(clock, SCRUBS.ms)
  }
  logger.warn('The log of the store is read by somebody and keeps what was forgotten until they have ended')
}

/** Returns what a plan would remove; what was emptied before keeps its row, and is not removed again. */
async function countsOf({ read }: Pick<Store, 'read'>, plan: ForgetPlan): Promise<ForgetCounts> {
  let [received, sent] = [0, 0]
  for (const id of plan.inbox) {
    const row = await read.inbox.get(id)
    if (row !== undefined && isNotEmpty(row)) received++
    await setImmediate()
  }
  for (const source of plan.sources) {
    const rows = await read.outbox.ofSource(source)
    sent += rows.filter(({ part }) => part.text !== '' || part.file !== undefined).length
    await setImmediate()
  }
  return {
    ...NOTHING_FORGOTTEN,
    sessions: plan.sessions.length,
    events: plan.sessions.reduce(
      (sum, { empty, parts = [], running }) => sum + empty.length + parts.length + (running?.empty.length ?? 0),
      0,
    ),
    quotes: plan.sessions.reduce((sum, { cut }) => sum + cut.length, 0),
    ...{ received, sent },
    deleting: plan.unsay.length,
    memories: plan.entries.length,
    reminders: plan.schedules.length,
    files: plan.media.length,
  }
}
