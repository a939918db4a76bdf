import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { ChannelFacts } from '../../../adapters/discord/address.ts'
import { KnownNames } from '../../../adapters/discord/inbound/known-names.ts'
import { readMessage } from '../../../adapters/discord/inbound/read-event.ts'
import { toAccountId } from '../../../src/core/ids.ts'
import { type InboundText, LONGEST_ENCLOSED } from '../../../src/core/message.ts'

const [BOT, GUILD] = ['900', '100']
const channel: ChannelFacts = { id: '200', kind: 'channel', guildId: GUILD }
const direct: ChannelFacts = { id: '202', kind: 'direct' }
const ada = { id: '222', username: 'ada', global_name: 'Ada' }
const bob = { id: '444', username: 'bob', global_name: 'Bob', member: { nick: 'Bob the Boiler' } }
const alerts = { id: '70', username: 'Alerts', bot: true }
const parley = { id: BOT, username: 'parley', bot: true }

const names = new KnownNames()
names.take('GUILD_CREATE', {
  id: GUILD,
  roles: [
    { id: GUILD, name: '@everyone' },
    { id: '7', name: 'mods' },
  ],
  channels: [
    { id: '5', type: 0, name: 'engines' },
    { id: '6', type: 15, name: 'help' },
  ],
  threads: [{ id: '61', type: 11, name: 'It leaks', parent_id: '6' }],
})
names.take('GUILD_ROLE_CREATE', { guild_id: GUILD, role: { id: '8', name: 'Parley', tags: { bot_id: BOT } } })

const message = (changes: object) => ({
  ...{ id: '1573660185950420993', type: 0, channel_id: '200', guild_id: GUILD, author: ada, content: '' },
  ...{ mentions: [], mention_roles: [], mention_everyone: false, attachments: [], embeds: [], components: [] },
  ...changes,
})

function read(changes: object, place = channel): InboundText {
  const reading = readMessage(message(changes), {
    account: toAccountId(''),
    botId: BOT,
    place,
    names,
    commands: new Set(),
  })
  if (reading.kind !== 'event' || !('text' in reading.event)) throw new Error(JSON.stringify(reading))
  return reading.event
}

/** Returns what the model is given of a message beside its sender. */
const shown = (changes: object, place?: ChannelFacts) => {
  const { text, enclosed } = read(changes, place)
  return enclosed === undefined ? text : { text, enclosed }
}

const alert = {
  title: 'CPU high on web-1',
  url: 'https://mon.example/a/1',
  description: 'load is **9.2**, ask <@&7>',
  author: { name: 'Alertmanager', url: 'https://mon.example' },
  fields: [
    { name: 'Severity', value: 'critical', inline: true },
    { name: 'Runbook', value: '[steps](https://wiki.example/cpu_(high))' },
  ],
  footer: { text: 'since' },
  timestamp: '2026-11-21T12:00:00.000Z',
  image: { url: 'https://mon.example/chart.png', description: 'a rising line' },
}
const ALERT = [
  'Alertmanager (https://mon.example)',
  'CPU high on web-1 (https://mon.example/a/1)',
  'load is **9.2**, ask @mods',
  'Severity: critical',
  'Runbook: steps (https://wiki.example/cpu_(high))',
  'image: a rising line (https://mon.example/chart.png)',
  'since · 2026-11-21 12:00 UTC',
].join('\n')

/** The rows of the page of facts about message types: numbers, and whether the model is shown anything. */
const rows = readFileSync(new URL('../../../adapters/discord/FACTS.md', import.meta.url), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, numbers = '', shows] = /^\| ((?:\d+, )*\d+) [^|]*\| ([^|]+) \|$/.exec(line) ?? []
    return shows === undefined
      ? []
      : numbers.split(', ').map((type) => [Number(type), shows.startsWith('nothing')] as const)
  })

test('the page of facts has a row for each message type of the documentation', () => {
  const gaps = [13, 33, 34, 35, 40, 41, 42, 43, 45]
  const all = Array.from({ length: 47 }, (_, type) => type).filter((type) => !gaps.includes(type))
  expect(rows.map(([type]) => type).sort((a, b) => a - b)).toEqual([...all, 77])
})

test.each(rows)('a message of type %i shows nothing: %s', (type, isNothing) => {
  const reading = readMessage(message({ type, content: 'x' }), {
    account: toAccountId(''),
    botId: BOT,
    place: direct,
    commands: new Set(),
  })
  expect(reading.kind).toBe(isNothing ? 'dropped' : 'event')
})

describe('the words of an app', () => {
  test.each<[string, object, string]>([
    ['an embed, from top to bottom', { embeds: [alert] }, ALERT],
    ['content and two embeds', { content: 'firing', embeds: [{ title: 'a' }, { title: 'b' }] }, 'firing\na\nb'],
    [
      'rows of buttons and menus, with addresses',
      {
        content: 'deploy?',
        components: [
          {
            type: 1,
            components: [
              { type: 2, style: 3, label: 'Approve', custom_id: 'a' },
              { type: 2, style: 5, label: 'Open', url: 'https://ci.example/7' },
              { type: 2, style: 2, emoji: { id: null, name: '🔁' }, custom_id: 'r' },
            ],
          },
          {
            type: 1,
            components: [
              { type: 3, placeholder: 'Where?', options: [{ label: 'prod' }, { label: 'test', default: true }] },
            ],
          },
          { type: 1, components: [{ type: 5, placeholder: 'Who?' }] },
        ],
      },
      'deploy?\nbuttons: Approve / Open (https://ci.example/7) / 🔁\nmenu: Where?: prod / test (chosen)\nmenu: Who?',
    ],
    [
      'an embed with nothing but a picture',
      { embeds: [{ image: { url: 'https://ci.example/x.png' } }] },
      'image: https://ci.example/x.png',
    ],
    [
      'components of version 2, whose content and embeds are empty by rule',
      {
        flags: 32_768,
        components: [
          {
            type: 17,
            components: [
              { type: 10, content: '# Build 7 failed in <#5>' },
              { type: 14, divider: true },
              {
                type: 9,
                components: [{ type: 10, content: 'step: lint' }],
                accessory: { type: 11, media: { url: 'https://ci.example/x.png' }, description: 'a red cross' },
              },
              { type: 12, items: [{ media: { url: 'https://ci.example/y.png' }, description: 'the log' }] },
            ],
          },
        ],
      },
      '# Build 7 failed in #engines\nstep: lint\nimage: a red cross (https://ci.example/x.png)\nimage: the log (https://ci.example/y.png)',
    ],
    [
      'a component of a kind that does not exist yet',
      { components: [{ type: 77, label: 'Mood', components: [{ type: 10, content: 'fine' }] }] },
      'Mood\nfine',
    ],
  ])('are those of %s', (_, changes, text) => {
    expect(shown({ author: alerts, webhook_id: '70', ...changes })).toBe(text)
  })

  test('are those of an answer to a command, with whose command it was', () => {
    const interaction = { id: '1', type: 2, name: 'deploy', user: ada }
    const author = { id: '71', username: 'Deployer', bot: true }
    const answer = read({ type: 20, author, content: 'done', interaction })
    expect(answer).toMatchObject({ text: 'done', enclosed: ['the answer to /deploy of Ada'], mentioned: false })
    expect(answer.sender).toMatchObject({ kind: 'bot', username: 'Deployer' })
  })

  test('are whole where an embed has as many characters as the platform takes', () => {
    const fields = [{ name: 'Runbook', value: 'y'.repeat(1_024) }]
    const embed = { url: 'https://mon.example/a/1', title: 'CPU', description: 'x'.repeat(4_096), fields }
    const text = shown({
      author: alerts,
      content: 'c'.repeat(4_000),
      embeds: [{ ...embed, footer: { text: 'the end' } }],
    })
    expect(text).toMatch(/^c{4000}\nCPU \(https:\/\/mon.example\/a\/1\)\nx{4096}\nRunbook: y{1024}\nthe end$/)
  })

  test('say how many characters are left out where they are longer than 10,000', () => {
    const embeds = Array.from({ length: 3 }, () => ({ description: 'x'.repeat(4_000) }))
    expect(shown({ author: alerts, embeds })).toMatch(/x… \(2002 more characters, not shown\)$/)
  })

  test('are quoted where somebody replies to them', () => {
    const referenced_message = message({ author: alerts, webhook_id: '70', embeds: [alert] })
    const { quoted } = read({ type: 19, content: 'what failed?', referenced_message })
    expect(quoted).toMatchObject({ text: ALERT, own: false, sender: { kind: 'bot', username: 'Alerts' } })
  })

  test('name the files that are in an embed or a component alone', () => {
    const uploaded = 'https://cdn.discordapp.com/attachments/200/31/chart.png?ex=1'
    const components = [
      {
        type: 13,
        name: 'log.txt',
        size: 12,
        file: { url: 'https://cdn.x/f', attachment_id: '32', content_type: 'text/plain' },
      },
    ]
    const { attachments, text } = read({
      author: alerts,
      embeds: [{ title: 'a', image: { url: uploaded } }],
      components,
    })
    expect(text).toBe('a')
    expect(attachments).toEqual([
      { ref: '200/1573660185950420993/31', fileName: 'chart.png' },
      { ref: '200/1573660185950420993/32', fileName: 'log.txt', mime: 'text/plain', size: 12 },
    ])
  })
})

describe('what comes with the text of a person', () => {
  const page = {
    type: 'article',
    url: 'https://news.example/1',
    title: 'Rain',
    description: 'more of it',
    provider: { name: 'News' },
  }
  const answers = [
    { answer_id: 1, poll_media: { text: 'Pizza', emoji: { id: null, name: '🍕' } } },
    { answer_id: 2, poll_media: { emoji: { id: '9', name: 'leek' } } },
  ]
  const results = { is_finalized: true, answer_counts: [{ id: 1, count: 3, me_voted: false }] }
  const victor = [
    ['poll_question_text', 'Lunch?'],
    ['victor_answer_votes', '3'],
    ['total_votes', '4'],
    ['victor_answer_text', 'Pizza'],
    ['victor_answer_emoji_name', '🍕'],
  ].map(([name, value]) => ({ name, value }))
  const blocked = [
    { name: 'rule_name', value: 'No spam' },
    { name: 'keyword', value: 'cheap' },
  ]

  test.each<[string, object, readonly string[]]>([
    ['the preview of a page', { embeds: [page] }, ['preview of https://news.example/1: News. Rain. more of it']],
    [
      'the fields in the preview of a page',
      { embeds: [{ ...page, fields: [{ name: 'State', value: 'open' }, { name: 'Likes', value: '3' }, 7] }] },
      ['preview of https://news.example/1: News. Rain. more of it. State: open. Likes: 3'],
    ],
    ['a picture behind an address', { content: 'x', embeds: [{ type: 'image', url: 'https://a/b.png' }] }, []],
    ['a GIF', { embeds: [{ type: 'gifv', url: 'https://tenor.example/cat' }] }, ['GIF: https://tenor.example/cat']],
    ['stickers', { sticker_items: [{ id: '1', name: 'Wave', format_type: 1 }] }, ['sticker: Wave']],
    ['stickers as older servers say them', { stickers: [{ id: '1', name: 'Wave' }] }, ['sticker: Wave']],
    ['a poll', { poll: { question: { text: 'Lunch?' }, answers } }, ['poll: Lunch?, 🍕 Pizza / :leek:']],
    [
      'a poll that has ended',
      { poll: { question: { text: 'Lunch?' }, answers, results } },
      ['poll: Lunch?, 🍕 Pizza (3) / :leek: (0), ended'],
    ],
    [
      'the result of a poll',
      { type: 46, embeds: [{ type: 'poll_result', fields: victor }] },
      ['result of the poll: Lunch?, 🍕 Pizza (3 of 4 votes)'],
    ],
    [
      'a text that was blocked',
      {
        type: 24,
        embeds: [{ type: 'auto_moderation_message', description: 'cheap <@444>', fields: blocked }],
        mentions: [bob],
      },
      ['blocked by AutoMod (rule: No spam): cheap @Bob the Boiler'],
    ],
    [
      'an invitation',
      { activity: { type: 3, party_id: 'spotify:1' }, application: { id: '1', name: 'Spotify' } },
      ['an invitation to listen along: Spotify'],
    ],
    [
      'a thing that is named by its field',
      { shared_client_theme: { colors: [] } },
      ['a message that cannot be shown here: shared_client_theme'],
    ],
    ['nothing that is known', {}, ['a message that cannot be shown here']],
    [
      'a type that does not exist yet',
      { type: 77, content: 'a new thing', mentions: [parley] },
      ['a message that cannot be shown here: message type 77: a new thing'],
    ],
  ])('%s is in lines of nobody', (_, changes, enclosed) => {
    const event = read(changes)
    expect(event.enclosed ?? []).toEqual(enclosed)
    expect(event).toMatchObject({ mentioned: false, sender: { id: '222', kind: 'user' } })
    expect(read(changes, direct).enclosed ?? []).toEqual(enclosed)
  })

  test('a picture has its description, a recording its length behind it', () => {
    const file = { id: '9', filename: 'a.png', size: 5, description: 'a boiler' }
    const voice = { id: '9', filename: 'v.ogg', size: 5, content_type: 'audio/ogg', duration_secs: 4.2, waveform: 'AA' }
    expect(read({ attachments: [file] }).attachments).toMatchObject([{ about: 'a boiler' }])
    expect(read({ flags: 8192, attachments: [voice] }).attachments).toMatchObject([{ kind: 'voice', about: '4 s' }])
  })

  test.each([
    ['2026_3.pdf', '2026년 3분기 보고서', '2026년 3분기 보고서.pdf'],
    ['_.PDF', 'Übersicht.pdf', 'Übersicht.pdf'],
    ['unknown', 'Bücher 1.5', 'Bücher 1.5'],
    ['a.png', '', 'a.png'],
    ['a.png', 7, 'a.png'],
    ['a.png', undefined, 'a.png'],
  ])('a file %j with the title %j is named %j, also where it is answered or forwarded', (filename, title, fileName) => {
    const attachments = [{ id: '9', filename, title, size: 5 }]
    expect(read({ attachments }).attachments).toMatchObject([{ fileName }])
    const original = { ...message({ attachments, author: bob }), id: '1573660185950420000' }
    expect(read({ type: 19, referenced_message: original }).attachments).toMatchObject([{ fileName }])
    const forward = { message_reference: { type: 1 }, message_snapshots: [{ message: { attachments } }] }
    expect(read(forward).attachments).toMatchObject([{ fileName }])
  })
})

describe('a part that is not what it should be', () => {
  const good = { id: '30', filename: 'a.txt' }
  test.each<[string, object]>([
    ['no file, beside a file', { attachments: [null, 7, good, {}, { id: [], filename: 'b' }] }],
    ['no list of mentions', { attachments: [good], mentions: [null, 7, {}], mention_roles: 7 }],
    ['no message that is replied to', { type: 19, attachments: [good], referenced_message: { id: [] } }],
    ['no author of it', { type: 19, attachments: [good], referenced_message: { id: '5', author: null } }],
    ['no files of it', { type: 19, attachments: [good], referenced_message: { id: '5', author: ada, attachments: 7 } }],
    ['no reference', { attachments: [good], message_reference: 7 }],
    ['no name of the author', { attachments: [good], author: { ...ada, username: {} } }],
  ])('is left out, and the rest of the message is read: %s', (_, changes) => {
    const { text, attachments } = read({ content: 'hello', ...changes }, direct)
    expect(text).toBe('hello')
    expect(attachments.map(({ ref }) => ref)).toEqual(['200/1573660185950420993/30'])
  })

  test('of a file is left out, and the file is fetched by its id', () => {
    const attachments = [{ id: '30', filename: null, content_type: 7, size: 'x', title: {} }]
    expect(read({ attachments }).attachments).toEqual([{ ref: '200/1573660185950420993/30', fileName: 'file' }])
  })
})

describe('names', () => {
  test.each<[string, object, string]>([
    ['a person', { content: 'hi <@444>', mentions: [bob] }, 'hi @Bob the Boiler'],
    ['a person, in the old form', { content: '<@!444>', mentions: [{ ...bob, member: {} }] }, '@Bob'],
    ['a person without further names', { content: '<@9>', mentions: [{ id: '9', username: 'cy' }] }, '@cy'],
    ['somebody of whom nothing is known', { content: '<@9>' }, '<@9>'],
    ['this bot', { content: '<@900> hi', mentions: [parley] }, '@parley hi'],
    ['a role', { content: '<@&7> and <@&99>' }, '@mods and <@&99>'],
    ['everybody, as a role', { content: `<@&${GUILD}>` }, '@everyone'],
    ['places', { content: '<#5> <#6> <#61> <#404>' }, '#engines #help #It leaks <#404>'],
    [
      'a place of the followed server',
      { content: '<#77>', mention_channels: [{ id: '77', name: 'big-news' }] },
      '#big-news',
    ],
    ['commands', { content: '</deploy prod:31>' }, '/deploy prod'],
    ['emoji', { content: '<:leek:9> <a:dance:10>' }, ':leek: :dance:'],
    ['times', { content: '<t:1700000000:R> <t:1700000000>' }, '2023-11-14 22:13 UTC 2023-11-14 22:13 UTC'],
    ['a time that is none', { content: '<t:9999999999999>' }, '<t:9999999999999>'],
    ['pages of the server', { content: '<id:customize> <id:guide>' }, 'Channels & Roles Server Guide'],
    [
      'addresses',
      { content: '<https://a.example> [b](<https://b.example>)' },
      'https://a.example b (https://b.example)',
    ],
    ['code', { content: '`<@444>` ```\n<#5>``` <#5>' }, '`<@444>` ```\n<#5>``` #engines'],
    ['a backtick that ends nowhere', { content: '` <#5> `` <#5>' }, '` #engines `` #engines'],
    ['marks that change the meaning', { content: '~~no~~\n> yes' }, '~~no~~\n> yes'],
  ])('stand for %s', (_, changes, text) => {
    expect(read(changes).text).toBe(text)
  })

  test('a text of 8,000 marks is read within a second', () => {
    const started = performance.now()
    for (const mark of ['`', '[', '<@', '``a', '[a](', '[a](https://(']) read({ content: mark.repeat(4_000) })
    expect(performance.now() - started).toBeLessThan(1_000)
  })

  test('everything that is named besides this bot is listed, each once; a forward names nobody', () => {
    const content = '<@900> <@444> <@&7> <@&8> <#5> <@444>'
    const named = read({ content, mentions: [parley, bob], mention_everyone: true })
    expect(named.mentions).toEqual([
      { kind: 'person', name: 'Bob the Boiler', username: 'bob' },
      { kind: 'group', name: 'mods' },
      { kind: 'place', name: 'engines' },
      { kind: 'group', name: 'here' },
    ])
    const snapshot = { message: { type: 0, content, mentions: [bob] } }
    const forward = read({ message_reference: { type: 1, message_id: '1' }, message_snapshots: [snapshot] })
    expect(forward).not.toHaveProperty('mentions')
    expect(forward.text).toContain('@Bob the Boiler')
  })

  test('the sender has the name of that server, also where the history does not say it', () => {
    names.meet(message({ author: bob, member: { nick: 'Bobby' } }))
    expect(read({ content: 'x', author: ada, member: { nick: 'Captain' } }).sender.displayName).toBe('Captain')
    expect(read({ content: 'x', author: { id: '444', username: 'bob' } }).sender.displayName).toBe('Bobby')
    expect(read({ content: 'x', author: { ...bob, member: undefined } }, direct).sender.displayName).toBe('Bob')
    expect(read({ content: '<@444>' }).text).toBe('@Bobby')
  })
})

describe('forwards and replies', () => {
  const forward = (snapshot: object) => ({
    message_reference: { type: 1, channel_id: '7', message_id: '8' },
    message_snapshots: [{ message: { type: 0, content: '', attachments: [], ...snapshot } }],
  })

  test.each<[string, object, string, readonly string[]]>([
    ['an embed of an app', { embeds: [{ type: 'rich', title: 'Down' }] }, 'Down', []],
    ['components', { components: [{ type: 10, content: 'Down' }] }, 'Down', []],
    ['a sticker', { sticker_items: [{ id: '1', name: 'Wave' }] }, '', ['sticker: Wave']],
    [
      'a preview',
      { content: 'see', embeds: [{ type: 'link', url: 'https://a.example', title: 'A' }] },
      'see',
      ['preview of https://a.example: A'],
    ],
  ])('a forward of %s is read, and so is a reply to one', (_, snapshot, text, enclosed) => {
    const event = read(forward(snapshot))
    expect(event).toMatchObject({ text, forwarded: {} })
    expect(event.enclosed ?? []).toEqual(enclosed.map((line) => `forwarded ${line}`))
    const { quoted } = read({ type: 19, content: 'why?', referenced_message: message(forward(snapshot)) })
    expect(quoted?.text).toBe([text, ...enclosed].filter((line) => line !== '').join('\n'))
    expect(quoted).not.toHaveProperty('sender')
  })

  test.each<[string, object, true | undefined]>([
    ['words alone', { content: 'mine' }, undefined],
    [
      'words and a preview',
      { content: 'mine', embeds: [{ type: 'link', url: 'https://a.example', title: 'A' }] },
      true,
    ],
    ['a preview without words', { content: 'mine', embeds: [{ type: 'image', url: 'https://a.example' }] }, undefined],
    ['a poll', { poll: { question: { text: 'Lunch?' }, answers: [] } }, true],
    ['a sticker', { sticker_items: [{ id: '1', name: 'Wave' }] }, true],
    ['words beside a forward', { ...forward({ content: 'theirs' }), content: 'mine' }, true],
    ['words beside a forward of a poll', { ...forward({ poll: { question: { text: 'Q' } } }), content: 'mine' }, true],
    ['an embed of an app', { author: alerts, embeds: [{ type: 'rich', title: 'A' }] }, undefined],
    [
      'an app with the preview of a page',
      { author: alerts, content: 'a', embeds: [{ type: 'article', title: 'A', url: 'https://a.example' }] },
      true,
    ],
    [
      'the answer of an app to a command',
      { author: alerts, content: 'a', interaction: { name: 'b', user: ada } },
      true,
    ],
    [
      'an own message with a preview',
      { author: parley, content: 'a', embeds: [{ type: 'link', title: 'A', url: 'https://a.example' }] },
      undefined,
    ],
  ])('a reply to %s says whether all its words are those of its writer', (_, original, mixed) => {
    const { quoted } = read({ type: 19, content: 'why?', referenced_message: message(original) })
    expect(quoted?.sender).toBeDefined()
    expect(quoted?.mixed).toBe(mixed)
  })

  test('a reply to an own message quotes no preview of a page as own words', () => {
    const embeds = [{ type: 'link', title: 'A', url: 'https://a.example' }]
    const referenced_message = message({ author: parley, content: 'said', embeds })
    expect(read({ type: 19, referenced_message }).quoted).toMatchObject({ text: 'said', own: true })
  })

  test('a poll that is longer than a line is shown whole, in the next lines', () => {
    const media = (letter: string, length: number) => ({ text: letter.repeat(length) })
    const answers = [...'abcdefghij'].map((letter, at) => ({ answer_id: at + 1, poll_media: media(letter, 55) }))
    const poll = { question: media('?', 300), answers, results: { is_finalized: true, answer_counts: [] } }
    const lines = read({ poll }).enclosed ?? []
    for (const { poll_media } of answers) expect(lines.join('\n')).toContain(poll_media.text)
    expect(lines.map((line) => line.slice(0, 12))).toEqual(['poll: ??????', 'poll (more):', 'poll (more):'])
    expect(lines.at(-1)).toMatch(/j+ \(0\), ended$/)
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(LONGEST_ENCLOSED)
  })

  test('all choices of a menu are named', () => {
    const options = Array.from({ length: 25 }, (_, at) => ({ label: `choice ${at}` }))
    const { text } = read({ author: alerts, components: [{ type: 1, components: [{ type: 3, options }] }] })
    expect(text).toBe(`menu: ${options.map(({ label }) => label).join(' / ')}`)
  })

  test('a reply to a message that was deleted quotes it without words', () => {
    const reply = { type: 19, content: 'why?', message_reference: { type: 0, message_id: '8' } }
    expect(read({ ...reply, referenced_message: null }).quoted).toEqual({ messageId: '8', own: false })
    expect(read({ ...reply, message_reference: {} })).not.toHaveProperty('quoted')
  })
})
