import { expect, it } from 'vitest'
import type { TurnId } from '../../../src/core/ids.ts'
import type { TurnEnd } from '../../../src/store/turn-port.ts'
import { turnOf } from '../../store/sample-rows.ts'
import { type ContractPart, failureOf, makeSession, rejection, WRONG_JSON } from './under-test.ts'

const END: TurnEnd = { state: 'completed', outcome: 'answered', at: 99, usage: { input: 12, output: 3 } }
const CACHED = { input: 7, output: 2, cacheRead: 900, cacheWrite: 100 }

export const turnContract: ContractPart = (underTest) => {
  const start = async (chat: number) => {
    const { id } = await makeSession(underTest.store, chat)
    const turn = turnOf(id, chat)
    await underTest.store.write((tx) => tx.turns.start(turn))
    return turn
  }

  it('a started turn is running, first attempt, under this epoch', async () => {
    const turn = await start(1)
    const { store } = underTest
    const stored = { ...turn, state: 'running', attempt: 1, epoch: store.epoch, usage: { input: 0, output: 0 } }
    expect(await store.read.turns.get(turn.id)).toEqual(stored)
    expect(await store.read.turns.running()).toEqual([stored])
    expect(await store.read.turns.get('turn_nobody' as TurnId)).toBeUndefined()
  })

  it('S33: a session has one running turn at a time, other sessions theirs', async () => {
    const turn = await start(1)
    const second = turnOf(turn.sessionId, 1)
    expect(await rejection(underTest.store, (tx) => tx.turns.start(second))).toMatchObject({ code: 'conflict' })
    await start(2)
    await underTest.store.write((tx) => tx.turns.finish(turn.id, END))
    await underTest.store.write((tx) => tx.turns.start(second))
    expect(await underTest.store.read.turns.running()).toHaveLength(2)
  })

  it('S33: of parallel starts for one session one wins', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const starts = Array.from({ length: 10 }, () => underTest.store.write((tx) => tx.turns.start(turnOf(id, 1))))
    const settled = await Promise.allSettled(starts)
    expect(settled.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
  })

  it('C22: what turns cost since a time is summed, running ones left out', async () => {
    const [old, done] = [await start(1), await start(2)]
    await start(3)
    for (const { id } of [old, done]) await underTest.store.write((tx) => tx.turns.finish(id, END))
    const { turns } = (await underTest.reopen()).read
    expect(await turns.spentSince(0)).toEqual({ turns: 2, usage: { input: 24, output: 6 } })
    expect(await turns.spentSince(Number.MAX_SAFE_INTEGER / 64)).toEqual({ turns: 0, usage: { input: 0, output: 0 } })
  })

  it('C22: tokens of the cache are summed apart', async () => {
    const [one, other] = [await start(1), await start(2)]
    await underTest.store.write((tx) => tx.turns.finish(one.id, END))
    await underTest.store.write((tx) => tx.turns.finish(other.id, { ...END, usage: CACHED }))
    const { turns } = (await underTest.reopen()).read
    expect((await turns.get(other.id))?.usage).toEqual(CACHED)
    expect((await turns.get(one.id))?.usage).toEqual(END.usage)
    const usage = { input: 19, output: 5, cacheRead: 900, cacheWrite: 100 }
    expect(await turns.spentSince(0)).toEqual({ turns: 2, usage })
  })

  it('C22: calls beside turns cost with them, since the same time, until they are swept', async () => {
    const { id } = await start(1)
    await underTest.store.write(async ({ turns }) => {
      await turns.finish(id, END)
      await turns.spendBeside(10, END.usage)
      await turns.spendBeside(20, CACHED)
    })
    const { store } = underTest
    const both = { input: 31, output: 8, cacheRead: 900, cacheWrite: 100 }
    expect(await store.read.turns.spentSince(0)).toEqual({ turns: 1, usage: both })
    const later = await store.read.turns.spentSince(11)
    expect(later).toEqual({ turns: 1, usage: { ...both, input: 19, output: 5 } })
    expect(await store.write(({ turns }) => turns.sweepBeside(20, 5))).toBe(1)
    expect(await store.read.turns.spentSince(0)).toEqual(later)
  })

  it('a finished turn keeps its end', async () => {
    const turn = await start(1)
    const end: TurnEnd = { ...END, state: 'failed', error: 'model_stalled' }
    await underTest.store.write((tx) => tx.turns.finish(turn.id, end))
    expect(await underTest.store.read.turns.get(turn.id)).toMatchObject({
      state: 'failed',
      endedAt: 99,
      usage: END.usage,
      error: 'model_stalled',
    })
    expect(await underTest.store.read.turns.running()).toEqual([])
  })

  it('C5: a turn ends once', async () => {
    const turn = await start(1)
    await underTest.store.write((tx) => tx.turns.finish(turn.id, END))
    const again = await rejection(underTest.store, (tx) => tx.turns.finish(turn.id, { ...END, state: 'cancelled' }))
    expect(again).toMatchObject({ code: 'conflict' })
    expect(await underTest.store.read.turns.get(turn.id)).toMatchObject({ state: 'completed' })
  })

  it('C5: a turn that has failed is run once more, and its cost is the sum; no other turn is', async () => {
    const turn = await start(1)
    const reopen = () => underTest.store.write((tx) => tx.turns.reopen(turn.id))
    expect(await failureOf(reopen())).toMatchObject({ code: 'conflict' })
    const failed: TurnEnd = { ...END, state: 'failed', error: 'model_stalled' }
    await underTest.store.write((tx) => tx.turns.finish(turn.id, failed))
    expect(await reopen()).toBe(1)
    const again = await underTest.store.read.turns.get(turn.id)
    expect(again).toMatchObject({ state: 'running', usage: END.usage })
    expect(again?.error).toBeUndefined()
    expect(again?.endedAt).toBeUndefined()
    await underTest.store.write((tx) => tx.turns.finish(turn.id, END))
    const usage = { input: 2 * END.usage.input, output: 2 * END.usage.output }
    expect(await underTest.store.read.turns.get(turn.id)).toMatchObject({ state: 'completed', usage })
    expect(await failureOf(reopen())).toMatchObject({ code: 'conflict' })
  })

  it('a turn that another process left running is interrupted, and taken over once', async () => {
    const turn = await start(1)
    expect(await underTest.store.read.turns.interrupted()).toEqual([])
    const store = await underTest.reopen()
    expect((await store.read.turns.interrupted()).map(({ id, attempt }) => [id, attempt])).toEqual([[turn.id, 1]])
    expect(await store.write((tx) => tx.turns.resume(turn.id))).toBe(2)
    expect(await store.read.turns.interrupted()).toEqual([])
    expect(await failureOf(store.write((tx) => tx.turns.resume(turn.id)))).toMatchObject({ code: 'conflict' })
  })

  it('attempts are counted over restarts', async () => {
    const turn = await start(1)
    for (const attempt of [2, 3]) {
      const store = await underTest.reopen()
      expect(await store.write((tx) => tx.turns.resume(turn.id))).toBe(attempt)
    }
  })

  it('an attempt that an orderly stop ended does not count', async () => {
    const turn = await start(1)
    for (let restart = 0; restart < 3; restart++) {
      const { store } = underTest
      await store.write((tx) => tx.turns.suspend(turn.id))
      const next = await underTest.reopen()
      expect(await next.write((tx) => tx.turns.resume(turn.id))).toBe(1)
    }
  })

  it('what is counted against a turn that has not ended can be set', async () => {
    const turn = await start(1)
    const store = await underTest.reopen()
    await store.write((tx) => tx.turns.recount(turn.id, 0))
    expect(await store.write((tx) => tx.turns.resume(turn.id))).toBe(1)
    await store.write((tx) => tx.turns.finish(turn.id, END))
    await store.write((tx) => tx.turns.recount(turn.id, 3))
    expect(await store.read.turns.get(turn.id)).toMatchObject({ attempt: 1 })
  })

  it('only who runs a turn puts it down', async () => {
    const turn = await start(1)
    const store = await underTest.reopen()
    await store.write((tx) => tx.turns.suspend(turn.id))
    expect(await store.write((tx) => tx.turns.resume(turn.id))).toBe(2)
  })

  it('a turn of an older epoch cannot be finished before it is taken over', async () => {
    const turn = await start(1)
    const store = await underTest.reopen()
    expect(await rejection(store, (tx) => tx.turns.finish(turn.id, END))).toMatchObject({ code: 'conflict' })
    await store.write((tx) => tx.turns.resume(turn.id))
    await store.write((tx) => tx.turns.finish(turn.id, END))
  })

  it('an ended turn is not taken over', async () => {
    const turn = await start(1)
    await underTest.store.write((tx) => tx.turns.finish(turn.id, END))
    const store = await underTest.reopen()
    expect(await rejection(store, (tx) => tx.turns.resume(turn.id))).toMatchObject({ code: 'conflict' })
  })

  it.each(['', ...WRONG_JSON])('C31: a turn whose reply reads %j does not hide the others', async (reply) => {
    const [damaged, sound] = [await start(1), await start(2)]
    const store = await underTest.reopen(`UPDATE turns SET reply = '${reply}' WHERE id = '${damaged.id}'`)
    expect((await store.read.turns.interrupted()).map((turn) => turn.id)).toEqual([sound.id])
    expect(await failureOf(store.read.turns.get(damaged.id))).toMatchObject({ code: 'unreadable' })
    expect(underTest.warnings).toMatchObject([{ fields: { table: 'turns', count: 1 } }])
  })
}
