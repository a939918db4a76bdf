import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../../../src/core/clock.ts'
import { createIdSource, type SessionId, type TurnId, toPersonId } from '../../../src/core/ids.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import type { OutboundMessage } from '../../../src/core/outbound.ts'
import { createGate, type GateKeeper } from '../../../src/rehearsal/deferred.ts'
import type { Parting } from '../../../src/sessions/turns/parted.ts'
import {
  createPublicTurns,
  DEFAULT_PUBLIC_TURNS,
  type PublicTurnLimits,
} from '../../../src/sessions/turns/public-turns.ts'
import { recoverTurns } from '../../../src/sessions/turns/recover-turns.ts'
import { createRunningTurns } from '../../../src/sessions/turns/running-turns.ts'
import type { StartedTurn } from '../../../src/sessions/turns/started-turn.ts'
import { createTurnQueue } from '../../../src/sessions/turns/turn-queue.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { NewInboxRow } from '../../../src/store/inbox-port.ts'
import type { Store } from '../../../src/store/store.ts'
import type { Turn } from '../../../src/store/turn-port.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { nobodyParted } from '../../fakes/parting.ts'
import { inboxRow, sessionDraft, turnOf, userMessage } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const open = (path: string): Promise<Store> => openSqliteStore({ path, clock: systemClock, logger: silentLogger })

/** A store on which as many turns as there are numbers were under way, each at so many crashes. */
async function crashed(...crashes: readonly number[]): Promise<{ store: Store; ids: TurnId[] }> {
  const path = join(tempFolder(), 'parley.db')
  const first = await open(path)
  const ids: TurnId[] = []
  for (const chat of crashes.keys()) {
    const session = await first.write((tx) => tx.sessions.create(sessionDraft(chat), 1))
    const turn = turnOf(session.id, chat, chat)
    await first.write((tx) => tx.turns.start(turn))
    ids.push(turn.id)
  }
  await first.close()
  for (let attempt = 2; attempt <= Math.max(...crashes); attempt++) {
    const next = await open(path)
    for (const [index, id] of ids.entries()) {
      if ((crashes[index] ?? 0) >= attempt) await next.write((tx) => tx.turns.resume(id))
    }
    await next.close()
  }
  const store = await open(path)
  onTestFinished(() => store.close())
  return { store, ids }
}

/** The quiet time and so many waits in all have passed once they begin; nothing else here outlives its suspicion. */
function hurriedClock(passing = 1): Clock {
  let waits = 0
  return { ...systemClock, after: (ms, callback) => systemClock.after(waits++ < passing ? 0 : ms, callback) }
}

/** No quiet time passes. */
const foreverClock = (): Clock => hurriedClock(0)

/** Recovers with turns that run until their gate opens. */
async function recover(
  store: Store,
  places: PublicTurnLimits = DEFAULT_PUBLIC_TURNS,
  clock = hurriedClock(),
  parting: Parting = nobodyParted,
) {
  const logger = silentLogger
  const running = createRunningTurns(systemClock, logger)
  const gates = new Map<TurnId, GateKeeper>()
  const gateOf = (id: TurnId): GateKeeper => {
    const gate = gates.get(id) ?? createGate()
    gates.set(id, gate)
    return gate
  }
  const publicTurns = createPublicTurns(places)
  const said: OutboundMessage[] = []
  const ended: TurnId[] = []
  const resumed: StartedTurn[] = []
  const waited: Promise<void>[] = []
  await recoverTurns({
    adopts: () => undefined,
    parting,
    store,
    logger,
    clock,
    ids: createIdSource({ now: systemClock.now, randomBytes }),
    queue: createTurnQueue(100),
    publicTurns,
    commands: { run() {} },
    say: async (message, when) => {
      said.push(message)
      await store.write(when)
    },
    draining: () => running.draining,
    resume(turn, first) {
      resumed.push(turn)
      const done = running.begin(turn, async (signal) => {
        if (first && !(await first(signal))) return
        if (!signal.aborted) await gateOf(turn.id).pass()
        ended.push(turn.id)
      })
      waited.push(done)
      return done
    },
  })
  const attempts = async (ids: readonly TurnId[]) =>
    Promise.all(ids.map(async (id) => (await store.read.turns.get(id))?.attempt))
  return { running, publicTurns, gateOf, said, ended, resumed, attempts, all: () => Promise.all(waited) }
}

/** A message of somebody nobody let in by name is bound to the turn, and another one waits behind it. */
async function asked(store: Store, turn: TurnId, behind: { readonly public?: true }): Promise<void> {
  const { sessionId } = (await store.read.turns.get(turn)) as { sessionId: SessionId }
  const rows = [inboxRow(1, 1, { sessionId, state: 'claimed', turnId: turn }), inboxRow(1, 2, { sessionId })]
  for (const [no, row] of rows.entries()) {
    const changes = no === 0 ? { public: true as const } : behind
    const decision = { ...row.decision, ...changes } as NewInboxRow['decision']
    await store.write((tx) => tx.inbox.add({ ...row, decision }))
  }
}

describe('the turns a dead process left running', () => {
  it('F-H04: one of somebody who has left the conversation meanwhile is not resumed, and they are notified', async () => {
    const path = join(tempFolder(), 'parley.db')
    const first = await open(path)
    const { scope } = sessionDraft(1)
    const followsAda = { ...scope, dimensions: ['sender'], values: { sender: 'ada' } } as const
    const session = await first.write((tx) => tx.sessions.create(sessionDraft(1, { scope: followsAda }), 1))
    const turn = turnOf(session.id, 1)
    const row = inboxRow(1, 1, { sessionId: session.id, state: 'claimed', turnId: turn.id })
    const identity = { person: toPersonId('ada'), role: 'owner' } as const
    await first.write(async (tx) => {
      await tx.turns.start(turn)
      await tx.inbox.add({ ...row, decision: { ...row.decision, identity } as NewInboxRow['decision'] })
    })
    await first.close()
    const store = await open(path)
    onTestFinished(() => store.close())
    const gone: string[] = []
    const parting: Parting = {
      channels: CHANNELS,
      whoIs: () => ({ role: 'guest' }),
      parted: async (_, { id }) => void gone.push(id),
    }
    const { resumed } = await recover(store, DEFAULT_PUBLIC_TURNS, hurriedClock(), parting)
    expect(resumed).toEqual([])
    expect(gone).toEqual([row.id])
    expect(await store.read.inbox.get(row.id)).toMatchObject({ state: 'done', outcome: 'refused: parted' })
    expect(await store.read.turns.get(turn.id)).toMatchObject({ state: 'cancelled' })
  })

  it('one of a stranger waits for a place, and for none where somebody known waits behind it', async () => {
    for (const [behind, publicFor] of [
      [{ public: true }, 'telegram:111'],
      [{}, undefined],
    ] as const) {
      const { store, ids } = await crashed(1)
      await asked(store, ids[0] as TurnId, behind)
      const { resumed } = await recover(store)
      expect(resumed.map((turn) => turn.publicFor)).toEqual([publicFor])
      expect(resumed.map((turn) => turn.forStrangers)).toEqual([true])
    }
  })

  it('one of a stranger waits for no place once somebody known waits behind it, though it waits for a suspect itself', async () => {
    const { store, ids } = await crashed(2, 2)
    const [first, second] = ids as [TurnId, TurnId]
    await asked(store, second, { public: true })
    const { gateOf, publicTurns, resumed } = await recover(store, { atOnce: 0, perPerson: 1, waiting: 16 })
    await gateOf(first).reached
    const stranger = resumed.find(({ id }) => id === second) as StartedTurn
    publicTurns.hurry(stranger.session.id)
    gateOf(first).release()
    await gateOf(second).reached
    gateOf(second).release()
  })

  it('the line about one of a stranger that is set aside has low priority', async () => {
    const { store, ids } = await crashed(4)
    await asked(store, ids[0] as TurnId, {})
    const { said } = await recover(store)
    expect(said).toMatchObject([{ class: 'notice', lowPriority: {} }])
  })

  it('one of a stranger that waits for a place is not counted as under way', async () => {
    // One that is stopped in order within the quiet time has nothing counted against it.
    for (const [crashes, counted] of [
      [1, 1],
      [2, 0],
    ] as const) {
      const { store, ids } = await crashed(crashes)
      await asked(store, ids[0] as TurnId, { public: true })
      const { attempts, running, all } = await recover(store, { atOnce: 0, perPerson: 1, waiting: 16 })
      await running.drain(2_000)
      await all()
      expect(await attempts(ids)).toEqual([counted])
    }
  })

  it('F-A16: after two crashes what somebody known asked goes on before what strangers asked', async () => {
    const { store, ids } = await crashed(2, 2)
    const [first, second] = ids as [TurnId, TurnId]
    await asked(store, first, { public: true })
    const { gateOf, attempts } = await recover(store)
    await gateOf(second).reached
    expect(await attempts(ids)).toEqual([2, 3])
    gateOf(second).release()
    await gateOf(first).reached
  })

  it.each([
    ['', { public: true }],
    [', not even if somebody known waits behind it', {}],
  ] as const)('F-A16: a suspect of strangers keeps nobody known in other conversations%s', async (_, behind) => {
    const { store, ids } = await crashed(2, 1)
    const [suspect, known] = ids as [TurnId, TurnId]
    await asked(store, suspect, behind)
    const { gateOf, attempts, running, all } = await recover(store, undefined, foreverClock())
    await gateOf(known).reached
    // Whoever kills the process now is one of those that run.
    expect(await attempts(ids)).toEqual([0, 2])
    gateOf(known).release()
    await running.drain(2_000)
    await all()
  })

  it('F-A16: a suspect of strangers goes on when the turns of those we know are trusted again', async () => {
    const { store, ids } = await crashed(2, 1)
    const [suspect, known] = ids as [TurnId, TurnId]
    await asked(store, suspect, { public: true })
    const { gateOf, attempts } = await recover(store, undefined, hurriedClock(2))
    await gateOf(known).reached
    await gateOf(suspect).reached
    expect(await attempts(ids)).toEqual([3, 1])
    for (const id of ids) gateOf(id).release()
  })

  it('F-A16: of the suspects of strangers those go first that somebody known waits behind', async () => {
    const { store, ids } = await crashed(2, 2)
    const [first, second] = ids as [TurnId, TurnId]
    await asked(store, first, { public: true })
    await asked(store, second, {})
    const { gateOf, attempts } = await recover(store)
    await gateOf(second).reached
    expect(await attempts(ids)).toEqual([2, 3])
    gateOf(second).release()
    await gateOf(first).reached
    gateOf(first).release()
  })

  it('F-A16: nor does somebody known who waits for a suspect of ours wait for one of strangers', async () => {
    const { store, ids } = await crashed(2, 2, 1)
    const [suspect, ours, known] = ids as [TurnId, TurnId, TurnId]
    await asked(store, suspect, { public: true })
    const { gateOf, attempts } = await recover(store)
    await gateOf(ours).reached
    gateOf(ours).release()
    await gateOf(known).reached
    expect(await attempts(ids)).toEqual([2, 3, 2])
    gateOf(known).release()
    await gateOf(suspect).reached
    gateOf(suspect).release()
  })

  it('S33: after one crash all go on side by side', async () => {
    const { store, ids } = await crashed(1, 1)
    const { gateOf, attempts } = await recover(store)
    await Promise.all(ids.map((id) => gateOf(id).reached))
    expect(await attempts(ids)).toEqual([2, 2])
  })

  it('F-A16: after two crashes one goes on at a time, and only that one is counted', async () => {
    const { store, ids } = await crashed(2, 2)
    const [first, second] = ids as [TurnId, TurnId]
    const { gateOf, attempts, all, ended } = await recover(store)
    await gateOf(first).reached
    expect(await attempts(ids)).toEqual([3, 2])
    gateOf(first).release()
    await gateOf(second).reached
    expect(await attempts(ids)).toEqual([3, 3])
    gateOf(second).release()
    await all()
    expect(ended).toEqual(ids)
  })

  it('F-A16: after two crashes and two more by itself a turn is set aside', async () => {
    const { store, ids } = await crashed(4)
    const { ended } = await recover(store)
    expect(await store.read.turns.get(ids[0] as TurnId)).toMatchObject({ state: 'quarantined', error: 'quarantined' })
    expect(ended).toEqual([])
  })

  it('C22: what the steps of one that is set aside have cost is counted with its end', async () => {
    const { store, ids } = await crashed(4)
    const { id, sessionId, traceId } = (await store.read.turns.get(ids[0] as TurnId)) as Turn
    const step = { text: '', calls: [], model: 'some/model', usage: { input: 300, output: 40 } }
    const other = turnOf(sessionId, 2).id
    await store.write((tx) =>
      tx.events.append(sessionId, 1, [
        { type: 'assistant_step', turnId: other, data: step },
        { type: 'turn_started', turnId: id, data: { traceId } },
        { type: 'assistant_step', turnId: id, data: step },
        ...Array.from({ length: 250 }, (_, no) => userMessage(`message ${no}`)),
        { type: 'assistant_step', turnId: id, data: step },
      ]),
    )
    await recover(store)
    expect(await store.read.turns.get(id)).toMatchObject({ state: 'quarantined', usage: { input: 600, output: 80 } })
    expect((await store.read.events.spent(sessionId)).usage).toMatchObject({ input: 600, output: 80 })
  })

  it('F-A20: one that waits for its turn when the daemon stops is not begun and not counted', async () => {
    const { store, ids } = await crashed(2, 2)
    const [first] = ids as [TurnId, TurnId]
    const { gateOf, attempts, running, all, ended } = await recover(store)
    await gateOf(first).reached
    const drained = running.drain(10_000)
    gateOf(first).release()
    await drained
    await all()
    expect(ended).toEqual([first])
    expect(await attempts(ids)).toEqual([3, 2])
  })

  it('C17: one that waits for its turn can be stopped', async () => {
    const { store, ids } = await crashed(2, 2)
    const [first, second] = ids as [TurnId, TurnId]
    const { gateOf, running, all, ended } = await recover(store)
    await gateOf(first).reached
    const waiting = await store.read.turns.get(second)
    await (waiting && running.abort(waiting.sessionId))
    expect(ended).toEqual([second])
    gateOf(first).release()
    await all()
  })
})
