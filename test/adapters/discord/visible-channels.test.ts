import { describe, expect, test } from 'vitest'
import { VisibleChannels } from '../../../adapters/discord/connection/visible-channels.ts'
import { mutated, randomFrom } from '../odd-payloads.ts'

const JOINED = '2026-11-21T12:00:00.000Z'
const guild = {
  id: '100',
  joined_at: JOINED,
  channels: [
    { id: '200', type: 0, last_message_id: '900' },
    { id: '201', type: 4 },
    { id: '202', type: 5, last_message_id: null },
  ],
  threads: [{ id: '300', type: 11, parent_id: '200', guild_id: '100', last_message_id: '800' }],
}
const joinedAt = Date.parse(JOINED)

function told(...dispatches: readonly (readonly [type: string, data: Readonly<Record<string, unknown>>])[]) {
  const channels = new VisibleChannels()
  channels.take('GUILD_CREATE', guild)
  for (const [type, data] of dispatches) channels.take(type, data)
  return channels
}
const ids = (channels: VisibleChannels) => channels.all().map(({ id }) => id)

describe('the channels that a session told', () => {
  test('are those of a guild that hold messages, and its open threads', () => {
    expect(told().all()).toEqual([
      { id: '200', kind: 'channel', guildId: '100', lastMessageId: '900', joinedAt },
      { id: '202', kind: 'channel', guildId: '100', lastMessageId: null, joinedAt },
      { id: '300', kind: 'thread', guildId: '100', parentId: '200', lastMessageId: '800', joinedAt },
    ])
  })

  test('grow with those that are made, and with the threads of a list', () => {
    const channels = told(
      ['CHANNEL_CREATE', { id: '203', type: 0, guild_id: '100' }],
      ['THREAD_CREATE', { id: '301', type: 12, parent_id: '202', guild_id: '100' }],
      ['THREAD_LIST_SYNC', { guild_id: '100', threads: [{ id: '302', type: 11, parent_id: '203' }] }],
    )
    expect(ids(channels)).toEqual(['200', '202', '300', '203', '301', '302'])
    expect(channels.get('302')).toMatchObject({ guildId: '100', parentId: '203', joinedAt })
  })

  test('have the name they were last given', () => {
    const channels = told(['CHANNEL_UPDATE', { id: '200', type: 0, guild_id: '100', name: 'workshop' }])
    channels.take('MESSAGE_CREATE', { id: '950', channel_id: '200' })
    expect(channels.get('200')).toMatchObject({ name: 'workshop', lastMessageId: '950' })
    channels.take('CHANNEL_UPDATE', { id: '200', type: 0, guild_id: '100', name: 'engines' })
    expect(channels.get('200')?.name).toBe('engines')
  })

  test('go with their deletion, threads with their channel, all with their guild', () => {
    expect(ids(told(['THREAD_DELETE', { id: '300' }]))).toEqual(['200', '202'])
    expect(ids(told(['CHANNEL_DELETE', { id: '200' }]))).toEqual(['202'])
    expect(ids(told(['GUILD_DELETE', { id: '100' }]))).toEqual([])
  })

  test('stay while their guild is out of order', () => {
    expect(ids(told(['GUILD_DELETE', { id: '100', unavailable: true }]))).toHaveLength(3)
    expect(ids(told(['GUILD_CREATE', { id: '100', unavailable: true }]))).toHaveLength(3)
  })

  test('know their newest message, however old a change of theirs is', () => {
    const channels = told(
      ['MESSAGE_CREATE', { id: '950', channel_id: '200' }],
      ['CHANNEL_UPDATE', { id: '200', type: 0, guild_id: '100', last_message_id: '900' }],
      ['MESSAGE_CREATE', { id: '940', channel_id: '200' }],
      ['THREAD_UPDATE', { id: '300', type: 11, parent_id: '200', guild_id: '100' }],
    )
    expect([channels.get('200')?.lastMessageId, channels.get('300')?.lastMessageId]).toEqual(['950', '800'])
  })

  test('are joined by the direct chats in which something was said', () => {
    const channels = told(
      ['MESSAGE_CREATE', { id: '950', channel_id: '400', channel_type: 1 }],
      ['MESSAGE_CREATE', { id: '951', channel_id: '401' }],
    )
    expect(channels.get('400')).toEqual({ id: '400', kind: 'direct', lastMessageId: '950' })
    expect(channels.get('401')).toBeUndefined()
  })

  test('are bounded: the one longest without a word is forgotten', () => {
    const channels = new VisibleChannels(3)
    channels.take('GUILD_CREATE', guild)
    channels.take('MESSAGE_CREATE', { id: '950', channel_id: '200' })
    channels.take('CHANNEL_CREATE', { id: '204', type: 0, guild_id: '100' })
    expect(ids(channels)).toEqual(['300', '200', '204'])
  })
})

describe('what cannot be read', () => {
  test('is said, and the rest of it is known', () => {
    const channels = new VisibleChannels()
    const broken = { ...guild, channels: [{ id: null, type: 0 }, 5, ...guild.channels] }
    expect(channels.take('GUILD_CREATE', broken)).toBe(false)
    expect(ids(channels)).toEqual(['200', '202', '300'])
    expect(channels.take('CHANNEL_DELETE', {})).toBe(false)
    expect(ids(channels)).toHaveLength(3)
    expect(channels.take('GUILD_CREATE', guild)).toBe(true)
  })

  test('F-G01: 10,000 mutated dispatches are taken without a throw', () => {
    const thread = guild.threads[0]
    const dispatches = [
      ['GUILD_CREATE', guild],
      ['GUILD_DELETE', { id: '100' }],
      ['CHANNEL_UPDATE', { id: '200', type: 0, guild_id: '100', last_message_id: '901' }],
      ['CHANNEL_DELETE', { id: '202', type: 5 }],
      ['THREAD_UPDATE', thread],
      ['THREAD_LIST_SYNC', { guild_id: '100', threads: [thread] }],
      ['MESSAGE_CREATE', { id: '950', channel_id: '200', channel_type: 1 }],
    ] as const
    const channels = new VisibleChannels(50)
    for (let number = 0; number < 10_000; number++) {
      const random = randomFrom(7_000_000 + number)
      const [type, data] = dispatches[number % dispatches.length] ?? ['OTHER', {}]
      const odd = mutated(data, random)
      channels.take(type, typeof odd === 'object' && odd !== null ? (odd as Record<string, unknown>) : {})
    }
    expect(channels.all().length).toBeLessThanOrEqual(50)
    for (const { id, kind } of channels.all()) expect([typeof id, typeof kind]).toEqual(['string', 'string'])
  })
})
