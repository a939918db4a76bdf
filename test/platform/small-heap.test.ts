import { setImmediate } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import { expect, it } from 'vitest'
import { keepHeapSmall } from '../../src/platform/small-heap.ts'

const MB = 1024 * 1024
const youngMegabytes = (): number =>
  (getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0) / MB

/** As a flood of messages does: much is made, and part of it lives for a while. */
async function flood(): Promise<number> {
  let kept: unknown[] = []
  let most = 0
  for (let round = 0; round < 1_500; round++) {
    for (let nth = 0; nth < 1_000; nth++) kept.push({ nth, text: `message ${nth}`, parts: [nth] })
    if (kept.length > 60_000) kept = []
    await setImmediate()
    most = Math.max(most, youngMegabytes())
  }
  return most
}

// One test, since the engine's flags are those of the process.
it('the young generation grows no further than 32 MB in a flood, as it does on Node 24', async () => {
  keepHeapSmall()
  expect(await flood()).toBeLessThanOrEqual(32)
})
