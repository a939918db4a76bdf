import { describe, expect, test } from 'vitest'
import { readEventBody } from '../../../adapters/slack/inbound/read-event.ts'
import type { InboundContext } from '../../../adapters/slack/inbound/reading.ts'
import { context } from './inbound-context.ts'

type Fields = Readonly<Record<string, unknown>>

const message = {
  ...{ type: 'message', channel: 'C1', channel_type: 'channel', ts: '1790000000.000100' },
  ...{ user: 'U333', team: 'T01', text: 'hello' },
}
const app = { user: undefined, bot_id: 'B77', subtype: 'bot_message', username: 'ci' }
const header = (text: string) => [{ type: 'header', text: { type: 'plain_text', text } }]

const read = (event: Fields, known: Partial<InboundContext> = {}) => readEventBody({ event }, { ...context, ...known })
function eventOf(event: Fields, known: Partial<InboundContext> = {}) {
  const reading = read(event, known)
  if (reading.kind !== 'event') throw new Error(reading.why)
  return reading.event
}
const changed = (before: Fields | undefined, after: Fields, known: Partial<InboundContext> = {}) =>
  read(
    {
      ...{
        type: 'message',
        subtype: 'message_changed',
        channel: 'C1',
        channel_type: 'channel',
        ts: '1790000009.000100',
      },
      message: { ...message, ...after },
      ...(before && { previous_message: { ...message, ...before } }),
    },
    known,
  )

describe('the words of an app', () => {
  test('are no command, and call the bot by a real mention alone', () => {
    expect(eventOf({ ...message, ...app, text: '!status' })).toMatchObject({ kind: 'message', text: '!status' })
    const mention = { type: 'section', text: { type: 'mrkdwn', text: '<@U0BOT> look' } }
    expect(eventOf({ ...message, ...app, blocks: [mention] })).toMatchObject({
      mentioned: true,
      sender: { kind: 'bot', id: 'B77' },
    })
    expect(eventOf({ ...message, ...app, blocks: header('<@U0BOT> look') })).toMatchObject({ mentioned: false })
  })

  test('have blocks in place of the text, and as much of them as is bounded', () => {
    const blocks = Array.from({ length: 90 }, () => header('x'.repeat(150))[0])
    const { text } = eventOf({ ...message, ...app, text: 'fallback', blocks }) as { text: string }
    expect(text).toMatch(/^x{150}\nx[\s\S]*x… \(1589 more characters, not shown\)$/)
    expect(text.indexOf('…')).toBe(12_000)
  })

  test('have a block of Markdown as long as the platform takes it', () => {
    const text = `${'x'.repeat(11_990)}the end`
    expect(eventOf({ ...message, ...app, blocks: [{ type: 'markdown', text }] })).toMatchObject({ text })
  })

  test.each<[string, object]>([
    ['the name of an app', { ...app, username: {}, bot_profile: { name: 7 } }],
    ['the author of a shared message', { attachments: [{ is_share: true, text: 'theirs', author_name: {} }] }],
    ['an attachment, a block and a file', { attachments: [null, 7], blocks: [null, 7], files: [null, { id: 7 }] }],
    ['the name of a person', { user_profile: { display_name: {}, real_name: 7 } }],
  ])('of a kind that %s never has are left out, and the rest of the message is read', (_, fields) => {
    expect(eventOf({ ...message, ...fields, text: 'hello' })).toMatchObject({ text: 'hello' })
  })

  test('that lie very deep are left out, and stop nothing', () => {
    const deep = Array.from({ length: 200 }).reduce<object>((inside) => ({ type: 'box', blocks: [inside] }), {})
    expect(eventOf({ ...message, ...app, blocks: [deep, ...header('here')] })).toMatchObject({ text: 'here' })
  })
})

describe('a post through an app with the token of a person', () => {
  const post = { ...message, bot_id: 'B77', app_id: 'A77', text: '!status' }
  const person = { senderIsPerson: true, senderName: 'Ada' }

  test('is theirs where the platform says that the user is a person', () => {
    expect(eventOf(post, person)).toMatchObject({
      kind: 'command',
      name: 'status',
      sender: { id: 'U333', kind: 'user', displayName: 'Ada' },
    })
    expect(eventOf({ ...post, text: '<@U0BOT> hi' }, person)).toMatchObject({ mentioned: true })
  })

  test('stays the app’s where it says that it is a bot’s, or where nobody could be asked', () => {
    expect(eventOf({ ...post, subtype: 'bot_message', username: 'ci' }, person)).toMatchObject({
      kind: 'message',
      sender: { kind: 'bot', displayName: 'ci' },
    })
    expect(eventOf(post)).toMatchObject({ kind: 'message', sender: { kind: 'bot' } })
  })

  test('is ours where it came through our own app', () => {
    expect(read({ ...post, bot_id: 'B01' }, person)).toEqual({ kind: 'dropped', why: 'own_message' })
  })
})

describe('Slackbot', () => {
  test('speaks as an app, whoever the message names, and gives no commands', () => {
    const slackbot = { id: 'USLACKBOT', kind: 'bot', team: 'T01', displayName: 'Slackbot' }
    const known = { senderIsPerson: true, senderName: 'Ada' }
    for (const fields of [{ user: 'USLACKBOT' }, { subtype: 'reminder_add' }])
      expect(eventOf({ ...message, ...fields, text: '!status' }, known)).toMatchObject({
        kind: 'message',
        sender: slackbot,
      })
  })
})

describe('what is an edit', () => {
  const edit = { kind: 'event', event: { kind: 'edit' } }
  const none = { kind: 'dropped', why: 'message:unchanged' }

  test.each<[string, Fields | undefined, Fields, object]>([
    [
      'an alert whose attachment alone changes',
      { ...app, attachments: [{ text: 'firing' }] },
      { ...app, attachments: [{ text: 'resolved' }] },
      edit,
    ],
    [
      'an alert whose blocks alone change',
      { ...app, blocks: header('firing') },
      { ...app, blocks: header('ok') },
      edit,
    ],
    [
      'an alert of which only the fallback changes',
      { ...app, blocks: header('x') },
      { ...app, blocks: header('x'), text: 'y' },
      none,
    ],
    ['a preview that appears', {}, { attachments: [{ from_url: 'https://x.example', text: 'words' }] }, none],
    ['a preview of a message that appears', {}, { attachments: [{ is_msg_unfurl: true, text: 'words' }] }, none],
    ['a reply in the thread', {}, { reply_count: 1, latest_reply: '1790000001.000100' }, none],
    ['a transcript that appears', {}, { files: [{ id: 'F1', transcription: { preview: { content: 'hm' } } }] }, none],
    ['a text without the mark of an edit', { text: 'old' }, { text: 'new' }, edit],
    ['a text with the mark that says the same', {}, { edited: { user: 'U333', ts: '1790000001.000100' } }, none],
    [
      'a marked one whose earlier text is not named',
      undefined,
      { edited: { user: 'U333', ts: '1790000001.000100' } },
      edit,
    ],
    ['an unmarked one whose earlier text is not named', undefined, {}, none],
    ['a huddle that ends', { user: 'USLACKBOT', room: {} }, { user: 'USLACKBOT', room: { has_ended: true } }, edit],
  ])('%s', (_, before, after, outcome) => {
    expect(changed(before, after)).toMatchObject(outcome)
  })

  test('a mention that comes once more because it was edited has the key of the first', () => {
    const mention = { ...message, type: 'app_mention', text: '<@U0BOT> hi' }
    const again = { ...mention, text: '<@U0BOT> hi there', edited: { user: 'U333', ts: '1790000001.000100' } }
    expect(eventOf(again).eventKey).toBe(eventOf(mention).eventKey)
  })
})

describe('names', () => {
  const names = {
    people: new Map([['U444', { name: 'Bob [app: x]', username: 'bob' }]]),
    places: new Map([['C7', 'office']]),
  }

  test('whom a message names is kept with the name of the account, the bot and what is passed on left out', () => {
    const share = { is_share: true, text: 'for <@U777|cy>' }
    const text = '<@U0BOT> ask <@U444> and <@U444> in <#C7> or <!subteam^S1|@crew>'
    expect(eventOf({ ...message, text, attachments: [share] }, { names })).toMatchObject({
      text: '@parley ask @Bob app x and @Bob app x in #office or @crew',
      mentioned: true,
      mentionsOthers: true,
      mentions: [
        { kind: 'person', name: 'Bob app x', username: 'bob' },
        { kind: 'place', name: 'office' },
        { kind: 'group', name: 'crew' },
      ],
      forwarded: { text: 'for @cy' },
    })
  })

  test('a command keeps the ids in its arguments', () => {
    expect(eventOf({ ...message, text: '<@U0BOT> !new <@U444> ~x~' }, { names })).toMatchObject({
      kind: 'command',
      args: '<@U444> ~x~',
      text: '@parley !new @Bob app x ~~x~~',
    })
  })
})

describe('a channel that gets a new id', () => {
  const event = {
    type: 'channel_id_changed',
    old_channel_id: 'G1',
    new_channel_id: 'C9',
    event_ts: '1790000000.000100',
  }

  test('is moved, under one key however often it is said', () => {
    expect(eventOf(event)).toMatchObject({
      kind: 'migration',
      address: { chatType: 'channel', chat: 'G1', space: { id: 'T01' } },
      to: { chatType: 'channel', chat: 'C9', space: { id: 'T01' } },
    })
    expect(eventOf({ ...event, event_ts: '1790000009.000100' }).eventKey).toBe(eventOf(event).eventKey)
  })

  test.each([{ old_channel_id: 5 }, { new_channel_id: undefined }, { event_ts: 'soon' }])(
    'F-G01: not by %o',
    (fields) => {
      expect(read({ ...event, ...fields })).toEqual({ kind: 'dropped', why: 'malformed:channel_id_changed' })
    },
  )
})
