import { expect, test } from 'vitest'
import type { CallOutcome } from '../../../adapters/slack/connection/client.ts'
import { Directory } from '../../../adapters/slack/inbound/directory.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { createGate } from '../../../src/rehearsal/deferred.ts'

test('of many unknown people at once a few are looked up, and the others have no name for now', async () => {
  const gate = createGate()
  const asked: unknown[] = []
  const call = async (_: string, { user }: Readonly<Record<string, unknown>>): Promise<CallOutcome> => {
    asked.push(user)
    await gate.pass()
    return { kind: 'answered', result: { user: { name: `name of ${String(user)}` } } }
  }
  const client = { call, close() {} }
  const directory = new Directory({ client, clock: systemClock, signal: new AbortController().signal })
  const people = Array.from({ length: 60 }, (_, nth) => `U${nth}`)
  const names = people.map((user) => directory.personOf(user))
  expect(asked).toEqual(people.slice(0, 20))
  expect(await Promise.all(names.slice(20))).toEqual(Array(40).fill(undefined))
  gate.release()
  expect((await Promise.all(names.slice(0, 20))).map((one) => one?.name)).toEqual(
    people.slice(0, 20).map((user) => `name of ${user}`),
  )
  expect((await directory.personOf('U59'))?.name).toBe('name of U59')
})

test('the title of a channel is asked for once, with its kind and who may be in it, and follows a rename', async () => {
  const asked: string[] = []
  const call = async (method: string, { channel }: Readonly<Record<string, unknown>>): Promise<CallOutcome> => {
    asked.push(`${method} ${String(channel)}`)
    const is = channel === 'C2' ? { is_mpim: true, name: 'mpdm-ada--bob-1' } : { name: 'office' }
    return channel === 'C3'
      ? { kind: 'refused', error: 'channel_not_found' }
      : { kind: 'answered', result: { channel: is } }
  }
  const client = { call, close() {} }
  const directory = new Directory({ client, clock: systemClock, signal: new AbortController().signal })
  const all = ['C1', 'C2', 'C3', 'D4'].map((id) => [
    directory.titleOf(id),
    directory.chatTypeOf(id),
    directory.isInternal(id),
  ])
  expect(await Promise.all(all.map((three) => Promise.all<unknown>(three)))).toEqual([
    ['office', 'channel', true],
    ['ada, bob', 'group', true],
    [undefined, 'channel', false],
    [undefined, 'direct', true],
  ])
  expect(await directory.titleOf('C1')).toBe('office')
  directory.learnName('C1', 'workshop')
  directory.learnName('C1', undefined)
  expect(await directory.titleOf('C1')).toBe('workshop')
  expect(asked).toEqual(['C1', 'C2', 'C3', 'D4'].map((id) => `conversations.info ${id}`))
})

test('F-H04: people of other workspaces may be in a conversation that is shared with them or cannot be asked about', async () => {
  const channels: Readonly<Record<string, object>> = {
    C1: { is_ext_shared: false },
    C2: { is_ext_shared: true },
    D3: {},
  }
  const asked: unknown[] = []
  const call = async (_: string, { channel }: Readonly<Record<string, unknown>>): Promise<CallOutcome> => {
    asked.push(channel)
    const found = channels[String(channel)]
    return found ? { kind: 'answered', result: { channel: found } } : { kind: 'refused', error: 'channel_not_found' }
  }
  const client = { call, close() {} }
  const directory = new Directory({ client, clock: systemClock, signal: new AbortController().signal })
  const ask = () => Promise.all(['C1', 'C2', 'D3', 'C4'].map((id) => directory.isInternal(id)))
  expect(await ask()).toEqual([true, false, true, false])
  expect(await ask()).toEqual([true, false, true, false])
  expect(asked).toEqual(['C1', 'C2', 'D3', 'C4'])
})

test('F-H04: a conversation that becomes shared with others is so within a minute, and at once where an event says it', async () => {
  let now = 1
  let shared = false
  const call = async (): Promise<CallOutcome> => ({
    kind: 'answered',
    result: { channel: { is_ext_shared: shared } },
  })
  const clock = { ...systemClock, elapsed: () => now }
  const directory = new Directory({ client: { call, close() {} }, clock, signal: new AbortController().signal })
  expect(await directory.isInternal('C1')).toBe(true)
  shared = true
  now = 60_002
  expect(await directory.isInternal('C1')).toBe(false)
  shared = false
  expect(await directory.isInternal('C2')).toBe(true)
  directory.learnInternal('C2', false)
  expect(await directory.isInternal('C2')).toBe(false)
  now = 120_003
  expect(await directory.isInternal('C2')).toBe(true)
})
