import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Address, formatAddress, parseAddress } from '../../../src/core/address.ts'
import { systemClock } from '../../../src/core/clock.ts'
import type { Session } from '../../../src/core/session.ts'
import { asJoined, claimWaiting, type StartedTurn, steerWaiting } from '../../../src/sessions/turns/record-turn.ts'
import { createTurnQueue } from '../../../src/sessions/turns/turn-queue.ts'
import { replyOf } from '../../../src/sessions/turns/turn-reply.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { NewInboxRow, Store } from '../../../src/store/store.ts'
import { dispatchOf, ids, inboxRow, sessionDraft, turnOf } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const TELEGRAM = parseAddress('telegram:direct:111')
const DISCORD = parseAddress('discord:direct:222')
let store: Store
let session: Session

beforeEach(async () => {
  store = await openSqliteStore({ path: join(tempFolder(), 'parley.db'), clock: systemClock })
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
    const turn = await store.write((tx) => claimWaiting(tx, session, 2, { ids, queue }))
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
    const steer = async () => (await store.write((tx) => steerWaiting(tx, started, 2, queue))).length
    expect(await steer()).toBe(0)
    await waiting(TELEGRAM, DISCORD)
    expect([await steer(), await steer()]).toEqual([1, 0])
  })
})

describe('a turn for people nobody let in by name', () => {
  /** A message of somebody unknown waits, and one of somebody known behind it, in another place. */
  async function behind(known: boolean): Promise<void> {
    const run = inboxRow(1, 1).decision as Extract<NewInboxRow['decision'], { kind: 'run' }>
    for (const [no, address] of [TELEGRAM, DISCORD].entries()) {
      const dispatch = { ...dispatchOf(1, no), reply: { address } }
      const decision = no === 1 && known ? run : { ...run, public: true as const }
      await store.write((tx) => tx.inbox.add(inboxRow(1, no, { dispatch, decision, sessionId: session.id })))
    }
  }

  const final = { kind: 'final', text: 'heard', model: 'm', usage: { input: 0, output: 0 }, steps: 1 } as const

  it('is not counted, and waits for no place, where somebody known waits behind it; its answer has low priority', async () => {
    await behind(true)
    const turn = await store.write((tx) => claimWaiting(tx, session, 2, { ids, queue }))
    expect(turn).toMatchObject({ forStrangers: true })
    expect(turn).not.toHaveProperty('publicFor')
    expect(turn && replyOf(await asJoined(store.read, turn), final)).toMatchObject({ lowPriority: {} })
  })

  it('is one for everybody once somebody known has joined it', async () => {
    await behind(false)
    const turn = await store.write((tx) => claimWaiting(tx, session, 2, { ids, queue }))
    const joined = inboxRow(1, 7, { sessionId: session.id, state: 'claimed', ...(turn && { turnId: turn.id }) })
    await store.write((tx) => tx.inbox.add(joined))
    expect(turn && replyOf(await asJoined(store.read, turn), final)).not.toHaveProperty('lowPriority')
  })

  it('says in another session what goes behind everything else too, and waits for no place there', async () => {
    const posted = { session: session.id, from: { session: session.id, hops: 1, forStrangers: true } }
    const dispatch = { ...dispatchOf(1, 1), posted } as unknown as NewInboxRow['dispatch']
    await store.write((tx) => tx.inbox.add(inboxRow(1, 1, { dispatch, sessionId: session.id })))
    const turn = await store.write((tx) => claimWaiting(tx, session, 2, { ids, queue }))
    expect(turn).toMatchObject({ forStrangers: true })
    expect(turn).not.toHaveProperty('publicFor')
  })

  it('counts as one of theirs where nobody known waits', async () => {
    await behind(false)
    const turn = await store.write((tx) => claimWaiting(tx, session, 2, { ids, queue }))
    expect(turn?.publicFor).toBe('telegram:111')
  })
})
