import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readEventBody } from '../../../adapters/slack/inbound/read-event.ts'
import { KNOWN_TYPES } from '../../../adapters/slack/inbound/read-parts.ts'
import { context } from './inbound-context.ts'

type Fields = Readonly<Record<string, unknown>>

const names = {
  people: new Map([
    ['U444', { name: 'Bob', username: 'bob' }],
    ['U555', { name: 'Cy' }],
  ]),
  places: new Map([['C7', 'office']]),
}
const base = {
  ...{ type: 'message', channel: 'C1', channel_type: 'channel', ts: '1790000000.000100' },
  ...{ user: 'U333', team: 'T01', text: '' },
}
const app = { user: undefined, bot_id: 'B77', subtype: 'bot_message', username: 'ci' }
const plain = (text: string) => ({ type: 'plain_text', text })
const mrkdwn = (text: string) => ({ type: 'mrkdwn', text })
const rich = (...elements: readonly object[]) => ({ type: 'rich_text', elements })
const section = (...elements: readonly object[]) => ({ type: 'rich_text_section', elements })
const word = (text: string, style?: object) => ({ type: 'text', text, ...(style && { style }) })
const ofApp = (...blocks: readonly object[]) => ({ ...app, text: 'a fallback', blocks })
const inline = (...elements: readonly object[]) => ({ blocks: [rich(section(...elements))] })
const attached = (fields: Fields) => ({ ...app, attachments: [fields] })
const file = (fields: Fields) => ({ subtype: 'file_share', files: [{ id: 'F1', name: 'a.txt', ...fields }] })
const notice = (subtype: string) => ({ subtype, text: '<@U333> did it' })
const nothing = (subtype: string) => `nothing (message:${subtype})`

/** Returns all that the model is shown of a message, in lines. */
function shown(fields: Fields): string {
  const reading = readEventBody({ event: { ...base, ...fields } }, { ...context, names })
  if (reading.kind === 'dropped') return `nothing (${reading.why})`
  const { event } = reading
  if (event.kind === 'departure' || event.kind === 'migration') return event.kind
  if (!('text' in event)) return event.kind
  const { sender, text, enclosed = [], attachments, forwarded } = event
  return [
    ...(sender.kind === 'bot' ? [`app ${sender.displayName}`] : []),
    ...(text === '' ? [] : [forwarded !== undefined && forwarded.text === undefined ? `theirs: ${text}` : text]),
    ...(forwarded?.text === undefined ? [] : [`theirs: ${forwarded.text}`]),
    ...enclosed.map((line) => `+ ${line}`),
    ...attachments.map(
      ({ fileName = '', kind = 'file', about }) => `${kind} ${[fileName, about].filter(Boolean).join(', ')}`,
    ),
  ].join('\n')
}

/** Each kind by the name that FACTS.md has for it: its fields, and what the model is shown. */
const KINDS: Readonly<Record<string, readonly [Fields, string]>> = {
  // Who speaks.
  'no subtype': [{ text: 'hello' }, 'hello'],
  file_share: [file({ mimetype: 'text/plain' }), 'file a.txt'],
  me_message: [{ subtype: 'me_message', text: 'waves' }, 'waves'],
  thread_broadcast: [{ subtype: 'thread_broadcast', thread_ts: '1780000000.000100', text: 'also here' }, 'also here'],
  bot_message: [{ ...app, text: 'build failed' }, 'app ci\nbuild failed'],
  'message of USLACKBOT': [{ user: 'USLACKBOT', text: 'Reminder: pay.' }, 'app Slackbot\nReminder: pay.'],
  slackbot_response: [{ subtype: 'slackbot_response', text: 'The code is 1.' }, 'app Slackbot\nThe code is 1.'],
  reminder_add: [{ subtype: 'reminder_add', text: '<@U444> set a reminder' }, 'app Slackbot\n@Bob set a reminder'],
  huddle_thread: [
    {
      subtype: 'huddle_thread',
      user: 'USLACKBOT',
      room: { name: '', created_by: 'U444', date_end: 0, participants: ['U444', 'U555'] },
      blocks: [rich(section(word('A huddle started')))],
    },
    'app Slackbot\nA huddle started\n+ call: huddle, going on, begun by @Bob, with @Bob, @Cy',
  ],
  sh_room_created: [
    {
      subtype: 'sh_room_created',
      text: 'A call',
      room: { name: 'Standup', has_ended: true, participant_history: ['U444'] },
    },
    'app Slackbot\nA call\n+ call: Standup, ended, with @Bob',
  ],
  document_mention: [{ subtype: 'document_mention', text: 'mentioned in Plans' }, 'app Slackbot\nmentioned in Plans'],
  file_comment: [{ subtype: 'file_comment', text: '<@U444> said: nice' }, 'app Slackbot\n@Bob said: nice'],
  file_mention: [{ subtype: 'file_mention', text: '<@U444> named a file' }, 'app Slackbot\n@Bob named a file'],
  'unknown subtype': [{ subtype: 'hologram' }, '+ a message that cannot be shown here: hologram'],
  'no words': [{}, '+ a message that cannot be shown here: no words'],
  // Notices and changes.
  ...Object.fromEntries(
    `assistant_app_thread bot_add bot_remove app_conversation_join app_conversation_leave channel_archive
    channel_convert_to_private channel_convert_to_public channel_join channel_name channel_posting_permissions
    channel_purpose channel_topic channel_unarchive group_archive group_join group_name group_purpose group_topic
    group_unarchive ekm_access_denied joiner_notification joiner_notification_for_inviter message_replied pinned_item
    reminder_delete reply_broadcast tombstone unpinned_item`
      .split(/\s+/)
      .map((subtype) => [subtype, [notice(subtype), nothing(subtype)]] as const),
  ),
  channel_leave: [notice('channel_leave'), 'departure'],
  group_leave: [notice('group_leave'), 'departure'],
  message_changed: [
    { subtype: 'message_changed', message: { ...base, text: 'new' }, previous_message: { ...base, text: 'old' } },
    'new',
  ],
  message_deleted: [
    { subtype: 'message_deleted', deleted_ts: base.ts, previous_message: { ...base, text: 'old' } },
    'delete',
  ],
  channel_id_changed: [
    { type: 'channel_id_changed', old_channel_id: 'G1', new_channel_id: 'C9', event_ts: base.ts },
    'migration',
  ],
  // Marks of a text.
  'text struck through': [{ text: 'eggs, ~milk~, a~b~c, `~x~`' }, 'eggs, ~~milk~~, a~b~c, `~x~`'],
  'text quotation': [{ text: '&gt; once\n&gt;&gt;&gt; all\nof it' }, '> once\n> all\n> of it'],
  'text code': [{ text: '`a &lt; b` and ```x\n&gt;&gt;&gt; y```' }, '`a < b` and ```x\n>>> y```'],
  'text link': [{ text: '<https://x.example/~a~|the ~page~>' }, 'the ~page~ (https://x.example/~a~)'],
  'text mention': [{ text: 'ask <@U444>, <@U999>, <@U998|di>' }, 'ask @Bob, <@U999>, @di'],
  'text channel': [{ text: 'in <#C7>, <#C8|lab>, <#C9|>' }, 'in #office, #lab, <#C9>'],
  'text group': [{ text: '<!subteam^S1|@crew> <!subteam^S2> <!here>' }, '@crew <!subteam^S2> @here'],
  'text date': [{ text: 'at <!date^1700000000^{time}^https://x.example|noon>' }, 'at noon'],
  'text emoji': [{ text: ':wave: hi' }, ':wave: hi'],
  // Blocks.
  'block section': [
    ofApp({
      type: 'section',
      text: mrkdwn('*Disk* <@U444>'),
      fields: [mrkdwn('host\nweb-1'), plain('95 %')],
      accessory: { type: 'button', text: plain('Open'), url: 'https://x.example' },
    }),
    'app ci\n*Disk* @Bob\nhost\nweb-1\n95 %\n[Open] (https://x.example)',
  ],
  'block header': [ofApp({ type: 'header', text: plain('Firing') }), 'app ci\nFiring'],
  'block alert': [ofApp({ type: 'alert', level: 'error', text: plain('Down') }), 'app ci\nerror: Down'],
  'block context': [
    ofApp({ type: 'context', elements: [mrkdwn('by'), { type: 'image', alt_text: 'a cat' }, plain('now')] }),
    'app ci\nby image: a cat now',
  ],
  'block context_actions': [
    ofApp(
      { type: 'header', text: plain('Answer') },
      {
        type: 'context_actions',
        elements: [{ type: 'feedback_buttons' }, { type: 'icon_button', text: plain('Delete') }],
      },
    ),
    'app ci\nAnswer\nbuttons: [Delete]',
  ],
  'block actions': [
    ofApp({
      type: 'actions',
      elements: [
        { type: 'button', text: plain('Ack'), value: 'a' },
        { type: 'static_select', placeholder: plain('Pick'), options: [{ text: plain('one'), value: '1' }] },
      ],
    }),
    'app ci\nbuttons: [Ack] Pick\none',
  ],
  'block divider': [ofApp({ type: 'divider' }, { type: 'header', text: plain('x') }), 'app ci\nx'],
  'block image': [ofApp({ type: 'image', alt_text: 'load', title: plain('Load') }), 'app ci\nimage: Load'],
  'block video': [
    ofApp({
      ...{ type: 'video', title: plain('Talk'), title_url: 'https://v.example', alt_text: 'a talk' },
      ...{ description: plain('On bees'), author_name: 'Cy', provider_name: 'Tube' },
    }),
    'app ci\nvideo: Talk (https://v.example). Cy, Tube. On bees',
  ],
  'block file': [ofApp({ type: 'file', source: 'remote', file: { title: 'Plan' } }), 'app ci\nfile: Plan'],
  'block input': [
    ofApp({ type: 'input', label: plain('Name'), hint: plain('short'), element: { placeholder: plain('Ada') } }),
    'app ci\nName\nAda\nshort',
  ],
  'block markdown': [ofApp({ type: 'markdown', text: '**bold** [a](b) <@U444>' }), 'app ci\n**bold** [a](b) <@U444>'],
  'block table': [
    ofApp({
      type: 'table',
      rows: [
        [
          { type: 'raw_text', text: 'host' },
          { type: 'raw_text', text: 'load' },
        ],
        [rich(section(word('web-1'))), { type: 'raw_number', value: 9, text: '9' }],
      ],
    }),
    'app ci\n| host | load |\n| web-1 | 9 |',
  ],
  'block data_table': [
    ofApp({ type: 'data_table', caption: 'Hosts', rows: [[{ type: 'raw_text', text: 'web-1' }]] }),
    'app ci\nHosts\n| web-1 |',
  ],
  'block data_visualization': [
    ofApp({
      ...{ type: 'data_visualization', title: 'Pies' },
      chart: { type: 'bar', series: [{ name: 'May', data: [{ label: 'plum', value: 3 }] }] },
    }),
    'app ci\nchart: Pies\nMay: plum: 3',
  ],
  'block call': [
    ofApp({ type: 'call', call: { v1: { name: 'Standup', join_url: 'https://c.example' } } }),
    'app ci\ncall: Standup (https://c.example)',
  ],
  'block plan': [
    ofApp({
      ...{ type: 'plan', title: 'Deploy' },
      tasks: [{ type: 'task_card', title: 'Build', status: 'in_progress', details: rich(section(word('step 2'))) }],
    }),
    'app ci\nDeploy\n- [in progress] Build\nstep 2',
  ],
  'block task_card': [
    ofApp({
      type: 'task_card',
      title: 'Look',
      status: 'complete',
      sources: [{ type: 'url', url: 'https://s.example', text: 's' }],
    }),
    'app ci\n- [complete] Look\ns (https://s.example)',
  ],
  'block card': [
    ofApp({
      ...{ type: 'card', title: mrkdwn('Trip'), subtitle: mrkdwn('May'), body: mrkdwn('~no~') },
      actions: [{ type: 'button', text: plain('Book'), value: 'b' }],
    }),
    'app ci\nTrip\nMay\n~~no~~\n[Book]',
  ],
  'block carousel': [
    ofApp({
      type: 'carousel',
      elements: [
        { type: 'card', title: mrkdwn('a') },
        { type: 'card', title: mrkdwn('b') },
      ],
    }),
    'app ci\na\nb',
  ],
  'block container': [
    ofApp({ type: 'container', title: plain('Box'), child_blocks: [{ type: 'header', text: plain('in it') }] }),
    'app ci\nBox\nin it',
  ],
  'unknown block': [
    ofApp({ type: 'hologram', blob: 1 }, { type: 'poem', text: mrkdwn('roses') }),
    'app ci\nroses\n+ a part that cannot be shown here: hologram',
  ],
  'block rich_text': [
    {
      blocks: [
        rich(
          section(word('to do:\n')),
          {
            type: 'rich_text_list',
            style: 'bullet',
            elements: [section(word('eggs')), section(word('milk', { strike: true }))],
          },
          { type: 'rich_text_list', style: 'ordered', indent: 1, offset: 2, elements: [section(word('third'))] },
          { type: 'rich_text_list', style: 'checklist', elements: [{ ...section(word('done')), checked: true }] },
          { type: 'rich_text_quote', elements: [word('she said\nso')] },
          { type: 'rich_text_preformatted', language: 'sh', elements: [word('ls -l')] },
        ),
      ],
    },
    'to do:\n- eggs\n- ~~milk~~\n  3. third\n- [x] done\n> she said\n> so\n```sh\nls -l\n```',
  ],
  'rich text elements': [
    inline(
      word('x', { code: true, bold: true }),
      { type: 'link', url: 'https://x.example', text: 'page' },
      { type: 'emoji', name: 'wave' },
      { type: 'user', user_id: 'U444' },
      { type: 'usergroup', usergroup_id: 'S1' },
      { type: 'channel', channel_id: 'C7' },
      { type: 'broadcast', range: 'here' },
      { type: 'date', timestamp: 0, fallback: 'noon' },
      { type: 'color', value: '#fff' },
      { type: 'team', team_id: 'T1' },
      { type: 'attachment_mention', text: 'a thing' },
    ),
    '`x`page (https://x.example):wave:@Bob<!subteam^S1>#office@herenoon#fffT1a thing',
  ],
  // Attachments.
  'attachment of an app': [
    attached({
      ...{ fallback: 'f', pretext: 'Watch', author_name: 'Grafana', author_link: 'https://g.example', title: 'Disk' },
      ...{ title_link: 'https://d.example', text: '<@U444> full', fields: [{ title: 'host', value: 'web-1' }] },
      ...{ actions: [{ type: 'button', text: 'Ack', url: 'https://a.example' }], footer: 'v9', ts: 1 },
    }),
    'app ci\nWatch\nGrafana (https://g.example)\nDisk (https://d.example)\n@Bob full\nhost: web-1\nbuttons: [Ack] (https://a.example)\nv9',
  ],
  'attachment with blocks': [
    attached({ fallback: '[no preview available]', blocks: [{ type: 'header', text: plain('Firing') }] }),
    'app ci\nFiring',
  ],
  'attachment with a fallback alone': [attached({ fallback: 'disk full' }), 'app ci\ndisk full'],
  'attachment with a picture': [
    attached({
      ...{ fallback: 'giphy: <http://g.example/1>', title: 'tired cat', title_link: 'http://g.example/1' },
      ...{ image_url: 'https://m.example/1.gif?a=1&amp;b=2', footer: 'Posted using /giphy' },
    }),
    'app ci\ntired cat (http://g.example/1)\nimage: tired cat (https://m.example/1.gif?a=1&b=2)\nPosted using /giphy',
  ],
  'attachment of a person': [
    { text: 'see', attachments: [{ blocks: [{ type: 'table', rows: [[{ type: 'raw_text', text: 'a' }]] }] }] },
    'see\n| a |',
  ],
  'preview of a link': [
    {
      text: 'look',
      attachments: [{ from_url: 'https://x.example', title: 'Page', text: 'of <@U0BOT>', service_name: 'X' }],
    },
    'look\n+ preview of https://x.example: X. Page. of @parley',
  ],
  'preview by an app': [
    {
      text: 'look',
      attachments: [
        {
          is_app_unfurl: true,
          app_unfurl_url: 'https://j.example/1',
          blocks: [{ type: 'header', text: plain('J-1') }],
        },
      ],
    },
    'look\n+ preview of https://j.example/1: J-1',
  ],
  'shared message': [
    {
      text: 'see',
      attachments: [{ is_share: true, author_name: 'Cy', text: '<@U444> said so', footer: 'Posted in #x' }],
    },
    'see\ntheirs: @Bob said so',
  ],
  'shared message of an app': [
    {
      attachments: [
        {
          ...{ is_msg_unfurl: true, is_share: true, author_name: 'ci', fallback: '[no preview available]', text: '' },
          message_blocks: [{ team: 'T01', message: { blocks: [{ type: 'section', text: mrkdwn('*Disk* full') }] } }],
        },
      ],
    },
    'theirs: *Disk* full',
  ],
  'shared message that cannot be seen': [
    { attachments: [{ is_share: true, fallback: '[no preview available]' }] },
    '+ a message that cannot be shown here: shared from a place that the app cannot see',
  ],
  // Files.
  'file hosted': [file({ mode: 'hosted', mimetype: 'image/png', alt_txt: 'a cat' }), 'file a.txt, a cat'],
  'file snippet': [file({ mode: 'snippet', mimetype: 'text/plain' }), 'file a.txt'],
  'file external': [file({ mode: 'external', external_url: 'https://d.example/1' }), 'file a.txt, https://d.example/1'],
  'file email': [
    file({
      ...{
        mode: 'email',
        subject: 'Invoice',
        plain_text: 'Please pay.\n',
        from: [{ name: 'Shop', address: 'a@b.example' }],
      },
      attachments: [{ filename: 'bill.pdf' }],
    }),
    'theirs: mail from: Shop <a@b.example>\nsubject: Invoice\nPlease pay.\nfiles of the mail: bill.pdf',
  ],
  'file email of USLACKBOT': [
    { ...file({ mode: 'email', title: 'Invoice', plain_text: 'Please pay.' }), user: 'USLACKBOT' },
    'app Slackbot\nsubject: Invoice\nPlease pay.',
  ],
  'file post': [file({ mode: 'post', name: undefined, title: 'Plans' }), 'file Plans, post'],
  'file space': [file({ mode: 'space' }), 'file a.txt, post'],
  'file quip': [file({ mode: 'quip', name: undefined, title: 'Plans' }), 'file Plans, canvas'],
  'file list': [file({ mode: 'list' }), 'file a.txt, list'],
  'file tombstone': [file({ mode: 'tombstone', name: undefined }), 'file '],
  'file hidden_by_limit': [file({ mode: 'hidden_by_limit', name: undefined }), 'file '],
  'file file_access': [file({ mode: 'file_access', file_access: 'check_file_info', name: undefined }), 'file '],
  'file slack_audio': [
    file({
      ...{ subtype: 'slack_audio', mimetype: 'audio/webm', user: 'U333', duration_ms: 12_300 },
      transcription: { status: 'complete', preview: { content: 'hello there', has_more: false } },
    }),
    '+ transcript by Slack: hello there\nvoice a.txt, 12 s',
  ],
  'file slack_video': [file({ subtype: 'slack_video', mimetype: 'video/webm', duration_ms: 2000 }), 'video a.txt, 2 s'],
}

describe('the kinds of messages', () => {
  test.each(Object.entries(KINDS))('%s is shown as FACTS.md says', (_, [fields, words]) => {
    expect(shown(fields)).toBe(words)
  })

  const none = '[no preview available]'
  const [low, high] = ['Low', 'High'].map((label) => ({ text: plain(label), value: label.toLowerCase() }))
  const choosing = (element: Fields) => ({ text: '', blocks: [{ type: 'actions', elements: [element] }] })
  test.each<[string, Fields, string]>([
    [
      'a picture alone',
      attached({ fallback: none, image_url: 'https://m.example/1' }),
      'app ci\nimage: https://m.example/1',
    ],
    ['a small one alone', attached({ thumb_url: 'https://m.example/t' }), 'app ci\nimage: https://m.example/t'],
    [
      'a film by its first picture',
      attached({ title: 'Pump', video_url: 'https://m.example/v', thumb_url: 'https://m.example/t' }),
      'app ci\nPump\nvideo: Pump (https://m.example/v)',
    ],
    ['an address that is none', attached({ text: 'a', image_url: 7, thumb_url: null, video_url: {} }), 'app ci\na'],
    [
      'a picture of an app below the words of a person',
      { text: 'see', attachments: [{ fallback: none, title: 'cat', image_url: 'https://m.example/1' }] },
      'see\n+ attached: cat. image: cat (https://m.example/1)',
    ],
    [
      'the picture that a link leads to',
      {
        text: 'see',
        attachments: [{ from_url: 'https://x.example/1', fallback: none, image_url: 'https://x.example/1' }],
      },
      'see\n+ preview of https://x.example/1: image: https://x.example/1',
    ],
    [
      'the picture of a page, which says less than its words',
      {
        text: 'see',
        attachments: [{ from_url: 'https://x.example', title: 'Page', thumb_url: 'https://x.example/t.png' }],
      },
      'see\n+ preview of https://x.example: Page',
    ],
    [
      'a picture in what is shared',
      { text: 'see', attachments: [{ is_share: true, text: 'look', image_url: 'https://m.example/1' }] },
      'see\ntheirs: look\nimage: https://m.example/1',
    ],
    [
      'the state of a ticket in the preview by an app',
      {
        text: 'see',
        attachments: [
          {
            ...{ is_app_unfurl: true, app_unfurl_url: 'https://j.example/1', title: 'J-1', text: 'Disk full' },
            ...{ author_name: 'Ann', author_link: 'https://j.example/ann', footer: 'Jira &amp; co' },
            fields: [
              { title: 'State', value: '*Open* for <@U444>', short: true },
              { title: 'Comments', value: '3' },
              7,
            ],
          },
        ],
      },
      'see\n+ preview of https://j.example/1: Ann (https://j.example/ann). J-1. Disk full. State: *Open* for @Bob. Comments: 3. Jira & co',
    ],
    ['the option that is chosen', choosing({ initial_option: low, options: [low, high] }), 'Low (chosen)\nHigh'],
    [
      'each option that is chosen, with its description',
      choosing({ options: [low, { ...high, description: plain('now') }], initial_options: [high] }),
      'Low\nHigh (chosen)\nnow',
    ],
    [
      'an option of a group and one that is not among the others',
      choosing({ option_groups: [{ label: plain('g'), options: [low] }], initial_options: [high, low] }),
      'Low (chosen)\nHigh (chosen)',
    ],
    ['the day that is chosen', choosing({ type: 'datepicker', initial_date: '2026-01-02' }), '2026-01-02 (chosen)'],
    ['the moment that is chosen', choosing({ initial_date_time: 0 }), '1970-01-01T00:00:00.000Z (chosen)'],
    [
      'whom and which places an element begins with',
      choosing({ initial_users: ['U444'], initial_channel: 'C7', initial_conversations: ['U555'] }),
      '@Bob (chosen)\n#office (chosen)\n@Cy (chosen)',
    ],
    [
      'no choice that is none',
      choosing({ initial_option: 'x', initial_options: [null, {}], initial_date: 3 }),
      '+ a message that cannot be shown here: no words',
    ],
  ])('%s is shown', (_, fields, words) => {
    expect(shown(fields)).toBe(words)
  })

  test('every row of the table in FACTS.md is tried here, and nothing else is', () => {
    const page = readFileSync(new URL('../../../adapters/slack/FACTS.md', import.meta.url), 'utf8')
    const table = page.slice(page.indexOf('## Kinds of messages'))
    const rows = table.split('\n').flatMap((line) => /^\| ([^|]*) \|/.exec(line)?.[1] ?? [])
    const kinds = rows.filter((cell) => cell !== 'kind' && cell !== '---').flatMap((cell) => cell.split(', '))
    expect(kinds.sort()).toEqual(Object.keys(KINDS).sort())
  })

  test('every type of block that the reader knows has a row there, and no other has one', () => {
    const elements = ['mrkdwn', 'plain_text', 'raw_text', 'raw_number', 'button', 'workflow_button', 'icon_button']
    const inside = new Set<unknown>([...elements, 'feedback_buttons', 'url'])
    const blocks = KNOWN_TYPES.filter((type) => !inside.has(type)).map((type) => `block ${type}`)
    expect(blocks.sort()).toEqual(
      Object.keys(KINDS)
        .filter((kind) => kind.startsWith('block '))
        .sort(),
    )
  })
})
