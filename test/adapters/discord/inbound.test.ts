import { describe, expect, test } from 'vitest'
import type { ChannelFacts } from '../../../adapters/discord/address.ts'
import type { KnownRole, NameLookup } from '../../../adapters/discord/inbound/known-names.ts'
import { deletedIds, readDelete, readEdit, readMessage } from '../../../adapters/discord/inbound/read-event.ts'
import type { InboundReading } from '../../../adapters/shared/reading.ts'
import { toAccountId } from '../../../src/core/ids.ts'

const BOT = '900'
const GUILD = '100'
const channel: ChannelFacts = { id: '200', kind: 'channel', guildId: GUILD }
const thread: ChannelFacts = { id: '201', kind: 'thread', guildId: GUILD, parentId: '200' }
const direct: ChannelFacts = { id: '202', kind: 'direct' }
const group: ChannelFacts = { id: '203', kind: 'group' }

const ada = { id: '222', username: 'ada', global_name: 'Ada' }
const bot = { id: BOT, username: 'parley', bot: true }

/** A MESSAGE_CREATE as the platform sends it. */
function message(changes: object = {}): object {
  return {
    id: '1573660185950420993',
    type: 0,
    channel_id: '200',
    guild_id: GUILD,
    author: ada,
    content: 'hello',
    timestamp: '2026-11-21T12:00:00.000000+00:00',
    edited_timestamp: null,
    mentions: [],
    mention_roles: [],
    mention_everyone: false,
    attachments: [],
    embeds: [],
    ...changes,
  }
}

const ROLES: Readonly<Record<string, KnownRole>> = {
  7: { name: 'parley' },
  8: { name: 'Parley', botId: BOT },
  9: { name: 'Other', botId: '901' },
}
const names: NameLookup = { role: (id) => ROLES[id], place: () => undefined, person: () => undefined }

const context = (place: ChannelFacts, commands?: readonly string[] | null) => ({
  names,
  account: toAccountId(''),
  botId: BOT,
  place,
  commands: commands === null ? undefined : new Set(commands ?? ['new', 'status']),
})
const read = (changes: object = {}, place = channel) => readMessage(message(changes), context(place))
const why = (reading: InboundReading) => (reading.kind === 'dropped' ? reading.why : reading.event.kind)

describe('where a message stands', () => {
  test.each([
    ['a channel', channel, { chatType: 'channel', chat: '200', space: { type: 'guild', id: GUILD } }],
    ['a thread', thread, { chatType: 'channel', chat: '200', topic: '201', space: { type: 'guild', id: GUILD } }],
    ['a direct chat', direct, { chatType: 'direct', chat: '222' }],
    ['a group', group, { chatType: 'group', chat: '203' }],
  ])('%s', (_, place, address) => {
    expect(read({}, place)).toMatchObject({
      kind: 'event',
      event: { address: { channel: 'discord', account: 'default', ...address } },
    })
  })

  test('a thread without a parent is not understood', () => {
    expect(why(read({}, { id: '201', kind: 'thread', guildId: GUILD }))).toBe('message:unknown_channel')
  })
})

describe('the names of the place', () => {
  const titles = (reading: InboundReading) => (reading.kind === 'event' ? reading.event.titles : why(reading))

  test('are those of the channel, or of the thread and its channel', () => {
    const place = (id: string) => (id === '200' ? 'workshop' : undefined)
    const [named, boiler] = [
      { ...channel, name: 'workshop' },
      { ...thread, name: 'boiler' },
    ]
    expect(titles(read({}, named))).toEqual({ chat: 'workshop' })
    const names = {
      role: () => undefined,
      place: (id: string) => (id === '200' ? 'workshop' : undefined),
      person: () => undefined,
    }
    expect(titles(readMessage(message(), { ...context(boiler), names: { ...names, place } }))).toEqual({
      chat: 'workshop',
      topic: 'boiler',
    })
    expect(titles(read({}, boiler))).toEqual({ topic: 'boiler' })
  })

  test('are left out where the platform does not say them', () => {
    expect(titles(read())).toBeUndefined()
  })
})

describe('who is meant', () => {
  const mentioned = (changes: object, place = channel) => {
    const reading = read(changes, place)
    if (reading.kind !== 'event' || !('mentioned' in reading.event)) throw new Error(why(reading))
    return [reading.event.mentioned, reading.event.mentionsOthers]
  }
  const replyTo = (author: object) => ({ type: 19, referenced_message: { id: '5', author, content: 'said' } })

  test.each([
    ['nobody', {}, [false, false]],
    ['the bot', { mentions: [bot] }, [true, false]],
    ['the bot and another', { mentions: [bot, { id: '444' }] }, [true, true]],
    ['another', { mentions: [{ id: '444' }] }, [false, true]],
    ['a role', { mention_roles: ['7'] }, [false, true]],
    ['the role that the platform manages for the bot', { mention_roles: ['8'] }, [true, false]],
    ['that role and another', { mention_roles: ['8', '7'] }, [true, true]],
    ['the role that the platform manages for another bot', { mention_roles: ['9'] }, [false, true]],
    ['everyone', { mention_everyone: true }, [false, true]],
    ['the bot by a name in the text only', { content: '<@900> hi' }, [false, false]],
    ['the bot by a reply', replyTo(bot), [true, false]],
    ['another by a reply that pings', { ...replyTo({ id: '444' }), mentions: [{ id: '444' }] }, [false, true]],
  ])('%s', (_, changes, expected) => {
    expect(mentioned(changes)).toEqual(expected)
  })

  test('everybody in a direct chat means the bot', () => {
    expect(mentioned({}, direct)).toEqual([true, false])
  })

  test('a reply carries what it answers', () => {
    expect(read(replyTo(bot))).toMatchObject({ event: { quoted: { messageId: '5', text: 'said', own: true } } })
  })
})

describe('deletions', () => {
  test('name the message as it was first told', () => {
    const deletion = readDelete('5', { ...context(channel), person: undefined })
    const said = read({ id: '5' })
    const key = said.kind === 'event' ? said.event.eventKey : ''
    expect(deletion).toMatchObject({ event: { kind: 'delete', messageId: '5', original: key } })
  })

  test('in a direct chat with nobody we know are dropped', () => {
    expect(why(readDelete('5', { ...context(direct), person: undefined }))).toBe('delete:unknown_channel')
    expect(readDelete('5', { ...context(direct), person: '222' })).toMatchObject({
      event: { address: { chat: '222' } },
    })
  })

  test.each([
    [{ id: '5', channel_id: '7' }, ['5']],
    [{ ids: ['5', '6'], channel_id: '7' }, ['5', '6']],
    [{ channel_id: '7' }, []],
    [null, []],
  ])('%j names %j', (data, ids) => {
    expect(deletedIds(data).ids).toEqual(ids)
  })
})

test.each([
  ['another bot', { author: { ...ada, bot: true } }],
  ['a webhook', { webhook_id: '8' }],
])('S25: %s is a bot', (_, changes) => {
  expect(read(changes)).toMatchObject({ event: { sender: { kind: 'bot', id: ada.id } } })
})

describe('what is no event', () => {
  test.each([
    ['the bot itself', { author: bot }, 'own_message'],
    ['a join notice', { type: 7 }, 'message:type_7'],
    ['the first of a thread, which points to the message that it began at', { type: 21 }, 'message:type_21'],
    ['an answer without words so far', { type: 20, flags: 128, content: '' }, 'message:loading'],
    ['a broken id', { id: 5 }, 'malformed:message'],
    ['no author', { author: null }, 'malformed:message'],
    ['a text that is none', { content: 7 }, 'malformed:message'],
  ])('%s', (_, changes, expected) => {
    expect(why(read(changes))).toBe(expected)
  })

  test('the bot itself is one where a thread is read back, and gives no command', () => {
    const own = message({ author: { ...bot, bot: undefined }, content: '!new a' })
    expect(readMessage(own, { ...context(channel), readsOwn: true })).toMatchObject({
      event: { kind: 'message', text: '!new a', own: true, sender: { id: bot.id, kind: 'bot' } },
    })
  })

  test.each([undefined, null, 5, 'x', [], {}])('%j is dropped without an exception', (value) => {
    expect(why(readMessage(value, context(channel)))).toBe('malformed:message')
  })
})

describe('text, files, keys', () => {
  test('the text stays as it was written but for names, and the key is the message’s own', () => {
    const reading = read({ content: ' <@900> hi  ', mentions: [bot] })
    expect(reading).toMatchObject({
      event: {
        text: ' @parley hi  ',
        eventKey: '900:message:1573660185950420993',
        messageId: '1573660185950420993',
        sender: { id: '222', kind: 'user', displayName: 'Ada', username: 'ada' },
      },
    })
  })

  test('a file is named by ids, never by its link', () => {
    const file = { id: '9', filename: 'a.png', size: 5, content_type: 'image/png', url: 'https://cdn/a.png' }
    const reading = read({ content: '', attachments: [file] })
    expect(reading).toMatchObject({
      event: { attachments: [{ ref: '200/1573660185950420993/9', fileName: 'a.png', mime: 'image/png', size: 5 }] },
    })
    expect(JSON.stringify(reading)).not.toContain('cdn')
  })

  test('an edit has a key for each time, and what the platform changes by itself is none', () => {
    const edited = message({ edited_timestamp: '2026-11-21T12:01:00.000000+00:00', content: 'other' })
    expect(readEdit(edited, context(channel))).toMatchObject({
      event: { kind: 'edit', eventKey: '900:edit:1573660185950420993@1795262460000', text: 'other' },
    })
    expect(why(readEdit(message(), context(channel)))).toBe('edit:by_platform')
    expect(why(readEdit({ id: '5', channel_id: '200' }, context(channel)))).toBe('edit:by_platform')
  })
})

describe('typed commands', () => {
  const named = (content: string, changes: object = {}) => {
    const reading = readMessage(message({ content, ...changes }), context(channel, ['new']))
    const { event } = reading as Extract<InboundReading, { kind: 'event' }>
    return event.kind === 'command' ? [event.name, event.args] : event.kind
  }

  test.each([
    ['!new', {}, ['new', '']],
    ['!NEW  a  b ', {}, ['new', 'a  b']],
    ['<@900> /new now', { mentions: [bot] }, ['new', 'now']],
    ['<@!900> !new', { mentions: [bot] }, ['new', '']],
    ['<@&8> /new', { mention_roles: ['8'] }, ['new', '']],
    ['<@&7> !new', { mention_roles: ['7'] }, 'message'],
    ['!new <@444> at', { mentions: [{ id: '444', username: 'bob' }] }, ['new', '<@444> at']],
    ['/new', {}, 'message'],
    ['!play a song', {}, 'message'],
    ['!nwe', {}, 'message'],
    ['<@900> !nwe now', { mentions: [bot] }, ['nwe', 'now']],
    ['<@900> !play a song', { mentions: [bot] }, 'message'],
    ['!newer', {}, 'message'],
    ['say !new', {}, 'message'],
    ['<@444> !new', { mentions: [{ id: '444' }] }, 'message'],
  ] as const)('%s', (content, changes, expected) => {
    expect(named(content, changes)).toEqual(expected)
  })

  test('a slash is enough in a direct chat', () => {
    expect(read({ content: '/status' }, direct)).toMatchObject({ event: { kind: 'command', name: 'status' } })
  })

  test('before the names are known only who addresses the bot commands it', () => {
    const named = (content: string, place: ChannelFacts) => why(readMessage(message({ content }), context(place, null)))
    expect([named('!play', channel), named('!start', direct)]).toEqual(['message', 'command'])
  })
})

describe('what somebody else wrote', () => {
  const snapshot = (text: string, files: readonly object[] = []) => ({
    message: { type: 0, content: text, attachments: files, mentions: [bot], mention_roles: [], embeds: [] },
  })
  const forward = (...snapshots: readonly object[]) => ({
    content: '',
    message_reference: { type: 1, channel_id: '7', message_id: '8' },
    message_snapshots: snapshots,
  })

  test('a forward is the text of its snapshot, no command, and mentions nobody', () => {
    expect(read(forward(snapshot('!new <@900>')))).toMatchObject({
      event: { kind: 'message', text: '!new @parley', forwarded: {}, mentioned: false, mentionsOthers: false },
    })
  })

  test('files of a forward are found by the message that carries it', () => {
    const file = { id: '31', filename: 'plan.pdf', size: 5, content_type: 'application/pdf' }
    expect(read(forward(snapshot('', [file])))).toMatchObject({
      event: { text: '', attachments: [{ ref: '200/1573660185950420993/31', fileName: 'plan.pdf' }] },
    })
  })

  test('a crosspost is of the channel that is followed, a reply is of nobody else', () => {
    const author = { id: '70', username: 'News #updates', bot: true }
    expect(read({ author, webhook_id: '70', flags: 2 })).toMatchObject({
      event: { kind: 'message', forwarded: { name: 'News #updates' } },
    })
    const reply = {
      type: 19,
      message_reference: { type: 0, channel_id: '200', message_id: '5' },
      message_snapshots: [],
    }
    expect(read(reply)).not.toHaveProperty('event.forwarded')
  })

  test.each([[[null]], [[{}]], [[{ message: 7 }]], ['many']])('a snapshot that is %j is dropped', (snapshots) => {
    expect(why(read({ ...forward(), message_snapshots: snapshots }))).toBe('malformed:message')
  })
})
