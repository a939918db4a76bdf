import { describe, expect, it, onTestFinished } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { DEFAULT_AUDIO_LIMITS } from '../../src/core/audio.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { recordingOf } from '../../src/rehearsal/recordings.ts'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { holding } from './forgetting-house.ts'
import { parley } from './house-command.ts'
import { type Household, recorded, startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'
import { isCheckpoint, noting } from './remembering.ts'

/** Every planted text begins so; the search is for these bytes. */
const MARK = 'zq9canary'
const planted = (where: string): string => `${MARK}-${where}-4711`
const WORDS = `the gate opens with ${planted('words')} after dark`

function isSummary({ system }: { readonly system?: unknown }): boolean {
  return JSON.stringify(system ?? '').includes('You condense')
}

/** Repeats whatever it is told, also in summaries and memories; a message can name a tool. */
const parrot: Script = (request) => {
  // A checkpoint that comes after the words were forgotten is shown none of them, and makes nothing of them.
  if (isCheckpoint(request) && !JSON.stringify(request.messages).includes(MARK)) return noting()(request)
  if (isCheckpoint(request))
    return noting(
      ['memory_save', { text: `The gate is ${planted('entry')}.`, lines: [1] }],
      ['working_memory', { text: `Remember ${planted('working')}.` }],
      ['describe', { text: planted('description') }],
    )(request)
  if (isSummary(request))
    return textReply(`A summary of the gate. ${'They spoke for long. '.repeat(8)}${planted('summary')}`)
  const result = toolResult(request)
  if (result !== undefined) return textReply(`it says ${result}`)
  const [, tool, args = ''] = /((?:memory|session|schedule)\w*_\w+) (\{.*\})/.exec(lastUserText(request)) ?? []
  if (tool !== undefined) return { blocks: [{ type: 'tool_use', name: tool, input: JSON.parse(args) }] }
  return textReply(`I heard: ${lastUserText(request).split('\n').at(-1)}`)
}

async function house(script: Script = parrot) {
  const audio = await startOpenAiServer({ apiKey: 'sk-audio' })
  onTestFinished(audio.close)
  const home = await startHousehold({
    ...{ script, streaming: false },
    config: {
      agents: [
        {
          id: toAgentId('main'),
          model: 'anthropic/claude-haiku-4-5',
          prompt: 'Talk.',
          tools: ['memory', 'sessions', 'schedule'],
        },
      ],
      audio: {
        ...{ baseUrl: audio.baseUrl, apiKey: new Secret('sk-audio'), limits: DEFAULT_AUDIO_LIMITS },
        transcribe: { model: 'whisper-1' },
      },
      hooks: [
        {
          ...{ name: 'mask', on: ['before_save'], timeoutMs: 5_000 },
          at: {
            ...{ kind: 'command', command: 'sh', env: { PATH: new Secret(process.env.PATH ?? '') }, folder: '/' },
            args: ['-c', `sed -n 's/.*"text":"masked [^"]*".*/{"text":"something was masked"}/p'`],
          },
        },
      ],
    },
  })
  const { world, ledger } = home.telegram
  const { id: group } = world.addChat({ type: 'supergroup', title: planted('title'), members: [111, 444, 555] })
  const { id: club } = world.addChat({ type: 'supergroup', title: 'Club', members: [111, 444] })
  const answered = async (act: () => void, chat: number): Promise<string> => {
    const after = ledger.mark()
    act()
    const { text } = await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })
    await recorded(home)
    return text
  }
  const say = (
    text: string,
    { from = 111, chat = from, replyTo }: { from?: number; chat?: number; replyTo?: number } = {},
  ) =>
    answered(
      () =>
        void world.say({
          ...{ from, text: chat < 0 && !text.startsWith('/') ? `@parley_bot ${text}` : text },
          ...(chat === from ? {} : { chat }),
          ...(replyTo === undefined ? {} : { replyTo }),
        }),
      chat,
    )
  const send = (file: Parameters<typeof fileFields>[1], chat: number) =>
    answered(
      () =>
        void world.say({
          from: 111,
          chat,
          text: '',
          extra: fileFields(world, { ...file, caption: `@parley_bot ${file.caption ?? ''}` }),
        }),
      chat,
    )
  return { home, world, ledger, group, club, say, send, answered }
}

const prompt = ({ anthropic }: Household): string => JSON.stringify(anthropic?.ledger.requests().at(-1)?.messages)

/** Has the mark come to a chat by every way by which text comes in. */
async function plantEverywhere({
  home,
  world,
  group,
  say,
  send,
  answered,
}: Awaited<ReturnType<typeof house>>): Promise<void> {
  await say(WORDS, { chat: group })
  const quoted = world.say({ from: 444, chat: group, text: `overheard: ${planted('overheard')}` })
  await say(`look at ${planted('reply')}`, { chat: group, replyTo: quoted.message_id })
  const edited = world.say({ from: 111, chat: group, text: 'soon another text' })
  world.edit({ chat: group, message: edited.message_id, text: planted('edited') })
  world.forward({ from: 111, chat: group, of: { chat: group, message: quoted.message_id } })
  await send(
    {
      as: 'document',
      name: `${planted('filename')}.txt`,
      bytes: Buffer.from(`inside: ${planted('content')}`),
      caption: planted('caption'),
    },
    group,
  )
  await send(
    { as: 'voice', mime: 'audio/ogg', bytes: recordingOf(`spoken ${planted('voice')}`), more: { duration: 3 } },
    group,
  )
  await say(`masked ${planted('raw')}`, { chat: group })
  await say(`/remember ${planted('remembered')}`, { chat: group })
  await say(`/remind in 2 hours ${planted('reminder')}`, { chat: group })
  await say(`memory_search {"query":"${planted('query')}"}`, { chat: group })
  await say(`/title ${planted('named')}`, { chat: group })
  await say(`session_search {"query":"${MARK}"}`, { chat: group })
  await say('/checkpoint', { chat: group })
  await answered(() => void world.say({ from: 555, chat: group, text: `@parley_bot ${planted('stranger')}` }), group)
  await say('/compact', { chat: group })
  await say('and one more', { chat: group })
  await recorded(home)
}

describe('/forget', () => {
  it('S41: leaves no byte of a chat in any file, however it had come in', async () => {
    const setting = await house()
    const { home, group, club, say } = setting
    await plantEverywhere(setting)
    await parley(home.config, ['sessions', 'fork', `telegram:group:${group}`, `telegram:group:${club}`, '--yes'])
    expect(await say('hello', { chat: club })).toContain('hello')
    expect(prompt(home)).toContain(planted('summary'))
    for (const where of [
      'words',
      'overheard',
      'edited',
      'content',
      'voice',
      'raw',
      'entry',
      'reminder',
      'title',
      'summary',
      'working',
    ])
      expect({ where, found: holding(home.dataDir, planted(where)).length > 0 }).toEqual({ where, found: true })

    const preview = await say('/forget chat', { chat: group })
    expect(preview).toContain('Nothing was removed yet. It cannot be undone: /forget chat yes does it.')
    const done = await say('/forget chat yes', { chat: group })
    expect(done).toMatch(/^Forgotten: \d+ entries of logs/)
    expect(done).toContain('Telegram still has')
    for (const what of ['memor', 'summar', 'working memor', 'results of tools', 'files', 'transcript', 'reminder'])
      expect(done).toContain(what)
    expect(holding(home.dataDir, MARK)).toEqual([])

    await say('what do you know?', { chat: group })
    expect(prompt(home)).not.toContain(MARK)
    await say('and you here?', { chat: club })
    expect(prompt(home)).not.toContain(MARK)
    await home.restart()
    await say('still nothing?', { chat: group })
    expect(prompt(home)).not.toContain(MARK)
    // The title comes anew with each message.
    for (const where of PLANTED)
      expect({ where, found: holding(home.dataDir, planted(where)) }).toEqual({ where, found: [] })
  })

  it('takes one message with the answer to it, by a reply; the answer goes in the chat too, others stay', async () => {
    const { home, world, ledger, say } = await house()
    await say('I live in a lighthouse')
    const secret = world.say({ from: 111, text: WORDS })
    const answer = await ledger.nextFromBot('sent', { where: ({ text }) => text.includes(planted('words')) })
    await say('good night then')
    expect(await say('/forget', { replyTo: secret.message_id })).toMatch(/^Forgotten: \d+ entries of logs/)
    await ledger.nextFromBot('deleted', { after: 0, where: ({ messageId }) => messageId === answer.messageId })
    await recorded(home)
    expect(holding(home.dataDir, MARK)).toEqual([])
    await say('and now?')
    expect(prompt(home)).toContain('lighthouse')
    expect(prompt(home)).toContain('good night then')
    expect(prompt(home)).not.toContain(MARK)
  })

  it('takes the last thing that somebody said, and what it was made into: memory, working memory, summary', async () => {
    const { home, say } = await house()
    for (const text of ['one', 'two', 'three', WORDS]) await say(text)
    await say('/checkpoint')
    for (const text of ['five', 'six']) await say(text)
    await say('/forget last')
    expect(holding(home.dataDir, 'six')).toEqual([])
    await say('/forget 1w yes')
    expect(holding(home.dataDir, MARK)).toEqual([])
  })

  it('S41: takes the first word of a message that begins like a command and is none of ours', async () => {
    const { home, say } = await house()
    expect(await say(`/${MARK} after dark`)).toContain(`/${MARK} after dark`)
    expect(await say('/forget last')).toMatch(/^Forgotten: /)
    expect(holding(home.dataDir, MARK)).toEqual([])
  })

  it('S41: takes the name by which the model has asked for a tool that is not there', async () => {
    const { home, say } = await house()
    expect(await say(`memory_${MARK} {}`)).toContain(`There is no tool "memory_${MARK}"`)
    expect(await say('/forget last')).toMatch(/^Forgotten: /)
    expect(holding(home.dataDir, MARK)).toEqual([])
  })

  it('is for everybody about their own words: those of others and their answers stay', async () => {
    const { home, group, say } = await house()
    await say('my cat is called Tom', { chat: group })
    await say(WORDS, { from: 444, chat: group })
    expect(await say('/forget chat yes', { from: 444, chat: group })).toMatch(/^Others speak here too/)
    expect(await say('/forget telegram:111 yes', { from: 444, chat: group })).toMatch(
      /^Only my owner may have somebody else/,
    )
    expect(await say('/forget me', { from: 444, chat: group })).toContain('/forget me yes does it')
    expect(await say('/forget me yes', { from: 444, chat: group })).toMatch(/^Forgotten: /)
    for (const where of ['words', 'stranger']) expect(holding(home.dataDir, planted(where))).toEqual([])
    await say('who is Tom?', { chat: group })
    expect(prompt(home)).toContain('my cat is called Tom')
    expect(prompt(home)).not.toContain(planted('words'))
  })

  it('by an owner takes what somebody else said, with what others quote and pass on of it', async () => {
    const { home, world, group, say } = await house()
    const words = world.say({ from: 444, chat: group, text: WORDS })
    await say('what about that?', { chat: group, replyTo: words.message_id })
    world.forward({ from: 111, chat: group, of: { chat: group, message: words.message_id } })
    await say('well?', { chat: group })
    expect(prompt(home)).toContain(planted('words'))
    expect(await say('/forget telegram:444 yes')).toMatch(/^Forgotten: /)
    expect(holding(home.dataDir, planted('words'))).toEqual([])
    await say('and now?', { chat: group })
    expect(prompt(home)).toContain('what about that?')
    expect(prompt(home)).not.toContain(MARK)
  })

  it.each([
    ['/forget', /^Say \/forget in reply to a message/],
    ['/forget since 2999-01-01 yes', /^That time has not come yet/],
    ['/forget since 2025-11-31 yes', /^There is no day 2025-11-31\.$/],
    ['/forget me since yesterday yes', /^Give me a span/],
    ['/forget 99999', /^That message is not on record here: nothing was removed\./],
    ['/forget @nobody yes', /^I know nobody of that name/],
    ['/forget all yes', /^Say \/forget in reply to a message/],
    ['/forget what I said', /^Say \/forget in reply to a message/],
    ['/forget telegram:987654 yes', /^There is nothing of that left/],
  ])('refuses %s in one line, and removes nothing', async (asked, refusal) => {
    const { home, say } = await house()
    await say(WORDS)
    const answer = await say(asked)
    expect(answer).toMatch(refusal)
    expect(answer.split('\n')).toHaveLength(1)
    expect(holding(home.dataDir, planted('words'))).not.toEqual([])
  })

  it('S41: while a turn runs: it ends as it would have, and is emptied then', async () => {
    const gate = createGate()
    const { home, world, ledger, say } = await house((request, more) =>
      lastUserText(request).includes('slowly')
        ? textReply(`slow ${planted('late')}`, { holds: [{ beforeDelta: 0, gate }] })
        : parrot(request, more),
    )
    await say(WORDS)
    world.say({ from: 111, text: `slowly ${planted('running')}` })
    await gate.reached
    expect(await say('/forget chat yes')).toContain(
      'I am still answering something there: that goes too, once it has ended.',
    )
    expect(holding(home.dataDir, planted('words'))).toEqual([])
    expect(holding(home.dataDir, planted('running'))).not.toEqual([])
    const after = ledger.mark()
    gate.release()
    expect((await ledger.nextFromBot('sent', { after })).text).toBe(`slow ${planted('late')}`)
    await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
    await say('and now?')
    expect(prompt(home)).not.toContain(MARK)
  })
})

const PLANTED = [
  'words',
  'overheard',
  'reply',
  'edited',
  'filename',
  'content',
  'caption',
  'voice',
  'raw',
  'remembered',
  'reminder',
  'query',
  'named',
  'stranger',
  'entry',
  'working',
  'description',
  'summary',
]
