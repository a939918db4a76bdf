import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Address, formatAddress, parseAddress } from '../../../src/core/address.ts'
import { systemClock } from '../../../src/core/clock.ts'
import type { Session } from '../../../src/core/session.ts'
import { claimWaiting, steerWaiting } from '../../../src/sessions/turns/record-turn.ts'
import { asJoined, type StartedTurn } from '../../../src/sessions/turns/started-turn.ts'
import { createTurnQueue } from '../../../src/sessions/turns/turn-queue.ts'
import { replyOf } from '../../../src/sessions/turns/turn-reply.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { NewInboxRow } from '../../../src/store/inbox-port.ts'
import type { Store } from '../../../src/store/store.ts'
import { nobodyParted } from '../../fakes/parting.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { dispatchOf, ids, inboxRow, sessionDraft, turnOf } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const TELEGRAM = parseAddress('telegram:direct:111')
const DISCORD = parseAddress('discord:direct:222')
let store: Store
let session: Session

beforeEach(async () => {
  store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  session = await store.write((tx) => tx.sessions.create(sessionDraft(1), 1))
})

const queue = createTurnQueue(10)

/** A message from each place waits in the one session of a person, in this order. */
async function waiting(...places: readonly Address[]): Promise<void> {
  for (const [no, address] of places.entries()) {
    const dispatch = { ...dispatchOf(1, no), reply: { address } }
    await store.write((tx) => tx.inbox.add(inboxRow(1, no, { dispatch, sessionId: session.id })))
  }
}

/** Claims one turn after another until nothing waits: where each is answered, and how many messages it answers. */
async function claimAll(): Promise<readonly string[]> {
  const turns: string[] = []
  for (;;) {
    const turn = await store.write((tx) =>
      claimWaiting(tx, session, 2, { ids, queue, parting: nobodyParted, adopts: () => undefined }),
    )
    if (!turn) return turns
    const messages = await store.read.inbox.ofTurn(turn.id)
    turns.push(`${messages.length} at ${formatAddress(turn.reply.address)}`)
    const end = { state: 'completed', at: 3, usage: { input: 0, output: 0 }, outcome: 'answered' } as const
    await store.write((tx) => tx.turns.finish(turn.id, end))
  }
}

describe('messages of several chats behind one turn', () => {
  it('K46: each chat has the answer to what it said', async () => {
    await waiting(TELEGRAM, TELEGRAM, DISCORD, TELEGRAM)
    expect(await claimAll()).toEqual([
      '2 at telegram:direct:111',
      '1 at discord:direct:222',
      '1 at telegram:direct:111',
    ])
  })

  it('K46: a running turn takes in what was said in its own chat alone', async () => {
    const turn = { ...turnOf(session.id, 1), reply: { address: TELEGRAM } }
    await store.write((tx) => tx.turns.start(turn))
    const started: StartedTurn = { ...turn, session }
    const steer = async () =>
      (await store.write((tx) => steerWaiting(tx, started, 2, { queue, parting: nobodyParted }))).length
    expect(await steer()).toBe(0)
    await waiting(TELEGRAM, DISCORD)
    expect([await steer(), await steer()]).toEqual([1, 0])
  })
})

describe('a turn for people nobody let in by name', () => {
  /** T and D: somebody unknown waits for an answer on Telegram, on Discord; with `!` it is somebody known. */
  async function waitingFor(...said: readonly string[]): Promise<void> {
    const run = inboxRow(1, 1).decision as Extract<NewInboxRow['decision'], { kind: 'run' }>
    for (const [no, one] of said.entries()) {
      const dispatch = { ...dispatchOf(1, no), reply: { address: one.startsWith('T') ? TELEGRAM : DISCORD } }
      const decision = one.endsWith('!') ? run : { ...run, public: true as const }
      await store.write((tx) => tx.inbox.add(inboxRow(1, no, { dispatch, decision, sessionId: session.id })))
    }
  }

  const final = { kind: 'final', text: 'heard', model: 'm', usage: { input: 0, output: 0 }, steps: 1 } as const

  it('counts as one of theirs, and its answer has low priority', async () => {
    await waitingFor('T', 'D')
    const turn = await store.write((tx) =>
      claimWaiting(tx, session, 2, { ids, queue, parting: nobodyParted, adopts: () => undefined }),
    )
    expect(turn).toMatchObject({ forStrangers: true, publicFor: 'telegram:111' })
    expect(turn && replyOf(await asJoined(store.read, turn), final)).toMatchObject({ lowPriority: {} })
  })

  it('is one for everybody once somebody known has joined it', async () => {
    await waitingFor('T', 'D')
    const turn = await store.write((tx) =>
      claimWaiting(tx, session, 2, { ids, queue, parting: nobodyParted, adopts: () => undefined }),
    )
    const joined = inboxRow(1, 7, { sessionId: session.id, state: 'claimed', ...(turn && { turnId: turn.id }) })
    await store.write((tx) => tx.inbox.add(joined))
    expect(turn && replyOf(await asJoined(store.read, turn), final)).not.toHaveProperty('lowPriority')
  })

  it.each([
    [
      'T D T D!',
      ['1 at discord:direct:222', '1 at telegram:direct:111', '1 at discord:direct:222', '1 at telegram:direct:111'],
    ],
    ['T D D D! D T', ['4 at discord:direct:222', '2 at telegram:direct:111']],
    [
      'T! D T D!',
      ['1 at telegram:direct:111', '1 at discord:direct:222', '1 at discord:direct:222', '1 at telegram:direct:111'],
    ],
  ])('goes behind what somebody known says in another chat of the session: %s', async (said, turns) => {
    await waitingFor(...said.split(' '))
    expect(await claimAll()).toEqual(turns)
    const taken = (await store.read.events.latest(session.id, 10)).flatMap((event) =>
      event.type === 'turn_started' ? [event.data] : [],
    )
    expect(taken.map(({ messages, rows }) => [messages, rows?.length])).toEqual(
      turns.map((turn) => [Number(turn[0]), Number(turn[0])]),
    )
  })
})
