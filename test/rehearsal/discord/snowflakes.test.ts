import { expect, it } from 'vitest'
import { Snowflakes } from '../../../src/rehearsal/discord/snowflakes.ts'

it('ids of two servers differ, and rise, within one millisecond', () => {
  const now = () => 1_700_000_000_000
  const sources = [new Snowflakes(now), new Snowflakes(now)]
  const ids = sources.map((source) => Array.from({ length: 100 }, () => source.next()))
  expect(new Set(ids.flat()).size).toBe(200)
  for (const own of ids) expect([...own].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))).toEqual(own)
})
