import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { sleep } from '../../../src/core/clock.ts'
import { createIdSource, type TurnId } from '../../../src/core/ids.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { NO_USAGE } from '../../../src/core/model.ts'
import { createPublicTurns, DEFAULT_PUBLIC_TURNS } from '../../../src/sessions/turns/public-turns.ts'
import { recoverTurns } from '../../../src/sessions/turns/recover-turns.ts'
import { createRunningTurns } from '../../../src/sessions/turns/running-turns.ts'
import { createTurnQueue } from '../../../src/sessions/turns/turn-queue.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { NewInboxRow } from '../../../src/store/inbox-port.ts'
import type { Store } from '../../../src/store/store.ts'
import { type SteppedClock, steppedClock } from '../../delivery/stepped-clock.ts'
import { nobodyParted } from '../../fakes/parting.ts'
import { inboxRow, sessionDraft, turnOf } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

/** What a turn does in these worlds: it ends after so long, or it ends the process after so long, each time. */
type Nature = ({ readonly endsAfterMs: number } | { readonly killsAfterMs: number }) & {
  /** Asked by somebody nobody let in by name. */
  readonly public?: true
}

const STOPPED_AT = Number.POSITIVE_INFINITY
const FIRST_START = Date.UTC(2026, 10, 21, 9, 30)
const BOOT_MS = 200

/** A daemon that dies and starts again on one database; time passes only in steps. */
function crashingWorld() {
  const path = join(tempFolder(), 'parley.db')
  const natures = new Map<TurnId, Nature>()
  let at = FIRST_START
  let chats = 0

  async function claim(store: Store, nature: Nature): Promise<TurnId> {
    const session = await store.write((tx) => tx.sessions.create(sessionDraft(++chats), at))
    const turn = { ...turnOf(session.id, chats, chats), startedAt: at }
    await store.write((tx) => tx.turns.start(turn))
    if (nature.public) {
      const row = inboxRow(chats, chats, { sessionId: session.id, state: 'claimed', turnId: turn.id })
      const decision = { ...row.decision, public: true } as NewInboxRow['decision']
      await store.write((tx) => tx.inbox.add({ ...row, decision }))
    }
    natures.set(turn.id, nature)
    return turn.id
  }

  /** One life of the process: until somebody kills it after `livesMs`, or a turn does. Returns how long it lived. */
  async function live(livesMs: number, fresh: readonly Nature[] = []): Promise<number> {
    const clock = steppedClock(at)
    const store = await openSqliteStore({ path, clock, logger: silentLogger })
    let dead = false
    const run = async (id: TurnId): Promise<void> => {
      const nature = natures.get(id)
      if (nature === undefined) throw new Error(`nobody claimed ${id}`)
      await sleep(clock, 'endsAfterMs' in nature ? nature.endsAfterMs : nature.killsAfterMs)
      if (dead) return
      if ('killsAfterMs' in nature) dead = true
      else await store.write((tx) => tx.turns.finish(id, endedAt(clock)))
    }
    const running = createRunningTurns(clock, silentLogger)
    const publicTurns = createPublicTurns(DEFAULT_PUBLIC_TURNS)
    await recoverTurns({
      adopts: () => undefined,
      parting: nobodyParted,
      ...{ store, clock, logger: silentLogger },
      ids: createIdSource({ now: clock.now, randomBytes }),
      queue: createTurnQueue(100),
      publicTurns,
      commands: { run() {} },
      say: async (_, when) => void (await store.write(when)),
      draining: () => dead,
      resume: (turn, first) =>
        running.begin(turn, async (signal) => {
          if (!first || (await first(signal))) await run(turn.id)
          publicTurns.left(turn.id)
        }),
    })
    for (const nature of fresh) void run(await claim(store, nature))
    const until = at + livesMs
    await settled(store)
    while (!dead && clock.nextDue() <= until && clock.nextDue() < STOPPED_AT) {
      clock.moveTo(clock.nextDue())
      await settled(store)
    }
    const lived = (dead ? clock.now() : until) - at
    dead = true
    await store.close()
    at += lived + BOOT_MS
    return lived
  }

  async function states(): Promise<Record<string, number>> {
    const store = await openSqliteStore({ path, clock: steppedClock(at), logger: silentLogger })
    const counts: Record<string, number> = {}
    for (const id of natures.keys()) {
      const { state } = (await store.read.turns.get(id)) ?? { state: 'gone' }
      counts[state] = (counts[state] ?? 0) + 1
    }
    await store.close()
    return counts
  }

  return { live, states }
}

function endedAt(clock: SteppedClock) {
  return { state: 'completed', outcome: 'answered', at: clock.now(), usage: NO_USAGE } as const
}

/** What a step set off has reached the disk, or waits for the next. */
async function settled(store: Store): Promise<void> {
  for (let round = 0; round < 6; round++) {
    await store.write(async () => {})
    await setImmediate()
  }
}

const A_DAY = 86_400_000
const POISON: Nature = { killsAfterMs: 100 }
const busy = (count: number, endsAfterMs: number): Nature[] => Array.from({ length: count }, () => ({ endsAfterMs }))

describe('a process that dies again and again', () => {
  it.each([2_000, 4_000, 30_000])(
    'F-A16: kills every 3 s set aside none of ten turns that take %i ms',
    async (takes) => {
      const world = crashingWorld()
      await world.live(3_000, busy(10, takes))
      for (let kill = 1; kill < 30; kill++) await world.live(3_000)
      await world.live(A_DAY)
      expect(await world.states()).toEqual({ completed: 10 })
    },
  )

  it('F-A16: nor do kills every 3 s while new messages come', async () => {
    const world = crashingWorld()
    for (let kill = 0; kill < 30; kill++) await world.live(3_000, busy(2, 2_500 + (kill % 7) * 500))
    await world.live(A_DAY)
    expect(await world.states()).toEqual({ completed: 60 })
  })

  it('F-A16: nor do kills after times that nobody foresees', async () => {
    const world = crashingWorld()
    let state = 7
    for (let kill = 0; kill < 60; kill++) {
      state = (state * 48_271) % 2_147_483_647
      await world.live(1_000 + (state % 6_000), busy(1, 3_000))
    }
    await world.live(A_DAY)
    expect(await world.states()).toEqual({ completed: 60 })
  })

  it('F-A16: a turn that kills the process each time is set aside at the fifth start, and those beside it are answered', async () => {
    const world = crashingWorld()
    await world.live(A_DAY, [...busy(3, 8_000), POISON, ...busy(3, 8_000)])
    for (let start = 2; start <= 4; start++) expect(await world.live(A_DAY)).toBeLessThan(120_000)
    expect(await world.live(A_DAY)).toBe(A_DAY)
    expect(await world.states()).toEqual({ completed: 6, quarantined: 1 })
  })

  it('F-A16: one that takes half a minute to do so is too', async () => {
    const world = crashingWorld()
    await world.live(A_DAY, [{ endsAfterMs: 60_000 }, { killsAfterMs: 30_000 }])
    for (let start = 2; start <= 5; start++) await world.live(A_DAY)
    expect(await world.states()).toEqual({ completed: 1, quarantined: 1 })
  })

  it('F-A16: several of them are set aside one after the other, and nothing else', async () => {
    const world = crashingWorld()
    await world.live(A_DAY, [...busy(2, 8_000), POISON, POISON, POISON])
    let starts = 1
    while ((await world.live(A_DAY)) < A_DAY) starts++
    expect(starts).toBeLessThan(10)
    expect(await world.states()).toEqual({ completed: 2, quarantined: 3 })
  })

  it('F-A16: a new message that kills the process is not put down to the suspects it meets', async () => {
    const world = crashingWorld()
    await world.live(A_DAY, [{ endsAfterMs: 60_000 }, POISON])
    for (let message = 0; message < 4; message++) await world.live(A_DAY, [{ killsAfterMs: 2_000 }])
    let starts = 5
    while ((await world.live(A_DAY)) < A_DAY) starts++
    expect(starts).toBeLessThan(40)
    expect(await world.states()).toEqual({ completed: 1, quarantined: 5 })
  })

  it('F-A16: those of strangers and of people we know are set aside, and nothing else, whoever else asks', async () => {
    const world = crashingWorld()
    const asked = [...busy(2, 8_000), ...busy(2, 40_000)]
    const strangers = [...asked, POISON].map((nature) => ({ ...nature, public: true as const }))
    await world.live(A_DAY, [...asked, ...strangers, POISON])
    for (let start = 2; start <= 12; start++) await world.live(A_DAY)
    expect(await world.states()).toEqual({ completed: 8, quarantined: 2 })
  })

  it('F-A16: kills every 3 s set aside nothing where some are of strangers', async () => {
    const world = crashingWorld()
    for (let kill = 0; kill < 20; kill++) {
      const [ours, theirs] = busy(2, 2_500 + (kill % 7) * 500)
      await world.live(3_000, [ours as Nature, { ...(theirs as Nature), public: true }])
    }
    await world.live(A_DAY)
    expect(await world.states()).toEqual({ completed: 40 })
  })
})
