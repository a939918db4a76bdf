import { afterEach, describe, expect, test } from 'vitest'
import { createClient } from '../../../adapters/discord/connection/client.ts'
import { InvalidRequests } from '../../../adapters/discord/connection/invalid-requests.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

describe('the count of refused requests', () => {
  test('F-C11: opens the breaker at 5,000 within ten minutes and closes it when enough of them are over', () => {
    const invalid = new InvalidRequests()
    for (let no = 0; no < 4999; no++) invalid.note(no * 100)
    expect(invalid.pauseMs(499_900)).toBe(0)
    invalid.note(499_900)
    const pause = invalid.pauseMs(499_900)
    expect(pause).toBeGreaterThan(100_000)
    expect(pause).toBeLessThanOrEqual(110_000)
    expect(invalid.pauseMs(499_900 + pause - 1)).toBe(1)
    expect(invalid.pauseMs(499_900 + pause)).toBe(0)
  })

  test('F-C11: what is over is forgotten', () => {
    const invalid = new InvalidRequests(2)
    invalid.note(0)
    invalid.note(700_000)
    expect(invalid.pauseMs(700_000)).toBe(0)
  })
})

test('F-C11: while the breaker is open nothing leaves, and what is owed waits for its end', async () => {
  const rig = await openRig()
  rigs.push(rig)
  const { server, channel, signal } = rig
  let paused = 0
  let elapsed = 0
  const clock = { ...systemClock, elapsed: () => elapsed }
  const { token, apiRoot } = server
  const client = createClient({ token, apiRoot, clock, mostRefused: 20, onPaused: () => paused++ })
  const send = () =>
    client.call(
      { verb: 'POST', path: `/channels/${channel.id}/messages`, body: { content: 'x' } },
      { signal, deadlineMs: 5000 },
    )
  server.world.setAccess(channel, 'read_only')
  for (let no = 0; no < 20; no++) expect(await send()).toMatchObject({ kind: 'refused', code: 50_013 })
  expect(await send()).toMatchObject({ kind: 'refused', status: 429, retryAfterMs: expect.any(Number) })
  expect(server.ledger.calls('createMessage')).toHaveLength(20)
  expect([paused, client.pausedMs() > 0]).toEqual([1, true])
  server.world.setAccess(channel, 'full')
  elapsed += client.pausedMs()
  expect(await send()).toMatchObject({ kind: 'answered' })
  client.close()
})
