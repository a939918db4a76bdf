import { expect, it } from 'vitest'
import { toSessionId } from '../../../src/core/ids.ts'
import { agedEvents } from '../../../src/sessions/forgetting/aged-events.ts'

const SESSION = toSessionId('telegram:2026-11-23-00000001')
const [BEFORE, NOW] = [80, 100]

/** Returns the numbers of the events that are too old, of a log with these times. */
async function aged(log: readonly (readonly [at: number, type?: string])[], after = 0): Promise<readonly number[]> {
  const events = log.map(([at, type = 'user_message'], place) => ({ seq: place + 1, at, type }))
  const since = async (_: string, from: number, most = 100) => events.filter(({ seq }) => seq > from).slice(0, most)
  const found = await agedEvents({ since } as never, SESSION, { after, before: BEFORE, now: NOW })
  return found.map(({ seq }) => seq)
}

it('S41: the start of a session says nothing of when the log was written that was copied behind it', async () => {
  const copied = [[90, 'session_started'], [70], [75]] as const
  expect(await aged(copied)).toEqual([2, 3])
  expect(await aged(copied, 1)).toEqual([2, 3])
})

it('S41: at the end of a log that is twice too old goes what is from before the last old time, and no later event', async () => {
  const log = [[50], [40], [NOW + 5]] as const
  expect(await aged(log)).toEqual([1])
  expect(await aged(log, 1)).toEqual([2])
  expect(await aged([[70], [40], [NOW + 5]], 1)).toEqual([])
})
