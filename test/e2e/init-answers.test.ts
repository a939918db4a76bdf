import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { REFUSALS, textReply } from '../../src/rehearsal/openai/script.ts'
import { type OpenAiServer, startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { startTelegramServer, type TelegramServer } from '../../src/rehearsal/telegram/server.ts'
import { KEYS, Newcomer, type Typescript } from './init-terminal.ts'

const { enter, space, down, ctrlC, ctrlD, escape: esc } = KEYS
/** Nobody listens there. */
const DEAD = 'http://127.0.0.1:9'

interface Place {
  readonly telegram: TelegramServer
  readonly model: OpenAiServer
  readonly newcomer: Newcomer
  readonly root: string
}

async function place(): Promise<Place> {
  const telegram = await startTelegramServer()
  const model = await startOpenAiServer({ dialect: 'ollama', keyless: true, models: ['qwen3', 'llama3.2'] })
  onTestFinished(async () => {
    await Promise.all([telegram.close(), model.close()])
  })
  telegram.world.addUser({ id: 111, firstName: 'Ada' })
  const newcomer = new Newcomer({ OLLAMA_HOST: new URL(model.baseUrl).host })
  return { telegram, model, newcomer, root: `telegram=${telegram.apiRoot}` }
}

/** The numbers of the processes that have the home of a newcomer. */
function processesOf({ home }: Newcomer): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, 'utf8').includes(`HOME=${home}\0`)
    } catch {
      return false
    }
  })
}

/** The files of a configuration; none where there is no folder. */
function kept({ folder }: Newcomer): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}

const QUESTIONS = [
  'Which platforms?',
  'bot token',
  'Which model shall answer?',
  'Waiting for you there',
  'The bot runs now',
]

/** Answers all questions before that one. */
async function upTo(terminal: Typescript, question: string, { telegram }: Place): Promise<void> {
  const answers = [[space, enter], [telegram.token, enter], [enter], [enter, enter], [down, enter]]
  for (const [at, one] of QUESTIONS.entries()) {
    if (one === question) return terminal.shows(question)
    await terminal.answers(one, ...(answers[at] ?? []))
  }
}

test.each(
  QUESTIONS.flatMap((question, at) => [
    [question, 'Ctrl-C', ctrlC, at] as const,
    ...(at === 1
      ? ([
          [question, 'Ctrl-D', ctrlD, at],
          [question, 'Esc', esc, at],
        ] as const)
      : []),
  ]),
)(
  'init, left at "%s" by %s: it says what was kept, nothing is half written, and the terminal is as before',
  async (question, _name, key, at) => {
    const here = await place()
    const terminal = here.newcomer.types('--api-root', here.root)
    await upTo(terminal, question, here)
    terminal.presses(key)
    expect(await terminal.ended()).toBe(1)
    if (at < 3) {
      expect(terminal.text).toContain('Left. No configuration was written.')
      expect(kept(here.newcomer)).toEqual([])
    } else {
      expect(terminal.text).toMatch(/Left\. The configuration is\s+\S*\/parley\.yaml/)
      expect(kept(here.newcomer)).toEqual(['parley.yaml', 'telegram-token'])
    }
    // The daemon that it had started is gone too.
    const status = await here.newcomer.runs(['status'])
    expect(status.code).toBe(1)
  },
)

test('init, left after it has written the manifest of Slack: it says that this stays, and where', async () => {
  const { newcomer } = await place()
  const terminal = newcomer.types()
  await terminal.answers('Which platforms?', down, down, space, enter)
  await terminal.shows('Show it in another window')
  await terminal.answers('app-level token', ctrlC)
  expect(await terminal.ended()).toBe(1)
  expect(terminal.text).toMatch(/Left\. No configuration was written\.\n\S.* stays, .*\s+\S*\/slack-manifest\.json\n/)
  expect(kept(newcomer)).toEqual(['slack-manifest.json'])
})

test.each([
  ['types', 'bot token', []],
  ['typesElsewhere', 'bot token', []],
  ['types', 'The bot runs now', ['parley.yaml', 'telegram-token']],
  ['typesElsewhere', 'The bot runs now', ['parley.yaml', 'telegram-token']],
] as const)(
  'init %s: a terminal that is closed at "%s" ends it by SIGHUP and not by an abort of Node, and no process stays',
  async (types, question, files) => {
    const here = await place()
    const terminal = here.newcomer[types]('--api-root', here.root)
    await upTo(terminal, question, here)
    expect(await terminal.hangUp()).toBe(129)
    await vi.waitUntil(() => processesOf(here.newcomer).length === 0, { timeout: 20_000 })
    expect(kept(here.newcomer)).toEqual(files)
  },
)

test('init: a token that is none, and one that the platform refuses, are asked for again, with the reason', async () => {
  const here = await place()
  const terminal = here.newcomer.types('--api-root', here.root)
  await upTo(terminal, 'bot token', here)
  terminal.presses('no-token-at-all', enter)
  await terminal.shows('This is no token of a bot')
  terminal.presses('7000001:wrong-token', enter)
  await terminal.shows('refuses the token')
  // As a terminal marks a paste, with the end of the line that was copied too.
  await terminal.answers('bot token', `\u001b[200~${here.telegram.token}\n\u001b[201~`)
  await terminal.shows('it is @parley_bot')
  await terminal.shows('Which model shall answer?')
  terminal.presses(ctrlC)
  expect(await terminal.ended()).toBe(1)
  expect(terminal.raw).not.toMatch(/wrong-token|no-token-at-all/)
})

test('init: a token that is pasted before it is asked for is not shown, and is no answer to another question', async () => {
  const here = await place()
  const terminal = here.newcomer.types('--api-root', here.root)
  await terminal.answers('Which platforms?', space, enter)
  await terminal.answers('bot token', `${here.telegram.token}\rsecond-line-of-the-paste\r`)
  await terminal.shows('Which model shall answer?')
  terminal.presses(ctrlC)
  await terminal.ended()
  expect(terminal.raw).not.toContain('second-line')
})

test('init: a model that does not answer is named with its remedy, and another one is chosen', async () => {
  const here = await place()
  here.model.setScript(() => REFUSALS.server)
  const terminal = here.newcomer.types('--api-root', here.root, '--no-start')
  await upTo(terminal, 'Which model shall answer?', here)
  terminal.presses(enter)
  await terminal.shows('Wrong: ')
  await terminal.shows('-> ')
  here.model.setScript(() => textReply('Hello all!'))
  await terminal.answers('How to continue?', enter)
  await terminal.answers('Which model shall answer?', down, enter)
  await terminal.shows('It says: "Hello all!"')
  expect(await terminal.ended()).toBe(0)
  expect(here.newcomer.yaml()).toContain('model: ollama/llama3.2')
})

test('init: another server that wants a key is asked with it; what it repeats of the key is not shown', async () => {
  const here = await place()
  const key = 'key-of-the-other-server'
  const server = await startOpenAiServer({ dialect: 'lm-studio', apiKey: key, models: ['qwen3'] })
  onTestFinished(() => server.close())
  server.setScript(() => textReply(`You sent ${key}, hello!`))
  here.newcomer.env.OLLAMA_HOST = '127.0.0.1:9'
  const terminal = here.newcomer.types('--api-root', here.root, '--no-start')
  await upTo(terminal, 'Which model shall answer?', here)
  terminal.presses(down, down, enter)
  await terminal.answers('The address of the server', `http://joe:hidden-word@127.0.0.1:9/v1`, enter)
  await terminal.shows('This has a name or a password in it')
  terminal.presses(KEYS.clear, server.baseUrl, enter)
  await terminal.answers('Its key', key, enter)
  await terminal.answers('Which of its models?', enter)
  await terminal.shows('It says: "You sent [secret], hello!"')
  expect(await terminal.ended()).toBe(0)
  expect(terminal.raw).not.toContain(key)
  expect(here.newcomer.yaml()).toContain('model: own/qwen3')
  expect(here.newcomer.yaml()).toContain(`apiKey: \${file:own-api-key}`)
  expect(readFileSync(join(here.newcomer.folder, 'own-api-key'), 'utf8')).toBe(`${key}\n`)
})

test('init: a platform that nobody reaches is said with its remedy, and the person may continue', async () => {
  const here = await place()
  const terminal = here.newcomer.types('--api-root', `telegram=${DEAD}`, '--no-start')
  await terminal.answers('Which platforms?', space, enter)
  await terminal.answers('bot token', here.telegram.token, enter)
  await terminal.shows('Wrong: ')
  await terminal.shows('-> ')
  await terminal.answers('how to continue?', down, down, enter)
  await terminal.answers('Which model shall answer?', enter)
  expect(await terminal.ended()).toBe(0)
  expect(kept(here.newcomer)).toEqual(['parley.yaml', 'telegram-token'])
})

test('init lets the daemon go on that it has started: the link that was not used yet is good, its log is shown, until Ctrl-C', async () => {
  const here = await place()
  const terminal = here.newcomer.types('--api-root', here.root)
  await upTo(terminal, 'The bot runs now', here)
  const [, code] = /start=(\S+)/.exec(terminal.text) ?? []
  terminal.presses(enter)
  await terminal.shows('Stop with Ctrl-C.')
  const mark = here.telegram.ledger.mark()
  here.telegram.world.say({ from: 111, text: `/start ${code}` })
  await here.telegram.ledger.nextFromBot('sent', { after: mark, where: ({ text = '' }) => /owner/i.test(text) })
  expect((await here.newcomer.runs(['people', 'list'])).out).toContain('telegram:111')
  await terminal.shows(' info ')
  terminal.presses(ctrlC)
  await terminal.shows('Stopping; a second signal stops at once.')
  expect(await terminal.ended()).toBe(0)
})

test('init again: what is there is shown, and a platform is added; every line of the person stays', async () => {
  const here = await place()
  const own = `# mine\nagents: [{ id: main, model: scripted/echo }] # later another\nchannels:\n  telegram:\n    accounts:\n      default: { token: "\${env:MY_TOKEN}", apiRoot: "${here.telegram.apiRoot}" } # the first\n`
  mkdirSync(here.newcomer.folder, { recursive: true, mode: 0o700 })
  writeFileSync(here.newcomer.file, own, { mode: 0o640 })
  here.newcomer.env.MY_TOKEN = here.telegram.token
  const terminal = here.newcomer.types('--no-start')
  await terminal.shows('main has scripted/echo')
  await terminal.answers('Which platforms do you want to add, or to give another token?', space, enter)
  await terminal.answers('bot token', here.telegram.token, enter)
  await terminal.answers('Which model shall answer?', down, enter)
  expect(await terminal.ended()).toBe(0)
  const lines = here.newcomer.yaml().split('\n')
  expect(lines).toContain('# mine')
  expect(here.newcomer.yaml()).toContain('# later another')
  expect(here.newcomer.yaml()).toContain('# the first')
  expect(here.newcomer.yaml()).toContain('model: ollama/qwen3')
  expect(here.newcomer.yaml()).toContain(`token: "\${file:telegram-token}"`)
  expect(here.newcomer.files()['parley.yaml']).toBe('640')
  const copy = kept(here.newcomer).find((name) => /^parley\.yaml\.20/.test(name)) ?? ''
  expect(readFileSync(join(here.newcomer.folder, copy), 'utf8')).toBe(own)
})

test.each([
  ['LANG', { LANG: 'C', LC_ALL: 'C' }, 80],
  ['NO_COLOR', { NO_COLOR: '1' }, 80],
  ['40 columns', { COLUMNS: '40' }, 40],
])('init with %s: the marks fit the terminal', async (_name, env, columns) => {
  const here = await place()
  Object.assign(here.newcomer.env, env)
  const terminal = here.newcomer.types('--api-root', here.root, '--no-start')
  await upTo(terminal, 'Which model shall answer?', here)
  terminal.presses(enter)
  expect(await terminal.ended()).toBe(0)
  if ('LC_ALL' in env) expect(terminal.text.replaceAll(/[\n\p{ASCII}]/gu, '')).toBe('')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal obeys
  if ('NO_COLOR' in env) expect(terminal.raw).not.toMatch(/\u001b\[(?:3\d|9\d)m/)
  const words = terminal.text.split('\n').filter((line) => line.includes(' ') && !/[_*]{5}|\/|stty/.test(line))
  expect(words.filter((line) => line.length > columns)).toEqual([])
})
