import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Posts } from '../../../adapters/telegram/inbound/known-threads.ts'
import { readUpdate } from '../../../adapters/telegram/inbound/read-event.ts'
import type { InboundText } from '../../../src/core/message.ts'
import { messageFields } from '../../../src/rehearsal/telegram/api-types.ts'
import { context } from './inbound-context.ts'

const ADA = { id: 111, is_bot: false, first_name: 'Ada', last_name: 'Lovelace', username: 'ada' }
const BOB = { id: 222, is_bot: false, first_name: 'Bob' }
const GRAFANA = { id: 900, is_bot: true, first_name: 'Grafana', username: 'grafana_bot' }
const NEWS = { id: -1001555000111, type: 'channel', title: 'News', username: 'news' }
const GROUP = { id: -1001234567890, type: 'supergroup', title: 'Club' }
const DIRECT = { id: 111, type: 'private', first_name: 'Ada' }
const FRAME = { message_id: 50, date: 1_795_000_000, chat: DIRECT, from: ADA }

/** Returns what a message becomes, or why it is dropped. */
function read(fields: object, kind = 'message'): InboundText | string {
  const reading = readUpdate({ update_id: 1, [kind]: { ...FRAME, ...fields } }, context)
  if (reading.kind === 'dropped') return reading.why
  return 'text' in reading.event ? reading.event : reading.event.kind
}

function textOf(fields: object): InboundText {
  const event = read(fields)
  if (typeof event === 'string') throw new Error(event)
  return event
}

const entry = (type: string, offset: number, length: number, more: object = {}) => ({ type, offset, length, ...more })
const gift = { sticker: { emoji: '🎁' }, star_count: 15 }
const list = {
  title: 'Shopping',
  tasks: [
    { id: 1, text: 'Milk', completed_by_user: BOB, completion_date: 1_795_000_000 },
    { id: 2, text: 'old Bread', text_entities: [entry('strikethrough', 0, 3)] },
  ],
}
const poll = {
  question: 'Lunch?',
  options: [
    { persistent_id: 'a', text: 'Pizza', voter_count: 2 },
    { persistent_id: 'b', text: 'Sushi', voter_count: 0 },
  ],
}
const place = { latitude: 1.5, longitude: 2 }

/** The lines that each kind becomes which is neither text nor file. */
const LINES: Readonly<Record<string, readonly (readonly [unknown, readonly string[]])[]>> = {
  location: [
    [place, ['location: 1.5, 2']],
    [{ ...place, live_period: 60 }, ['live location: 1.5, 2']],
    [{}, ['location']],
  ],
  venue: [[{ title: 'Bar', address: 'Road 1', location: place }, ['place: Bar, Road 1, 1.5, 2']]],
  contact: [
    [{ phone_number: '+1', first_name: 'Cy', last_name: 'Ng' }, ['contact: Cy Ng, +1']],
    [
      {
        phone_number: '+1',
        first_name: 'Cy',
        vcard: 'BEGIN:VCARD\r\nFN:Cy\r\nORG:Acme\\, Ltd;Ops\r\nitem1.EMAIL;type=WORK:cy@acme.example\r\nEND:VCARD',
      },
      ['contact: Cy, +1, Acme, Ltd, Ops, cy@acme.example'],
    ],
  ],
  poll: [
    [poll, ['poll: Lunch?, Pizza (2 votes) / Sushi']],
    [
      { ...poll, type: 'quiz', is_closed: true, correct_option_ids: [1], explanation: 'fish', description: 'today' },
      [
        'poll: Lunch?, Pizza (2 votes) / Sushi (right)',
        'description of the poll: today',
        'explanation of the answer: fish',
        'the poll is: quiz and closed',
      ],
    ],
  ],
  dice: [[{ emoji: '🎲', value: 4 }, ['die: 🎲, 4']]],
  checklist: [[list, ['checklist: Shopping, 1. Milk (done by Bob) / 2. ~~old~~ Bread']]],
  checklist_tasks_done: [
    [
      { checklist_message: { checklist: list }, marked_as_done_task_ids: [1], marked_as_not_done_task_ids: [2, 9] },
      ['tasks done: Shopping, Milk', 'tasks not done any more: Shopping, ~~old~~ Bread / task 9'],
    ],
    [{ marked_as_done_task_ids: [1] }, ['tasks done: task 1']],
  ],
  checklist_tasks_added: [[{ tasks: [{ id: 3, text: 'Eggs' }] }, ['tasks added: Eggs']]],
  poll_option_added: [[{ option_text: 'Ramen' }, ['option added to the poll: Ramen']]],
  poll_option_deleted: [[{ option_text: 'Ramen' }, ['option taken out of the poll: Ramen']]],
  game: [[{ title: 'Snake', description: 'Eat', text: 'Ada: 3' }, ['game: Snake, Eat, Ada: 3']]],
  story: [
    [{ chat: ADA, id: 3 }, ['story: of Ada Lovelace']],
    [{ id: 3 }, ['story']],
  ],
  paid_media: [
    [
      { star_count: 5, paid_media: [{ type: 'preview', duration: 9 }, { type: 'live_photo' }] },
      ['paid media: 5 stars, preview of 9 s / live photo'],
    ],
  ],
  invoice: [
    [{ title: 'Tea', description: 'green', currency: 'EUR', total_amount: 550 }, ['invoice: Tea, green, 5.50 EUR']],
    [{ title: 'Tea', description: 'green', currency: 'JPY', total_amount: 550 }, ['invoice: Tea, green, 550 JPY']],
  ],
  successful_payment: [[{ currency: 'XTR', total_amount: 1 }, ['payment: 1 star']]],
  refunded_payment: [[{ currency: 'USD', total_amount: 5 }, ['payment given back: 0.05 USD']]],
  gift: [
    [
      { gift, text: 'with love', entities: [entry('spoiler', 5, 4)] },
      ['gift: 🎁, 15 stars, with the words: with ||love||'],
    ],
    [{}, ['gift']],
  ],
  gift_upgrade_sent: [[{ gift }, ['upgrade of a gift: 🎁, 15 stars']]],
  unique_gift: [
    [
      {
        gift: {
          base_name: 'Pepe',
          number: 7,
          model: { name: 'Gold' },
          symbol: { name: 'Bow' },
          backdrop: { name: 'Sea' },
        },
      },
      ['unique gift: Pepe #7, Gold, Bow, Sea'],
    ],
  ],
  giveaway: [
    [
      { chats: [NEWS], winner_count: 3, winners_selection_date: 1_795_000_000, prize_description: 'a cup' },
      ['giveaway: News, 3 winners, 2026-11-18T11:06Z, a cup'],
    ],
  ],
  giveaway_winners: [[{ winners: [ADA, BOB], winner_count: 2 }, ['winners of a giveaway: 2, Ada Lovelace / Bob']]],
  users_shared: [
    [{ users: [{ user_id: 5, first_name: 'Cy', username: 'cy' }, { user_id: 6 }] }, ['people shared: Cy (@cy) / id 6']],
  ],
  chat_shared: [[{ chat_id: -5, title: 'Rowing' }, ['chat shared: Rowing']]],
  web_app_data: [[{ button_text: 'Order', data: '{"a":1}' }, ['data of a web app: Order, {"a":1}']]],
  passport_data: [[{ data: [], credentials: {} }, ['identity documents, which are not shown']]],
  proximity_alert_triggered: [
    [{ traveler: ADA, watcher: BOB, distance: 50 }, ['proximity alert: Ada Lovelace, within 50 m of Bob']],
  ],
  suggested_post_approved: [
    [
      { send_date: 1_795_000_000, price: { currency: 'XTR', amount: 5 }, suggested_post_message: { text: 'buy' } },
      ['suggested post approved: 5 stars, 2026-11-18T11:06Z, buy'],
    ],
  ],
  suggested_post_approval_failed: [[{}, ['suggested post not approved: too few stars']]],
  suggested_post_declined: [[{ comment: 'no' }, ['suggested post declined: no']]],
  suggested_post_paid: [[{ currency: 'TON', amount: 1_500_000_000 }, ['suggested post paid: 1.50 TON']]],
  suggested_post_refunded: [[{ reason: 'post_deleted' }, ['suggested post paid back: post deleted']]],
}

const photo = [{ file_id: 'p', width: 2, height: 2 }]
const file = { file_id: 'f' }

/** The file that each kind becomes. */
const FILES: Readonly<Record<string, readonly (readonly [object, readonly object[]])[]>> = {
  photo: [
    [{ photo: [{ file_id: 's', width: 1, height: 1 }, ...photo] }, [{ ref: 'p', kind: 'photo', mime: 'image/jpeg' }]],
  ],
  live_photo: [
    [{ live_photo: { ...file, photo } }, [{ ref: 'p', kind: 'photo', mime: 'image/jpeg' }]],
    [{ live_photo: { ...file, duration: 3 } }, [{ ref: 'f', kind: 'video', about: '3 s' }]],
  ],
  animation: [[{ animation: file, document: { file_id: 'd' } }, [{ ref: 'f', kind: 'animation' }]]],
  document: [[{ document: { ...file, file_name: 'a.pdf' } }, [{ ref: 'f', kind: 'document', fileName: 'a.pdf' }]]],
  video: [[{ video: { ...file, duration: 9 } }, [{ ref: 'f', kind: 'video', about: '9 s' }]]],
  video_note: [[{ video_note: file }, [{ ref: 'f', kind: 'video' }]]],
  audio: [[{ audio: { ...file, performer: 'P', title: 'T' } }, [{ ref: 'f', kind: 'audio', about: 'P, T' }]]],
  voice: [[{ voice: { ...file, duration: 2 } }, [{ ref: 'f', kind: 'voice', about: '2 s' }]]],
  sticker: [
    [{ sticker: { ...file, emoji: '🐙', set_name: 'Sea' } }, [{ ref: 'f', kind: 'sticker', about: '🐙, set Sea' }]],
  ],
  paid_media: [
    [
      {
        paid_media: {
          star_count: 1,
          paid_media: [
            { type: 'photo', photo },
            { type: 'video', video: file },
          ],
        },
      },
      [
        { ref: 'p', kind: 'photo', mime: 'image/jpeg' },
        { ref: 'f', kind: 'video' },
      ],
    ],
  ],
  rich_message: [
    [
      { rich_message: { blocks: [{ type: 'list', items: [{ blocks: [{ type: 'voice_note', voice_note: file }] }] }] } },
      [{ ref: 'f', kind: 'voice' }],
    ],
  ],
}

/** The rows of the table of kinds: the fields of each, and what of it is shown. */
const ROWS = readFileSync(new URL('../../../adapters/telegram/FACTS.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((row) => /^\| `/.test(row))
  .map((row) => row.split(' | '))
  .map(([fields = '', shown = '']) => ({
    fields: [...fields.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
    shown,
  }))

describe('the table of kinds', () => {
  it('has each field of a message once', () => {
    const listed = ROWS.flatMap(({ fields }) => fields)
    expect(messageFields.filter((name) => !listed.includes(name))).toEqual([])
    expect(listed.filter((name, at) => listed.indexOf(name) !== at || !messageFields.includes(name))).toEqual([])
  })

  it('has a sample here for each kind that is a line or a file', () => {
    const named = (shown: RegExp) => ROWS.filter((row) => shown.test(row.shown)).flatMap(({ fields }) => fields)
    expect(named(/^a line/).sort()).toEqual(Object.keys(LINES).sort())
    expect(named(/^a file/).sort()).toEqual(
      Object.keys(FILES)
        .filter((kind) => !/_me/.test(kind))
        .sort(),
    )
  })
})

describe('a message', () => {
  it.each(
    Object.entries(LINES).flatMap(([kind, samples]) => samples.map(([value, lines]) => [kind, value, lines] as const)),
  )('with %s %j is its lines', (kind, value, lines) => {
    expect(textOf({ [kind]: value })).toMatchObject({ kind: 'message', text: '', enclosed: lines })
    expect(
      textOf({ text: 'and?', reply_to_message: { ...FRAME, message_id: 9, from: BOB, [kind]: value } }),
    ).toMatchObject({
      quoted: { text: lines.join('\n') },
    })
  })

  it.each(
    Object.entries(FILES).flatMap(([kind, samples]) =>
      samples.map(([fields, files]) => [kind, fields, files] as const),
    ),
  )('with %s %j is its file', (_, fields, files) => {
    expect(textOf(fields).attachments).toEqual(files)
    const quoting = { text: 'and?', reply_to_message: { ...FRAME, message_id: 9, from: BOB, ...fields } }
    expect(textOf(quoting).attachments).toMatchObject(
      files.map((one) => ({ ref: 'ref' in one && one.ref, quoted: true })),
    )
  })

  const notices = ROWS.filter(({ shown }) => shown.startsWith('nothing: a notice')).flatMap(({ fields }) => fields)
  it.each(notices)('with %s alone is nothing, and words where somebody replies to it', (kind) => {
    expect(read({ chat: GROUP, [kind]: {} })).toMatch(/^(?:message:|departure|migration|malformed)/)
    if (kind === 'forum_topic_created') return
    const quoted = { ...FRAME, chat: GROUP, message_id: 9, [kind]: {} }
    expect(textOf({ chat: GROUP, text: 'why?', reply_to_message: quoted }).quoted?.text).toMatch(/\w/)
  })

  const frame = ROWS.filter(({ shown }) => shown.startsWith('how it came')).flatMap(({ fields }) => fields)
  it.each(frame)('with %s is not of that kind', (field) => {
    const value = FRAME[field as keyof typeof FRAME] ?? 'x'
    const event = read({ dice: { emoji: '🎲', value: 1 }, [field]: value })
    if (typeof event === 'string') expect(event).toMatch(/malformed|ephemeral/)
    else expect(event.enclosed).toEqual(['die: 🎲, 1'])
  })

  it.each<[string, object, string]>([
    ['a kind that came later', { hologram: {} }, 'a message that cannot be shown here: hologram'],
    ['a kind of an odd name', { 'Holo [gram]': {} }, 'a message that cannot be shown here: other'],
    ['nothing that this server knows', {}, 'a message that cannot be shown here'],
    [
      'a kind that came later beside an effect',
      { effect_id: '5', hologram: {} },
      'a message that cannot be shown here: hologram',
    ],
  ])('of %s is named', (_, fields, line) => {
    expect(textOf(fields)).toMatchObject({ kind: 'message', text: '', enclosed: [line] })
    expect(textOf({ ...fields, chat: GROUP })).toMatchObject({ enclosed: [line], mentioned: false })
  })

  it('with a list that is longer than a line goes on in the next ones', () => {
    const tasks = Array.from({ length: 30 }, (_, at) => ({ id: at, text: `${'x'.repeat(90)}${at}` }))
    const lines = textOf({ checklist: { title: 'T', tasks } }).enclosed ?? []
    expect(lines).toHaveLength(8)
    expect(lines.at(-1)).toMatch(/^checklist \(more\): .*30\. x+29$/)
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(500)
  })

  it('with a list that is longer than all its lines says how many items are left out', () => {
    const users = Array.from({ length: 80 }, (_, at) => ({ user_id: at, first_name: `${'x'.repeat(97)}${at}` }))
    const lines = textOf({ users_shared: { users } }).enclosed ?? []
    expect(lines).toHaveLength(12)
    expect(lines.at(-1)).toMatch(/x47 \/ and 32 more$/)
  })

  it('of a place that comes with its location as well, as the platform sends it, is one line', () => {
    const venue = { title: 'Bar', address: 'Road 1', location: place }
    expect(textOf({ venue, location: place }).enclosed).toEqual(['place: Bar, Road 1, 1.5, 2'])
    const original = { external_reply: { origin: { type: 'hidden_user', date: 1 }, venue, location: place } }
    expect(textOf({ text: 'a', ...original }).enclosed).toContain('place: Bar, Road 1, 1.5, 2')
    expect(textOf({ text: 'a', ...original }).enclosed).toHaveLength(2)
  })

  it.each([null, 7, 'x', [], [[]], { tasks: 7, options: {}, chats: [7], users: [null], gift: 1 }])(
    'F-G01: with kinds that are %j is named',
    (value) => {
      for (const kind of Object.keys(LINES))
        expect(read({ text: 'a', [kind]: value }), kind).toMatchObject({ text: 'a' })
    },
  )
})

describe('words and whose they are', () => {
  const link = (text: string, word: string, url: string) => [
    entry('text_link', text.indexOf(word), word.length, { url }),
  ]
  const url = 'https://example.com/a'

  it.each<[string, object]>([
    ['a text', { text: 'see docs', entities: link('see docs', 'docs', url) }],
    ['a caption', { photo, caption: 'see docs', caption_entities: link('see docs', 'docs', url) }],
    [
      'a rich message',
      { rich_message: { blocks: [{ type: 'paragraph', text: ['see ', { type: 'url', text: 'docs', url }] }] } },
    ],
    [
      'a rich message with a text in its place',
      {
        text: 'Full answer',
        entities: [entry('bold', 0, 4)],
        rich_message: { blocks: [{ type: 'paragraph', text: ['see ', { type: 'url', text: 'docs', url }] }] },
      },
    ],
    [
      'a text beside blocks in which nothing can be read',
      { text: 'see docs', entities: link('see docs', 'docs', url), rich_message: { blocks: [{ type: 'hologram' }] } },
    ],
  ])('the address behind a word stands in %s, also forwarded, quoted and edited', (_, fields) => {
    const words = `see docs (${url})`
    expect(textOf(fields).text).toBe(words)
    const origin = { type: 'channel', date: 1, chat: NEWS, message_id: 7, author_signature: 'Cy' }
    expect(textOf({ ...fields, forward_origin: origin })).toMatchObject({
      ...{ text: words, forwarded: { from: { id: String(NEWS.id), displayName: 'News (Cy)' } } },
    })
    expect(textOf({ text: 'what?', reply_to_message: { ...FRAME, from: BOB, ...fields } }).quoted?.text).toBe(words)
    expect(read({ ...fields, edit_date: 1_795_000_100 }, 'edited_message')).toMatchObject({ kind: 'edit', text: words })
  })

  it('the picked part of a message is quoted with its marks', () => {
    const quote = { text: 'old', position: 3, is_manual: true, entities: [entry('strikethrough', 0, 3)] }
    const original = { ...FRAME, message_id: 9, from: BOB, text: 'an old thing' }
    expect(textOf({ text: 'why?', quote, reply_to_message: original }).quoted).toMatchObject({
      messageId: '9',
      text: '~~old~~',
    })
  })

  const origin = { type: 'channel', date: 1, chat: NEWS, message_id: 7 }
  it.each<[string, object, string | undefined, readonly string[]]>([
    [
      'its quoted words',
      { external_reply: { origin, chat: NEWS, message_id: 7 }, quote: { text: 'disk full', position: 0 } },
      'disk full',
      ['answer to a message of News elsewhere'],
    ],
    [
      'a poll',
      { external_reply: { origin, poll } },
      undefined,
      ['answer to a message of News elsewhere', 'poll: Lunch?, Pizza (2 votes) / Sushi'],
    ],
    [
      'the address of its preview',
      { external_reply: { origin, link_preview_options: { url } } },
      undefined,
      ['answer to a message of News elsewhere', `preview of: ${url}`],
    ],
    [
      'a writer who hides, and no words',
      { external_reply: { origin: { type: 'hidden_user', date: 1, sender_user_name: 'Cy' } } },
      undefined,
      ['answer to a message of Cy elsewhere'],
    ],
    ['nothing', { external_reply: {} }, undefined, ['answer to a message elsewhere']],
  ])('the answer to a message of another chat has %s', (_, fields, text, enclosed) => {
    const given = text === undefined ? {} : { forwarded: { from: { displayName: 'News' }, text } }
    const asked = textOf({ text: 'what does it mean?', ...fields })
    expect(asked).toMatchObject({ text: 'what does it mean?', enclosed, ...given })
    expect('forwarded' in asked).toBe(text !== undefined)
    expect(textOf({ photo, ...fields })).toMatchObject({ text: '', enclosed, ...given })
  })

  it('words of a message replied to which its sender need not have written are marked', () => {
    const original = { ...FRAME, message_id: 9, text: 'a' }
    const quoted = (fields: object) => textOf({ text: 'x', reply_to_message: { ...original, ...fields } }).quoted
    expect(quoted({})).not.toHaveProperty('mixed')
    expect(quoted({ text: undefined, poll })).toMatchObject({ mixed: true })
    expect(quoted({ text: undefined, gift: { gift, text: 'x' } })).toMatchObject({ mixed: true })
  })

  it('the name of whoever is meant by a word is one line within bounds', () => {
    const user = { id: 9, first_name: `[Ada]\n${'x'.repeat(100)}` }
    const entities = [entry('text_mention', 4, 3, { user })]
    expect(textOf({ text: 'ask him', entities }).text).toMatch(/^ask him \(Ada x{40,64}…?\)$/)
  })

  it('the files of a message of another chat come along as shared', () => {
    const event = textOf({
      text: 'see',
      external_reply: { origin, document: file },
      quote: { text: 'log', position: 0 },
    })
    expect(event.attachments).toEqual([{ ref: 'f', kind: 'document', shared: true }])
  })

  it.each<[string, object, readonly string[]]>([
    ['a story', { text: 'nice', reply_to_story: { chat: ADA, id: 3 } }, ['reply to a story: of Ada Lovelace']],
    [
      'a task of a list',
      { text: 'done?', reply_to_checklist_task_id: 1, reply_to_message: { ...FRAME, checklist: list } },
      ['about the task: Milk (done by Bob)'],
    ],
    [
      'an option of a poll',
      { text: 'why?', reply_to_poll_option_id: 'b', reply_to_message: { ...FRAME, poll } },
      ['about the option: Sushi'],
    ],
    ['an address that is in no word', { text: 'look', link_preview_options: { url } }, [`preview of: ${url}`]],
  ])('an answer to %s says so', (_, fields, lines) => {
    expect(textOf(fields).enclosed).toEqual(lines)
  })

  it('an address that the words have is not named twice', () => {
    expect(textOf({ text: `see ${url}`, link_preview_options: { url } }).enclosed).toBeUndefined()
    expect(
      textOf({ text: 'see docs', entities: link('see docs', 'docs', url), link_preview_options: { url } }).enclosed,
    ).toBeUndefined()
  })

  it('the buttons of an app are part of what it says, live, quoted and forwarded', () => {
    const markup = {
      reply_markup: { inline_keyboard: [[{ text: 'Graph', url }], [{ text: 'Mute', callback_data: 'm' }]] },
    }
    const buttons = `buttons: Graph (${url}) / Mute`
    expect(textOf({ chat: GROUP, from: GRAFANA, text: 'disk full', ...markup })).toMatchObject({
      ...{ sender: { kind: 'bot' }, enclosed: [buttons] },
    })
    expect(
      textOf({ text: 'x', forward_origin: { type: 'user', date: 1, sender_user: GRAFANA }, ...markup }).enclosed,
    ).toEqual([buttons])
    const original = { ...FRAME, chat: GROUP, from: GRAFANA, text: 'disk full', ...markup }
    expect(textOf({ chat: GROUP, text: 'what?', reply_to_message: original }).quoted).toMatchObject({
      ...{ text: `disk full\n${buttons}`, sender: { kind: 'bot', displayName: 'Grafana' } },
    })
  })

  it('mentions are named, without this bot, also in what is passed on', () => {
    const text = '@parley_bot ask @cy or Ada'
    const entities = [entry('mention', 0, 11), entry('mention', 16, 3), entry('text_mention', 23, 3, { user: ADA })]
    const mentions = [
      { kind: 'person', username: 'cy' },
      { kind: 'person', name: 'Ada Lovelace', username: 'ada' },
    ]
    expect(textOf({ chat: GROUP, text, entities })).toMatchObject({ mentioned: true, mentionsOthers: true, mentions })
    expect(
      textOf({ chat: GROUP, text, entities, forward_origin: { type: 'user', date: 1, sender_user: BOB } }),
    ).toMatchObject({
      ...{ mentioned: false, mentionsOthers: false, mentions },
    })
  })

  it.each<[string, object, string]>([
    ['an anonymous admin with a title', { sender_chat: GROUP, author_signature: 'Captain' }, 'Club (Captain)'],
    ['a channel that signs', { chat: NEWS, sender_chat: NEWS, from: undefined, author_signature: 'Cy' }, 'News (Cy)'],
    ['a channel that does not', { sender_chat: NEWS }, 'News'],
  ])('%s has its name', (_, fields, displayName) => {
    expect(textOf({ chat: GROUP, text: 'x', ...fields }).sender).toMatchObject({ kind: 'anonymous', displayName })
  })
})

describe('an edit', () => {
  const edit = (fields: object) => read(fields, 'edited_message')

  it.each<[string, object, string]>([
    ['a first reaction, without a date', { text: 'a' }, 'edited_message:unedited'],
    [
      'a step of a live location',
      { location: { ...place, live_period: 60 }, edit_date: 1_795_000_100 },
      'edited_message:location',
    ],
    ['the end of one', { location: place, edit_date: 1_795_000_100 }, 'edited_message:location'],
    ['a vote', { poll, edit_date: 1_795_000_100 }, 'edited_message:poll'],
    ['a notice', { pinned_message: {}, edit_date: 1_795_000_100 }, 'message:pinned_message'],
  ])('that is %s is none', (_, fields, why) => {
    expect(edit(fields)).toBe(why)
  })
})

describe("a channel's post and its copy in the discussion group", () => {
  const post = { message_id: 7, date: 1_795_000_000, chat: NEWS, sender_chat: NEWS, from: undefined, text: 'news' }
  const origin = { type: 'channel', date: 1, chat: NEWS, message_id: 7 }
  const platform = { id: 777_000, is_bot: false, first_name: 'Telegram' }
  const copy = {
    ...post,
    message_id: 26,
    chat: GROUP,
    from: platform,
    is_automatic_forward: true,
    forward_origin: origin,
  }
  const keys = (kind: string, ...messages: readonly object[]) =>
    messages.map((message) => {
      const event = read(message, kind)
      return typeof event === 'string' ? event : event.eventKey
    })

  it.each<[string, object]>([
    ['with its mark', copy],
    ['without it', { ...copy, is_automatic_forward: undefined }],
    ['of an older server', { ...copy, forward_origin: undefined, forward_from_chat: NEWS, forward_from_message_id: 7 }],
  ])('have one key and one author, %s', (_, given) => {
    const [first, second] = [...keys('channel_post', post), ...keys('message', given)]
    expect(first).toBe(second)
    expect(textOf(given)).toMatchObject({
      text: 'news',
      copyOf: { chat: String(NEWS.id), messageId: '7' },
      sender: { displayName: 'News' },
    })
    expect(textOf(given)).not.toHaveProperty('forwarded')
  })

  it('have one key for each edit, which finds the original of either', () => {
    const edited = { text: 'new news', edit_date: 1_795_000_100 }
    const [first, second] = [
      ...keys('edited_channel_post', { ...post, ...edited }),
      ...keys('edited_message', { ...copy, ...edited, edit_date: 1_795_000_101 }),
    ]
    expect(first).toBe(second)
    expect(read({ ...copy, ...edited }, 'edited_message')).toMatchObject({ original: `7000001:message:7@${NEWS.id}` })
    expect(keys('edited_channel_post', { ...post, ...edited, text: 'newer' })).not.toEqual([first])
  })

  it('are two where the channel passes on the post of another one', () => {
    const other = { ...NEWS, id: -1001555000999 }
    expect(textOf({ ...copy, forward_origin: { ...origin, chat: other } })).not.toHaveProperty('copyOf')
  })

  it('are known to who comments: the words and their channel', () => {
    const comment = { chat: GROUP, text: 'why?', message_thread_id: 26, reply_to_message: copy }
    expect(textOf(comment).quoted).toMatchObject({ text: 'news', sender: { displayName: 'News' }, own: false })
    expect(textOf(comment).address).not.toHaveProperty('topic')
  })

  it('have all comments below them, known by the number of the post; other threads of a group have none above', () => {
    const posts = new Posts({ get: async () => undefined, set: async () => {} })
    for (const update of [undefined, 7, { message: {} }, { message: { ...FRAME, reply_to_message: copy } }])
      posts.note(update)
    const placeOf = (message: object) => {
      const reading = readUpdate(
        { update_id: 1, message: { ...FRAME, chat: GROUP, text: 'why?', ...message } },
        { ...context, posts },
      )
      return reading.kind === 'event' && 'address' in reading.event ? reading.event.address.post : 'none'
    }
    const other = { ...copy, message_id: 30, is_automatic_forward: undefined, from: ADA, sender_chat: undefined }
    expect(placeOf({ message_thread_id: 26, reply_to_message: { ...other, message_thread_id: 26 } })).toBe('26')
    expect(placeOf({ message_thread_id: 30, reply_to_message: other })).toBeUndefined()
    expect(placeOf(copy)).toBe('26')
  })
})
