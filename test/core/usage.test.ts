import { expect, it } from 'vitest'
import { addUsage, NO_USAGE, toUsage } from '../../src/core/model.ts'

it.each([undefined, null, Number.NaN, -1, 2.5, 1e300, '5', {}])('a count of %o counts nothing', (odd) => {
  const usage = toUsage({ input: odd as number, output: 7, cacheRead: odd as number, cacheWrite: 0 })
  expect(usage).toEqual({ input: 0, output: 7 })
  expect(addUsage(NO_USAGE, { input: odd as number, output: 1 })).toEqual({ input: 0, output: 1 })
})
