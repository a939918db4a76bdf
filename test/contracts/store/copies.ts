import { expect, it } from 'vitest'
import { ParleyError } from '../../../src/core/errors.ts'
import { copiedTurnId, type SessionId, type TurnId } from '../../../src/core/ids.ts'
import type { EventToAppend } from '../../../src/store/event-port.ts'
import { ids, turnCompleted, userMessage } from '../../store/sample-rows.ts'
import { type ContractPart, makeSession, rejection } from './under-test.ts'

/** A log that was copied into another session. */
export const copyContract: ContractPart = (underTest) => {
  const make = async (no: number) => (await makeSession(underTest.store, no)).id
  const append = (id: SessionId, ...drafts: readonly EventToAppend[]) =>
    underTest.store.write((tx) => tx.events.append(id, 5, drafts))
  const copy = (from: SessionId, to: SessionId) => underTest.store.write((tx) => tx.events.copy(from, to))
  const turnsIn = async (session: SessionId) =>
    (await underTest.store.read.events.since(session, 0, 100)).map((event) =>
      event.type === 'exchange_taken_back' ? `taken back: ${event.data.turn}` : event.turnId,
    )
  const takenBack = (turn: TurnId): EventToAppend => ({
    type: 'exchange_taken_back',
    data: { turn, messages: [], command: ids.inbox() },
  })

  it('K27: a copy has turns of its own, the same when it is made again after a crash, and names those taken back', async () => {
    const [from, to, third] = [await make(1), await make(2), await make(3)]
    const [one, two] = [ids.turn(), ids.turn()]
    const ends = [one, two].map((turnId): EventToAppend => ({ ...turnCompleted, turnId }))
    await append(from, ...ends, takenBack(one), { ...turnCompleted, turnId: one, forgotten: true })
    const killed = await rejection(underTest.store, async (tx) => {
      await tx.events.copy(from, to)
      throw new ParleyError('internal', 'killed')
    })
    expect(killed).toMatchObject({ message: 'killed' })
    await copy(from, to)
    await copy(to, third)
    const copies = [one, two].map((turn) => copiedTurnId(turn, to)) as [TurnId, TurnId]
    const further = copies.map((turn) => copiedTurnId(turn, third)) as [TurnId, TurnId]
    expect(new Set([one, two, ...copies, ...further]).size).toBe(6)
    for (const [session, turns] of [
      [from, [one, two]],
      [to, copies],
      [third, further],
    ] as const)
      expect(await turnsIn(session)).toEqual([...turns, `taken back: ${turns[0]}`, turns[0]])
    expect(await underTest.store.read.events.latest(third, 1)).toMatchObject([{ forgotten: true }])
  })

  it('K27: a log that another one follows keeps the turns that it had', async () => {
    const [from, to] = [await make(1), await make(2)]
    const turn = ids.turn()
    for (const session of [from, to]) await append(session, { ...turnCompleted, turnId: turn }, takenBack(turn))
    await copy(from, to)
    const copied = copiedTurnId(turn, to)
    expect(await turnsIn(to)).toEqual([turn, `taken back: ${turn}`, copied, `taken back: ${copied}`])
  })

  it('K32, C31: a damaged event is copied as it is', async () => {
    const [from, to] = [await make(1), await make(2)]
    await append(from, userMessage('one'), takenBack(ids.turn()))
    const store = await underTest.reopen("UPDATE events SET data = '{' WHERE seq = 2")
    expect(await store.write((tx) => tx.events.copy(from, to))).toBe(2)
    expect((await store.read.events.since(to, 0, 10)).map(({ seq }) => seq)).toEqual([1])
  })
}
