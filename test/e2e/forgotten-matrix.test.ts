import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { DEFAULT_AUDIO_LIMITS } from '../../src/core/audio.ts'
import { toAgentId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import type { MessagesRequest } from '../../src/rehearsal/anthropic/request.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { recordingOf } from '../../src/rehearsal/recordings.ts'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { pdf, png } from '../fakes/files.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { forgettingHouse } from './forgetting-house.ts'
import { parley } from './house-command.ts'
import { recorded } from './household.ts'
import { callIn, toolResult } from './obedient.ts'
import { isCheckpoint, noting } from './remembering.ts'
import { setClock } from './set-clock.ts'

/** Plain words, no codes: one alone in a text repeats nothing, so what holds it has to be found as what it belongs to. */
const word = (form: string): string => `zq${form}vorn`
const WORD = /zq[a-z]+?vorn|鱷紋柵欄/g
const CHINESE = '鱷紋柵欄'

/** Every way in which a word may lie in a file. */
function formsOf(one: string): readonly Buffer[] {
  const escaped = [...one].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
  const base64 = [0, 1, 2].map((at) => {
    const bytes = Buffer.concat([Buffer.alloc(at, 'x'), Buffer.from(one)])
    return bytes.toString('base64').slice(at === 0 ? 0 : at + 2, -4)
  })
  const wide = Buffer.from(one, 'utf16le')
  return [
    Buffer.from(one),
    wide,
    Buffer.from(wide).swap16(),
    Buffer.from(escaped),
    ...base64.map((text) => Buffer.from(text)),
  ]
}

/** Returns which of these words lie in a folder, and in which files. */
function heldIn(folder: string, words: readonly string[]): readonly string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
  return files.flatMap((path) => {
    const bytes = readFileSync(path)
    return words
      .filter((one) => formsOf(one).some((form) => bytes.includes(form)))
      .map((one) => `${one} in ${path.slice(folder.length + 1)}`)
  })
}

const wordsIn = (text: string): readonly string[] => [...new Set(text.match(WORD))]

/** Returns the number of the line of a conversation that a checkpoint is shown with a word. */
function lineWith({ messages }: MessagesRequest, one: string): number {
  const shown = messages.flatMap(({ content }) =>
    typeof content === 'string' ? content : content.map((part) => ('text' in part ? part.text : '')).join('\n'),
  )
  const line = shown
    .join('\n')
    .split('\n')
    .find((text) => text.includes(one))
  return Number(/\d+/.exec(line ?? '')?.[0])
}

/** Says the words that it is shown last, alone; makes the call that stands behind "do" with its arguments. */
const script: Script = (request) => {
  const all = JSON.stringify(request.messages)
  if (isCheckpoint(request))
    return !all.includes(word('text'))
      ? noting()(request)
      : noting(
          ['memory_save', { text: word('entry'), lines: [lineWith(request, word('text'))] }],
          ['working_memory', { text: word('working') }],
          ['describe', { text: word('described') }],
        )(request)
  if (JSON.stringify(request.system ?? '').includes('You condense'))
    return textReply(
      `They have talked. ${'For a long time they did. '.repeat(8)}${all.includes(word('text')) ? word('summary') : ''}`,
    )
  const last =
    lastUserText(request)
      .split('\n')
      .filter((line) => !/system note|^> /.test(line) && /zq|do /.test(line))
      .at(-1) ?? ''
  const result = toolResult(request)
  // What is said of another conversation in other words is an answer of its own.
  if (result !== undefined && last.includes('session_search')) return textReply('Found.')
  if (result !== undefined) return textReply(`Aha ${wordsIn(result).join(' ')}.`)
  return callIn(last) ?? textReply(`Well ${wordsIn(last).join(' ')}.`)
}

const spec = (name: string) => ({ name, description: name, parameters: { type: 'object', properties: {} } })
const pay: Tool = { class: 'once', spec: spec('pay'), run: async () => 'paid' }
const look: Tool = { class: 'pure', reach: 'inside', spec: spec('look'), run: async () => word('result') }

async function stage(clock = setClock('2026-11-01T08:00:00Z')) {
  const audio = await startOpenAiServer({ apiKey: 'sk-audio' })
  onTestFinished(audio.close)
  const tools = ['memory', 'sessions', 'schedule', 'task', 'ask', 'files', 'own']
  const house = await forgettingHouse({
    ...{ script, clock, tools: { own: [pay, look] } },
    config: {
      agents: [{ id: toAgentId('main'), model: 'anthropic/claude-haiku-4-5', prompt: 'Talk.', tools }],
      audio: {
        ...{ baseUrl: audio.baseUrl, apiKey: new Secret('sk-audio'), limits: DEFAULT_AUDIO_LIMITS },
        transcribe: { model: 'whisper-1' },
      },
      hooks: [
        {
          ...{ name: 'mask', on: ['before_save'], timeoutMs: 5_000 },
          at: {
            ...{ kind: 'command', command: 'sh', env: { PATH: new Secret(process.env.PATH ?? '') }, folder: '/' },
            args: ['-c', `sed -n 's/.*"text":"[^"]*masked [^"]*".*/{"text":"something was masked"}/p'`],
          },
        },
      ],
      retention: { days: 30, rules: [] },
    },
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444'), member('cy', 'telegram:555')],
      access: { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
    }),
  })
  const { world, home, exchange } = house
  world.addUser({ id: 666, firstName: word('displayed') })
  const group = house.addGroup('Family', [111, 444, 555, 666])
  const club = house.addGroup('Club', [111, 444])
  const heard = (act: () => void, words: string, chat = group) => house.heardAfter(act, chat, words)
  const bob = (text: string, more: object = {}) => exchange(text, { from: 444, chat: group, ...more })
  return { ...house, clock, group, club, heard, bob, files: () => heldIn(home.dataDir, ALL) }
}

type Stage = Awaited<ReturnType<typeof stage>>

/** Bob has his words come into the group, and into what is made of them, by every way there is. */
async function plant({ bob, group, club, world, heard, exchange, say, home, answered, rows }: Stage): Promise<void> {
  await say('@parley_bot hello', { chat: club })
  await exchange('hello', { from: 111 })
  await exchange('hello', { chat: group })
  const { id } = await bob(`listen all of you ${word('text')}`)
  const quoted = world.say({ from: 555, chat: group, text: 'ha ha ha', replyTo: id })
  void quoted
  world.say({ from: 444, chat: group, text: `to nobody of you ${word('overheard')}` })
  const send = (file: Parameters<typeof fileFields>[1]) =>
    heard(
      () =>
        world.say({
          from: 444,
          chat: group,
          text: '',
          extra: fileFields(world, { ...file, caption: `@parley_bot ${file.caption ?? ''}` }),
        }),
      '',
    )
  await send({
    as: 'document',
    name: `${word('name')}.txt`,
    bytes: Buffer.from(`in it: ${word('content')}`),
    caption: word('caption'),
  })
  await send({ as: 'document', name: 'a.pdf', bytes: pdf(word('pdf')), caption: '' })
  await send({ as: 'photo', bytes: Buffer.concat([png(4, 4), Buffer.from(word('photo'))]), caption: '' })
  await send({ as: 'voice', mime: 'audio/ogg', bytes: recordingOf(`it is ${word('voice')}`), more: { duration: 3 } })
  const contact = { phone_number: '+4912', first_name: word('contact') }
  await heard(() => world.say({ from: 444, chat: group, text: '@parley_bot that one', extra: { contact } }), '')
  const location = { latitude: 1, longitude: 2 }
  const venue = { location, title: word('venue'), address: 'there' }
  await heard(
    () => world.say({ from: 444, chat: group, text: '@parley_bot and there', extra: { location, venue } }),
    '',
  )
  const { id: edited } = await bob(`that is all ${word('old')}`)
  world.edit({ chat: group, message: edited, text: `@parley_bot that is all ${word('new')}` })
  await bob(`also see over there ${CHINESE}`)
  await bob(`masked is all that ${word('raw')}`)
  await bob(`please look it up do look {"of":"${word('argument')}"}`)
  await bob(`keep that do memory_save {"text":"${word('memory')}"}`)
  await bob(`then do schedule_create {"text":"${word('reminder')}","every":"2h"}`)
  await bob(`work at it do task {"task":"${word('task')}"}`)
  await bob(`/remember ${word('remembered')}`)
  await bob(`/remind every 3h ${word('remind')}`)
  const card = await heard(
    () => void world.say({ from: 444, chat: group, text: `@parley_bot do pay {"to":"${word('card')}"}` }),
    'May I use',
    111,
  )
  const [, code] = /\/approve (\w+)/.exec(card.text) ?? []
  await heard(() => void world.say({ from: 111, text: `/deny ${code}` }), 'Aha')
  const ask = await heard(
    () =>
      void world.say({
        from: 444,
        chat: group,
        text: `@parley_bot do ask {"question":"${word('question')}?","choices":["a","b"]}`,
      }),
    word('question'),
  )
  const [, asked] = /\/answer (\w+)/.exec(ask.text) ?? []
  await heard(() => void world.say({ from: 444, chat: group, text: `/answer ${asked} ${word('answer')}` }), 'Aha')
  const further = await heard(
    () =>
      void world.say({
        from: 111,
        chat: group,
        text: '@parley_bot do ask {"question":"Whom?","choices":["a","b"],"everybody":true}',
      }),
    'Whom?',
  )
  const [, other] = /\/answer (\w+)/.exec(further.text) ?? []
  await heard(() => void world.say({ from: 444, chat: group, text: `/answer ${other} ${word('others')}` }), 'Aha')
  await bob(`/side what is that ${word('side')}`)
  await heard(
    () =>
      void world.say({
        from: 444,
        chat: group,
        text: `@parley_bot do send_file {"name":"${word('sentname')}.txt","text":"${word('sent')}","caption":"c"}`,
      }),
    'Aha',
  )
  home.telegram.faults.add({
    method: 'sendMessage',
    action: {
      kind: 'answer',
      when: 'before',
      status: 400,
      body: { ok: false, error_code: 400, description: 'Bad Request: chat not found' },
    },
  })
  world.say({ from: 444, chat: group, text: `@parley_bot and that one too ${word('failed')}` })
  await expect.poll(() => rows('SELECT state FROM outbox')).toContain('rejected')
  await exchange('/checkpoint', { chat: group })
  await say('do session_search {"query":"zq vorn"}')
  await exchange('/compact', { chat: group })
  await exchange('and one more', { chat: group })
  await parley(home.config, ['sessions', 'fork', `telegram:group:${group}`, `telegram:group:${club}`, '--yes'])
  await answered(() => void world.say({ from: 111, chat: club, text: '@parley_bot hello there' }), club)
  await recorded(home)
}

/** Returns the words that people are shown after all: by an agent that reads, by commands, and by the command line. */
async function shownBy({ exchange, home, group, club }: Stage): Promise<readonly string[]> {
  const shown: string[] = []
  const before = home.anthropic?.ledger.requests().length
  const look = (where: string, text: string): void => {
    for (const one of ALL) if (text.includes(one)) shown.push(`${one} by ${where}`)
  }
  const asked = [
    'and now?',
    'do session_search {"query":"that"}',
    'do sessions_list {"messageLimit":20}',
    `do sessions_history {"sessionKey":"telegram:group:${group}","includeTools":true}`,
    'do memory_search {"query":""}',
    'do schedule_list {}',
    ...['/memory', '/remind list', '/sessions'],
  ]
  for (const one of asked) look(one, (await exchange(one, { chat: group })).answer)
  for (const chat of [club, 111]) look('and here?', (await exchange('and here?', { chat })).answer)
  for (const one of ['/approvals', '/status', '/why trace']) look(one, (await exchange(one)).answer)
  look('the prompts since', JSON.stringify(home.anthropic?.ledger.requests().slice(before)))
  const lines = [
    ['sessions', 'list'],
    ['sessions', 'history', `telegram:group:${group}`],
    ['memory', 'list'],
    ['approvals', 'list'],
  ]
  for (const argv of [...lines, ['outbox', 'list'], ['schedule', 'list'], ['usage'], ['people', 'list']]) {
    const { out, err } = await parley(home.config, [...argv, '--json'])
    look(argv.join(' '), out + err)
  }
  return shown
}

const ALL = [
  ...[
    'text',
    'overheard',
    'name',
    'content',
    'caption',
    'pdf',
    'photo',
    'voice',
    'contact',
    'venue',
    'old',
    'new',
    'raw',
  ],
  ...[
    'argument',
    'result',
    'memory',
    'reminder',
    'task',
    'remembered',
    'remind',
    'card',
    'question',
    'answer',
    'others',
  ],
  ...['side', 'sentname', 'sent', 'failed', 'entry', 'working', 'described', 'summary'],
]
  .map(word)
  .concat(CHINESE)

it('S41: the words of a person, and what was made of them, are in no file after their /forget me', async () => {
  const scene = await stage()
  await plant(scene)
  const before = scene.files().join('\n')
  for (const one of ALL)
    expect({ one, found: before.includes(one) || one === word('pdf') }).toEqual({ one, found: true })
  expect(await scene.say('/forget me yes', { from: 444 })).toMatch(/^Forgotten: /)
  await recorded(scene.home)
  expect(scene.files()).toEqual([])
  expect(await shownBy(scene)).toEqual([])
})

it('S41: a chat, and what was made of it, is in no file after /forget chat', async () => {
  const scene = await stage()
  await plant(scene)
  expect(await scene.say('/forget chat yes', { chat: scene.group })).toMatch(/^Forgotten: /)
  await recorded(scene.home)
  expect(scene.files()).toEqual([])
})

it('S41: what is older than its limit, and what was made of it, is in no file; what the agent is to remember stays', async () => {
  const scene = await stage()
  await plant(scene)
  scene.clock.skip(40 * 86_400_000)
  await parley(scene.home.config, ['retention', 'run'])
  await recorded(scene.home)
  // Commands and their answers have an age of their own.
  const stays = ['remembered', 'reminder', 'remind', 'side'].map(word)
  expect(scene.files().filter((one) => !stays.some((kept) => one.startsWith(kept)))).toEqual([])
})
