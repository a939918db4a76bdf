import { expect, test } from 'vitest'
import type { Dispatch } from '../../src/core/dispatch.ts'
import { createEvents } from '../../src/daemon/daemon-events.ts'
import { createEntrance } from '../../src/daemon/entrance.ts'
import { direct, dispatchOf, message, user } from '../fakes/dispatch.ts'

const said = (text: string): Dispatch =>
  dispatchOf(message({ eventKey: text, text, address: direct('111'), sender: user('111') }))

test('what is handed in before the entrance is opened waits, and keeps its order and its position', async () => {
  const entrance = createEntrance((text) => text)
  const accepted: (readonly [string, unknown])[] = []
  const position = { key: 'offset', value: '7' }
  const early = [entrance.accept(said('first')), entrance.accept(said('second'), position)]
  expect(accepted).toEqual([])
  entrance.open(async ({ event }, at) => void accepted.push([event.eventKey, at]))
  await Promise.all(early)
  await entrance.accept(said('third'))
  expect(accepted).toEqual([
    ['first', undefined],
    ['second', position],
    ['third', undefined],
  ])
})

test('what could not be stored rejects, whenever it was handed in', async () => {
  const entrance = createEntrance((text) => text)
  const early = entrance.accept(said('early'))
  entrance.open(() => Promise.reject(new Error('the disk is full')))
  await expect(early).rejects.toThrow('the disk is full')
  await expect(entrance.accept(said('late'))).rejects.toThrow('the disk is full')
})

test('an event is told to each listener there is, and to nobody before there is one', () => {
  const { peopleChanged } = createEvents()
  let calls = 0
  peopleChanged.emit()
  peopleChanged.on(() => calls++)
  peopleChanged.on(() => calls++)
  expect(calls).toBe(0)
  peopleChanged.emit()
  expect(calls).toBe(2)
})
