import { expect, it } from 'vitest'
import { deferred } from '../../src/core/deferred.ts'
import { createPlaces } from '../../src/platform/run-child.ts'

it('work whose signal aborts while it waits ends at once and never begins', async () => {
  const place = createPlaces(1)
  const [first, begun] = [deferred(), [] as string[]]
  const stop = new AbortController()
  const never = new AbortController().signal
  const run = (name: string, signal: AbortSignal) =>
    place(async () => {
      begun.push(name)
      await first.promise
      return name
    }, signal)
  const all = [run('first', never), run('second', stop.signal), run('third', never)]
  stop.abort()
  expect(await all[1]).toBeUndefined()
  first.resolve()
  expect(await Promise.all(all)).toEqual(['first', undefined, 'third'])
  expect(begun).toEqual(['first', 'third'])
})

it('what fails rejects, and its place is free again', async () => {
  const place = createPlaces(1)
  const never = new AbortController().signal
  await expect(place(() => Promise.reject(new Error('no luck')), never)).rejects.toThrow('no luck')
  expect(await place(async () => 'next', never)).toBe('next')
})
