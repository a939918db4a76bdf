import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { FetchedFile } from '../../src/core/media.ts'
import { fetchPatiently } from '../../src/pipeline/read-files.ts'
import { group } from '../fakes/dispatch.ts'

const FETCHED: FetchedFile = { kind: 'fetched', bytes: Buffer.from('the plan') }
const FAILED: FetchedFile = { kind: 'failed', reason: 'status 502' }
/** Its waits take no time. */
const clock = { ...systemClock, after: (_ms: number, callback: () => void) => systemClock.after(0, callback) }
const asked = { address: group(), ref: 'file', most: 100 }

async function fetchWith(answers: readonly (FetchedFile | undefined)[]) {
  let calls = 0
  const files = { fetch: async () => answers[Math.min(calls++, answers.length - 1)] }
  return { fetched: await fetchPatiently({ files, clock }, asked, new AbortController().signal), calls }
}

test('F-G07: a channel that is not up yet, right after a start, is waited for', async () => {
  expect(await fetchWith([undefined, undefined, undefined, FETCHED])).toEqual({ fetched: FETCHED, calls: 4 })
})

test('F-G07: a channel that stays down is given up', async () => {
  const { fetched, calls } = await fetchWith([undefined])
  expect(fetched).toEqual({ kind: 'failed', reason: 'the channel is down' })
  expect(calls).toBe(20)
})

test('F-G07: a failure is tried once more, whenever it comes', async () => {
  expect(await fetchWith([undefined, FAILED, FETCHED])).toEqual({ fetched: FETCHED, calls: 3 })
  expect(await fetchWith([FAILED, FAILED, FETCHED])).toEqual({ fetched: FAILED, calls: 2 })
})
