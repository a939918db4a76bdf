import { setImmediate as loopTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { parseNamespace } from '../../../src/core/caller.ts'
import type { SessionId, TurnId } from '../../../src/core/ids.ts'
import { createPublicTurns } from '../../../src/sessions/turns/public-turns.ts'
import type { StartedTurn } from '../../../src/sessions/turns/started-turn.ts'
import { createTurnQueue } from '../../../src/sessions/turns/turn-queue.ts'

/** A turn has a signal of its own. */
const never = () => new AbortController().signal

/** A turn in a session of its own. */
const turnOf = (person: string, id: string): StartedTurn =>
  ({ id: id as TurnId, session: { id: `s-${id}` }, publicFor: person }) as StartedTurn

function rig(limits: { atOnce: number; perPerson: number; waiting: number }) {
  const turns = createPublicTurns(limits)
  const undo: (() => void)[] = []
  const tx = { afterUndo: (takeBack: () => void) => void undo.push(takeBack) }
  const begun: string[] = []
  return {
    turns,
    undo,
    begun,
    async begin(person: string, id: string): Promise<void> {
      const turn = turnOf(person, id)
      turns.enter(turn, tx)
      void turns.waitForPlace(turn, never()).then(() => begun.push(id))
      await loopTurn()
    },
    async left(id: string): Promise<void> {
      turns.left(id as TurnId)
      await loopTurn()
    },
  }
}

it('one person has so many turns at once, whatever room there is, and the next begins when one ends', async () => {
  const { turns, begin, begun, left } = rig({ atOnce: 8, perPerson: 1, waiting: 16 })
  await begin('cy', 'a')
  expect(turns.admits('cy')).toBe(true)
  await begin('cy', 'b')
  await begin('dee', 'c')
  expect(begun).toEqual(['a', 'c'])
  await left('a')
  expect(begun).toEqual(['a', 'c', 'b'])
})

it('one person takes half of the places where turns wait at most, so that others find one', async () => {
  const { turns, begin } = rig({ atOnce: 1, perPerson: 1, waiting: 4 })
  for (const id of ['a', 'b', 'c']) await begin('cy', id)
  expect([turns.admits('cy'), turns.admits('dee')]).toEqual([false, true])
  await begin('dee', 'd')
  await begin('eve', 'e')
  expect(turns.admits('fay')).toBe(false)
})

it('hundreds of turns that wait begin one after another without a look at all of them each time', async () => {
  const { begin, begun, left } = rig({ atOnce: 1, perPerson: 1, waiting: 1_000 })
  for (let nth = 0; nth < 800; nth++) await begin(`person ${nth}`, `${nth}`)
  for (let nth = 0; nth < 799; nth++) await left(`${nth}`)
  expect(begun).toHaveLength(800)
}, 2_000)

it('a turn whose claim was undone gives its place back', async () => {
  const { turns, begin, undo, begun } = rig({ atOnce: 1, perPerson: 1, waiting: 0 })
  await begin('cy', 'a')
  expect(turns.admits('dee')).toBe(false)
  for (const takeBack of undo) takeBack()
  expect(turns.admits('dee')).toBe(true)
  expect(begun).toEqual(['a'])
})

it('a turn that is expected takes no place until it asks for one, and waits for none if it was hurried before', async () => {
  const { turns, begin, begun } = rig({ atOnce: 1, perPerson: 1, waiting: 1 })
  const later = turnOf('cy', 'later')
  turns.expect(later)
  expect(turns.admits('cy')).toBe(true)
  await begin('dee', 'a')
  turns.hurry(later.session.id)
  expect(await turns.waitForPlace(later, never())).toBe(false)
  await begin('eve', 'b')
  expect(begun).toEqual(['a'])
})

it('a turn that somebody known waits behind runs at once, and no turn of another session with it', async () => {
  const { turns, begin, begun } = rig({ atOnce: 1, perPerson: 1, waiting: 4 })
  for (const [person, id] of [
    ['cy', 'a'],
    ['dee', 'b'],
    ['eve', 'c'],
  ] as const)
    await begin(person, id)
  turns.hurry('s-b' as SessionId)
  await loopTurn()
  expect(begun).toEqual(['a', 'b'])
})

it('a turn that was stopped before it asks for a place waits for none', async () => {
  const { turns, begin } = rig({ atOnce: 1, perPerson: 1, waiting: 4 })
  await begin('cy', 'a')
  expect(await turns.waitForPlace(turnOf('dee', 'b'), AbortSignal.abort())).toBe(false)
})

it('once the daemon is being stopped no turn waits for a place, not even one that asks only then', async () => {
  const { turns, begin, begun } = rig({ atOnce: 1, perPerson: 1, waiting: 4 })
  for (const [person, id] of [
    ['cy', 'a'],
    ['dee', 'b'],
  ] as const)
    await begin(person, id)
  turns.close()
  await loopTurn()
  await begin('eve', 'c')
  await loopTurn()
  expect(begun).toEqual(['a', 'b', 'c'])
})

it('a turn that waits ends its waiting when it is stopped', async () => {
  const { turns, begin } = rig({ atOnce: 1, perPerson: 1, waiting: 4 })
  await begin('cy', 'a')
  const stop = new AbortController()
  const place = turns.waitForPlace(turnOf('dee', 'b'), stop.signal)
  stop.abort()
  expect(await place).toBe(true)
})

it('strangers fill a part of the places behind a turn, and others the rest', () => {
  const queue = createTurnQueue(4)
  const session = 's' as SessionId
  queue.occupy(session, 2)
  expect([queue.peek(session, 2), queue.peek(session)]).toEqual(['full', 'wait'])
})

it('S42: all people for whom one token speaks have half of the places, since it names them as it likes', async () => {
  const turns = createPublicTurns({ atOnce: 4, perPerson: 1, waiting: 4 })
  const tx = { afterUndo: () => {} }
  const api = parseNamespace('api')
  const begun: string[] = []
  const begin = async (nth: number, publicBy = api): Promise<void> => {
    const turn = { ...turnOf(`p${nth}`, `${nth}`), ...(publicBy && { publicBy }) } as StartedTurn
    turns.enter(turn, tx)
    void turns.waitForPlace(turn, never()).then(() => begun.push(`p${nth}`))
    await loopTurn()
  }
  for (let nth = 0; nth < 4; nth++) await begin(nth)
  expect(begun).toEqual(['p0', 'p1'])
  expect([turns.admits('p9', api), turns.admits('p9', parseNamespace('web')), turns.admits('cy')]).toEqual([
    false,
    true,
    true,
  ])
  turns.left('0' as TurnId)
  await loopTurn()
  expect(begun).toEqual(['p0', 'p1', 'p2'])
})

it('people of all tokens together leave places for others, however many namespaces there are', async () => {
  const turns = createPublicTurns({ atOnce: 4, perPerson: 1, waiting: 4 })
  const tx = { afterUndo: () => {} }
  for (let nth = 0; nth < 12; nth++) {
    const publicBy = parseNamespace(`api:shop${nth}`)
    if (publicBy === undefined) throw new Error('it is a namespace')
    const turn = { ...turnOf(`p${nth}`, `${nth}`), publicBy } as StartedTurn
    if (turns.admits(`p${nth}`, publicBy)) turns.enter(turn, tx)
  }
  expect(turns.admits('p20', parseNamespace('api:other'))).toBe(false)
  const cy = turnOf('cy', 'cy') as StartedTurn
  turns.enter(cy, tx)
  expect(await turns.waitForPlace(cy, never())).toBe(false)
  // All run by now, and a place to wait is left too.
  expect(turns.admits('dee')).toBe(true)
})
