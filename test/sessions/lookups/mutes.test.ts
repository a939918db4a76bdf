import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Address } from '../../../src/core/address.ts'
import { muteCommand } from '../../../src/sessions/commands/mute.ts'
import { loadMutes, type Mutes } from '../../../src/sessions/lookups/mutes.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { movedClock } from '../../agent/moved-clock.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { commandCall } from '../../fakes/command-call.ts'
import { group } from '../../fakes/dispatch.ts'
import { fixedClock } from '../../fakes/fixed-clock.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const readEnd = () => Promise.reject(new Error('no time is read'))
const NOW = 1_800_000_000_000
const clock = fixedClock(NOW)
const CHANNEL = group('C1', { channel: 'slack' })
const THREAD: Address = { ...CHANNEL, topic: '1.5' }

it('F-E05: a mute ends after its time, also when the clock is set back a day', async () => {
  const clock = movedClock()
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock })
  onTestFinished(() => store.close())
  const muted = await loadMutes(store, clock, CHANNELS)
  await muted.mute(CHANNEL, clock.now() + 60_000)
  clock.setBy(-86_400_000)
  clock.advance(59_999)
  expect(muted.until(THREAD)).toBeDefined()
  clock.advance(1)
  expect(muted.until(THREAD)).toBeUndefined()
})

async function mutes(): Promise<Mutes> {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock })
  onTestFinished(() => store.close())
  return loadMutes(store, clock, CHANNELS)
}

describe('a thread and the channel it hangs in', () => {
  it('S25: a mute of the thread, run out or shorter, does not let it speak while the channel is muted', async () => {
    const muted = await mutes()
    await muted.mute(THREAD, NOW - 1)
    await muted.mute(CHANNEL, NOW + 60_000)
    expect(muted.until(THREAD)).toBe(NOW + 60_000)
    await muted.mute(THREAD, NOW + 1_000)
    expect(muted.until(THREAD)).toBe(NOW + 60_000)
    await muted.mute(THREAD)
    expect([muted.until(THREAD), muted.until(CHANNEL)]).toEqual([Number.POSITIVE_INFINITY, NOW + 60_000])
  })

  it('S25: /mute off in the thread does not promise to be back while the channel is muted', async () => {
    const muted = await mutes()
    const off = () => muteCommand({ mutes: muted, clock, readEnd }).run(commandCall('mute', 'off', { address: THREAD }))
    await muted.mute(THREAD)
    await muted.mute(CHANNEL)
    expect(await off()).toContain('say `/mute off` there')
    await muted.end(CHANNEL)
    await muted.mute(THREAD)
    expect(await off()).toBe('I am back.')
    expect(await off()).toBe('I was not muted here.')
  })
})
