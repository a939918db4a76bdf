import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { Decision, Dispatch } from '../../../src/core/dispatch.ts'
import type { Accepted } from '../../../src/sessions/turns/accept-alone.ts'
import { type AcceptDeps, acceptDispatch } from '../../../src/sessions/turns/accept-dispatch.ts'
import { createPublicTurns, type PublicTurnLimits } from '../../../src/sessions/turns/public-turns.ts'
import { createTurnQueue } from '../../../src/sessions/turns/turn-queue.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { decisionOf, dispatchOf, ids } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

interface Limits extends Partial<PublicTurnLimits> {
  /** Messages that may wait behind the turn of one session. */
  readonly behind?: number
}

/** The door on a real store; so much is taken of people whom nobody let in by name. */
async function openDoor({ behind = 4, ...places }: Limits = {}) {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const deps: AcceptDeps = {
    ids,
    channels: CHANNELS,
    overrides: { set() {} },
    queue: createTurnQueue(behind),
    adopts: () => undefined,
    publicTurns: createPublicTurns({ atOnce: 1, perPerson: 1, waiting: 0, ...places }),
    busy: 'queue',
    crowded: () => false,
    spoken: () => {},
    unreadable: () => {},
    heard() {},
  }
  const accept = (dispatch: Dispatch, decision: Decision): Promise<Accepted> =>
    store.write((tx) => acceptDispatch(tx, { dispatch, decision }, deps))
  const textOf = async (accepted: Accepted): Promise<unknown> => {
    const row = 'inboxId' in accepted ? await store.read.inbox.get(accepted.inboxId) : undefined
    return row && 'text' in row.dispatch.event ? row.dispatch.event.text : undefined
  }
  return { store, accept, textOf }
}

/** Somebody unknown says something in this chat, where anybody may. */
const strangerIn = (chat: number) => ({ ...decisionOf(chat), identity: { role: 'guest' }, public: true }) as const

describe('what is kept of a message that nothing is done with', () => {
  it.each([
    ['ignored', 'guest', ''],
    ['ignored', 'member', 'message 1'],
    ['refused', 'guest', ''],
    ['refused', 'member', 'message 1'],
  ] as const)('%s, said by a %s: the text “%s”', async (what, role, text) => {
    const { accept, textOf } = await openDoor()
    const looked = { identity: { role }, trace: [] } as const
    const decision: Decision =
      what === 'ignored'
        ? { kind: 'ignore', reason: 'edits', ...looked }
        : { kind: 'refuse', reason: 'send_policy', ...looked }
    expect(await textOf(await accept(dispatchOf(1, 1), decision))).toBe(text)
  })
})

describe('a message of a stranger', () => {
  it('waits behind the turn of its own session, also where there is no room for another turn', async () => {
    const { accept } = await openDoor()
    expect(await accept(dispatchOf(1, 1), strangerIn(1))).toMatchObject({ kind: 'started' })
    expect(await accept(dispatchOf(2, 2), strangerIn(2))).toMatchObject({ kind: 'crowded' })
    expect(await accept(dispatchOf(1, 3), strangerIn(1))).toMatchObject({ kind: 'waiting' })
  })

  it('that was refused for want of room and comes again is a repeat, and refused no second time', async () => {
    const { accept } = await openDoor()
    await accept(dispatchOf(1, 1), strangerIn(1))
    expect(await accept(dispatchOf(2, 2), strangerIn(2))).toMatchObject({ kind: 'crowded' })
    expect(await accept(dispatchOf(2, 2), strangerIn(2))).toEqual({ kind: 'repeat' })
  })

  it('that found all places behind a turn taken and comes again is a repeat', async () => {
    const { accept } = await openDoor({ behind: 2 })
    for (const no of [1, 2]) await accept(dispatchOf(1, no), strangerIn(1))
    expect(await accept(dispatchOf(1, 3), strangerIn(1))).toMatchObject({ kind: 'full' })
    expect(await accept(dispatchOf(1, 3), strangerIn(1))).toEqual({ kind: 'repeat' })
  })

  it('who asks to be let in is kept once for their owner, however often the platform gives it', async () => {
    const { accept, store } = await openDoor()
    const asks = { kind: 'person', key: 'telegram:111' } as const
    const decision = { kind: 'refuse', reason: 'stranger', identity: { role: 'guest' }, trace: [], asks } as const
    expect(await accept(dispatchOf(1, 1), decision)).toMatchObject({ kind: 'done' })
    expect(await accept(dispatchOf(1, 1), decision)).toEqual({ kind: 'repeat' })
    expect(await store.read.admissions.refusals(asks.key, 0, 9)).toHaveLength(1)
  })
})
