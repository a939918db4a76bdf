import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readEventBody } from '../../../adapters/slack/inbound/read-event.ts'
import { context } from './inbound-context.ts'

const message = {
  type: 'message',
  channel: 'C1',
  channel_type: 'channel',
  user: 'U333',
  team: 'T01',
  text: 'hello',
  ts: '1790000000.000100',
  client_msg_id: '7b0a4a5e-0000-4000-8000-000000000001',
}

const read = (event: object) =>
  readEventBody({ type: 'event_callback', team_id: 'T01', event_id: 'Ev1', event }, context)
const eventOf = (event: object) => {
  const reading = read(event)
  if (reading.kind !== 'event') throw new Error(reading.why)
  return reading.event
}
const whyNot = (event: object) => {
  const reading = read(event)
  return reading.kind === 'dropped' ? reading.why : 'an event'
}

describe('places', () => {
  test.each([
    ['a direct chat', { channel: 'D1', channel_type: 'im' }, { chatType: 'direct', chat: 'D1' }],
    ['a group direct chat', { channel: 'C9', channel_type: 'mpim' }, { chatType: 'group', chat: 'C9' }],
    ['a private channel', { channel: 'G2', channel_type: 'group' }, { chatType: 'channel', chat: 'G2' }],
    ['a thread', { thread_ts: '1789999999.000100' }, { chatType: 'channel', chat: 'C1', topic: '1789999999.000100' }],
  ])('%s', (_, fields, place) => {
    expect(eventOf({ ...message, ...fields }).address).toEqual({
      channel: 'slack',
      account: 'default',
      space: { type: 'team', id: 'T01' },
      ...place,
    })
  })

  test('K12: a mention at the root begins a thread named by its own ts', () => {
    expect(eventOf({ ...message, text: '<@U0BOT> hi' }).address.topic).toBe(message.ts)
  })

  test('a message that addresses nobody, or is a command, begins no thread', () => {
    expect(eventOf(message).address.topic).toBeUndefined()
    expect(eventOf(message)).toMatchObject({ opens: message.ts })
    expect(eventOf({ ...message, thread_ts: '1700000000.000001' })).not.toHaveProperty('opens')
    expect(eventOf({ ...message, text: '<@U0BOT> !status' }).address.topic).toBeUndefined()
  })

  test('the answer to a group direct chat stays at its root', () => {
    const event = eventOf({ ...message, channel_type: 'mpim', text: '<@U0BOT> hi' })
    expect(event).toMatchObject({ mentioned: true, address: { chatType: 'group' } })
    expect(event.address.topic).toBeUndefined()
  })
})

describe('keys', () => {
  test('the two events of one mention have one key, and one address', () => {
    const text = '<@U0BOT> hi'
    const { channel_type: _, ...mention } = { ...message, text, type: 'app_mention' }
    const [first, second] = [eventOf({ ...message, text }), eventOf(mention)]
    expect(second).toEqual(first)
  })

  test('an edit has a key of its own, two edits have two', () => {
    const edited = (ts: string) =>
      eventOf({
        type: 'message',
        subtype: 'message_changed',
        channel: 'C1',
        channel_type: 'channel',
        ts,
        message: { ...message, text: 'changed', edited: { user: 'U333', ts: '1790000001.000000' } },
        previous_message: message,
      })
    const keys = [eventOf(message), edited('1790000001.000200'), edited('1790000001.000300')].map((e) => e.eventKey)
    expect(new Set(keys).size).toBe(3)
    expect(edited('1790000001.000200')).toMatchObject({ kind: 'edit', text: 'changed', messageId: message.ts })
  })

  test('a deletion is a delete by its author', () => {
    expect(
      eventOf({
        type: 'message',
        subtype: 'message_deleted',
        channel: 'C1',
        channel_type: 'channel',
        ts: '1790000002.000100',
        deleted_ts: message.ts,
        previous_message: message,
      }),
    ).toMatchObject({ kind: 'delete', messageId: message.ts, sender: { id: 'U333', team: 'T01' } })
  })
})

describe('who', () => {
  test('F-H04: the same id in another workspace is another person', () => {
    const foreign = { ...message, team: 'T02', user_team: 'T02', source_team: 'T02' }
    expect(eventOf(foreign).sender).toMatchObject({ id: 'U333', team: 'T02', kind: 'user' })
    expect(eventOf(message).sender).toMatchObject({ id: 'U333', team: 'T01' })
  })

  test('F-H04: who names no workspace is of ours only where nobody else can write', () => {
    const { team, ...unnamed } = message
    const { internal: _, ...unknown } = context
    const senderIn = (known: { readonly internal?: boolean }) => {
      const reading = readEventBody({ event: unnamed }, { ...unknown, ...known })
      return reading.kind === 'event' ? reading.event.sender : undefined
    }
    expect(senderIn({ internal: true })).toEqual({ id: 'U333', kind: 'user', team })
    expect([senderIn({ internal: false }), senderIn({})]).toEqual(Array(2).fill({ id: 'U333', kind: 'user' }))
  })

  test.each([
    ['the bot itself', { user: 'U0BOT' }, 'own_message'],
    ['the bot itself, by its bot id', { user: undefined, bot_id: 'B01' }, 'own_message'],
  ])('%s is no event', (_, fields, why) => {
    expect(whyNot({ ...message, ...fields })).toBe(why)
    const own = { ...context, readsOwn: true } as const
    const sender = { id: 'U0BOT', kind: 'bot', team: 'T01', displayName: 'parley' }
    expect(readEventBody({ event: { ...message, text: '!new a', ...fields } }, own)).toMatchObject({
      event: { kind: 'message', text: '!new a', own: true, sender },
    })
    const edit = { ...message, subtype: 'message_changed', message: { ...message, ...fields } }
    expect(readEventBody({ event: edit }, own)).toEqual({ kind: 'dropped', why })
  })

  test.each([
    ['another app', { bot_id: 'B77' }, { id: 'U333' }],
    [
      'an integration',
      { subtype: 'bot_message', bot_id: 'B77', user: undefined, username: 'ci' },
      { id: 'B77', displayName: 'ci' },
    ],
  ])('S25: %s is a bot', (_, fields, sender) => {
    expect(eventOf({ ...message, ...fields }).sender).toMatchObject({ kind: 'bot', ...sender })
  })

  test('the stone that a deleted root leaves is its deletion', () => {
    const stone = { ...message, subtype: 'tombstone', user: 'USLACKBOT', text: 'This message was deleted.' }
    const frame = { type: 'message', subtype: 'message_changed', channel: 'C1', channel_type: 'channel' }
    const event = eventOf({ ...frame, ts: '1790000002.000100', message: stone, previous_message: message })
    expect(event).toMatchObject({ kind: 'delete', messageId: message.ts, original: eventOf(message).eventKey })
  })

  test('an answer in a thread that the bot began addresses the bot', () => {
    const reply = { ...message, thread_ts: '1789999999.000100', parent_user_id: 'U0BOT' }
    expect(eventOf(reply)).toMatchObject({ mentioned: true, quoted: { own: true, messageId: '1789999999.000100' } })
  })
})

describe('text', () => {
  test.each([
    ['escapes', 'a &lt;b&gt; &amp;amp; c', 'a <b> &amp; c'],
    ['a link with a label', 'see <https://x.org/a|the page>', 'see the page (https://x.org/a)'],
    ['a bare link', 'see <https://x.org/a>', 'see https://x.org/a'],
    ['a link whose label is itself', '<https://x.org|x.org>', 'x.org'],
    ['a channel', 'in <#C7|general>', 'in #general'],
    ['everybody', '<!here> and <!subteam^S1|@crew>', '@here and @crew'],
    ['somebody whose name is not known', 'ask <@U444>', 'ask <@U444>'],
    ['the bot', '<@U0BOT> hi', '@parley hi'],
  ])('%s', (_, source, text) => {
    expect(eventOf({ ...message, text: source })).toMatchObject({ text })
  })

  test('a mention that somebody typed is none: the platform escapes what is typed', () => {
    const event = eventOf({ ...message, text: '&lt;@U0BOT&gt; hi' })
    expect(event).toMatchObject({ text: '<@U0BOT> hi', mentioned: false })
  })

  test('others that are mentioned are noticed', () => {
    expect(eventOf({ ...message, text: 'ask <@U444>' })).toMatchObject({ mentioned: false, mentionsOthers: true })
    expect(eventOf({ ...message, text: '<!channel> look' })).toMatchObject({ mentionsOthers: true })
  })

  test.each([
    ['!status now', 'status', 'now'],
    ['/NEW', 'new', ''],
    ['<@U0BOT> !status', 'status', ''],
  ])('T27: %s is a command', (text, name, args) => {
    expect(eventOf({ ...message, text })).toMatchObject({ kind: 'command', name, args })
  })

  test.each(['!important', 'status', 'say !status', '! status'])('T28: %s is text', (text) => {
    expect(eventOf({ ...message, text })).toMatchObject({ kind: 'message', text })
  })

  test('a file is an attachment by its id, never by its address', () => {
    const file = { id: 'F1', mimetype: 'image/png', name: 'a.png', size: 12, url_private: 'https://files.slack.com/x' }
    expect(eventOf({ ...message, subtype: 'file_share', text: '', files: [file] })).toMatchObject({
      attachments: [{ ref: 'F1', mime: 'image/png', fileName: 'a.png', size: 12 }],
    })
  })

  test.each(['1e309', '-1', '0.5', '9007199254740993'])('F-G01: a file of %s bytes has no size', (size) => {
    const file = { id: 'F1', size: JSON.parse(size) as unknown }
    expect(eventOf({ ...message, files: [file] })).toHaveProperty('attachments', [{ ref: 'F1' }])
  })
})

describe('what is none of ours', () => {
  test.each([
    ['a join', { ...message, subtype: 'channel_join' }, 'message:channel_join'],
    [
      'an unfurled link',
      { ...message, subtype: 'message_changed', message, previous_message: message },
      'message:unchanged',
    ],
    ['an unknown event', { type: 'pin_added' }, 'event:pin_added'],
    ['a nonsense channel', { ...message, channel: 5 }, 'malformed:message'],
    ['a nonsense ts', { ...message, ts: 'soon' }, 'malformed:message'],
    ['no text of an app', { ...message, bot_id: 'B77', text: '' }, 'message:empty'],
  ])('%s is dropped and named', (_, event, why) => {
    expect(whyNot(event)).toBe(why)
  })

  test('a body without an event is dropped', () => {
    expect(readEventBody({ type: 'app_rate_limited' }, context)).toEqual({
      kind: 'dropped',
      why: 'body:app_rate_limited',
    })
  })

  test('F-G01: any value whatever is an event or dropped, never an exception', () => {
    const key = fc.constantFrom('type', 'subtype', 'user', 'text', 'ts', 'thread_ts', 'message', 'files', 'channel')
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom('message', 'message_changed', 'app_mention', message))
    fc.assert(
      fc.property(fc.dictionary(key, value), fc.boolean(), (fields, onTop) => {
        const body = { type: 'event_callback', event: onTop ? { ...message, ...fields } : fields }
        expect(['event', 'dropped']).toContain(readEventBody(body, context).kind)
      }),
    )
  })
})

describe('what is shared', () => {
  const share = { is_share: true, is_msg_unfurl: true, author_id: 'U555', author_name: 'Cy', text: '!status <@U0BOT>' }

  test('alone it is the text, written by its author, no command and no mention', () => {
    const event = { ...message, text: '', attachments: [{ ...share, channel_team: 'T01' }] }
    expect(readEventBody({ event }, { ...context, authorTeam: 'T02' })).toMatchObject({
      event: {
        kind: 'message',
        text: '!status @parley',
        forwarded: { from: { id: 'U555', displayName: 'Cy', team: 'T02' } },
        mentioned: false,
      },
    })
  })

  test('F-H04: somebody whose workspace is not known is named and is nobody we know, wherever it was written', () => {
    const event = eventOf({ ...message, text: '', attachments: [{ ...share, channel_team: 'T01' }] })
    expect(event).toMatchObject({ forwarded: { name: 'Cy' } })
    expect(event).not.toHaveProperty('forwarded.from')
  })

  test('beside the words of who shares it, those are theirs', () => {
    const event = eventOf({ ...message, text: '!status', attachments: [share] })
    expect(event).toMatchObject({ kind: 'command', name: 'status', forwarded: { text: '!status @parley' } })
    expect(eventOf({ ...message, text: '<@U0BOT> look', attachments: [share] })).toMatchObject({ mentioned: true })
  })

  test('its files come with it, also where it has no words', () => {
    const file = { id: 'F1', mimetype: 'image/png', name: 'a.png', size: 12 }
    const attachments = [{ ...share, text: '', files: [file] }]
    expect(eventOf({ ...message, text: '', attachments })).toMatchObject({
      text: '',
      forwarded: { name: 'Cy' },
      attachments: [{ ref: 'F1', fileName: 'a.png' }],
    })
    const clip = { ...file, subtype: 'slack_audio', user: 'U555' }
    expect(eventOf({ ...message, text: 'hear', attachments: [{ ...share, files: [clip] }] })).toMatchObject({
      text: 'hear',
      attachments: [{ ref: 'F1', kind: 'audio' }],
    })
  })

  test("of several authors none is named; the preview of a link is nobody's message", () => {
    const two = [share, { ...share, author_id: 'U444', author_name: 'Bob', text: 'two' }]
    expect(eventOf({ ...message, text: '', attachments: two })).toMatchObject({
      text: '!status @parley\ntwo',
      forwarded: {},
    })
    expect(
      eventOf({ ...message, attachments: [{ title: 'A page', text: 'words', from_url: 'https://a.example' }] }),
    ).not.toHaveProperty('forwarded')
  })
})
