import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { socketPathOf } from '../../src/cli/socket-path.ts'
import { Secret } from '../../src/config/secrets.ts'
import { DEFAULT_AUDIO_LIMITS } from '../../src/core/audio.ts'
import { toAgentId } from '../../src/core/ids.ts'
import {
  SESSION_SETTINGS,
  SETTING_NAMES,
  type SettingName,
  type SettingValue,
  typedInChat,
} from '../../src/core/session-settings.ts'
import { type Reply, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { rig, serveDaemon } from '../cli/rig.ts'
import { shareOf } from '../sample.ts'
import { type Household, startHousehold } from './household.ts'

const KEY = 'telegram:direct:111'
/** No setting takes it. */
const BAD = 'no such value'

async function tell(house: Household, text: string): Promise<string> {
  const mark = house.telegram.ledger.mark()
  house.telegram.world.say({ from: 111, text })
  return (await house.telegram.ledger.nextFromBot('sent', { after: mark })).text
}

/** Returns the value of a setting as every client of the daemon reads it. */
async function storedValue(house: Household, name: SettingName): Promise<unknown> {
  return (await house.daemon.operator.sessions.show(KEY))[name]
}

/** Returns a text as the chat shows it. */
const shown = (text: string): string => text.replaceAll('`', '')

/** Returns what the chat says of a setting, by its record. */
function wordsOf<Name extends SettingName>(name: Name) {
  const { command, example, label, value } = SESSION_SETTINGS[name]
  return {
    typed: typedInChat(SESSION_SETTINGS[name], example),
    unset: command.shown(undefined),
    set: command.shown(example),
    saidSet: shown(command.said(example)),
    saidInherit: shown(command.said(null)),
    usage: shown(command.usage),
    // What may be a model goes by the configuration, so that its refusal names the choices (T37).
    refused: name === 'model' ? `A model is written ${value.takes}. Write one of scripted/echo.` : shown(command.usage),
    status: `set where you asked: ${label} ${example}`,
  }
}

it.each(shareOf(SETTING_NAMES, 0, 3))(
  'T26, T37: %s is set, shown, kept over a restart and cleared by its chat command',
  async (name) => {
    const { command, example } = SESSION_SETTINGS[name]
    const words = wordsOf(name)
    const house = await startHousehold()
    expect(await tell(house, `/${command.name}`)).toBe(`${words.unset} ${words.usage}`)
    expect(await tell(house, '/status')).not.toContain('set where you asked')
    expect(await tell(house, `/${command.name} ${words.typed}`)).toBe(words.saidSet)
    expect(await tell(house, '/status')).toContain(words.status)
    await house.restart()
    expect(await storedValue(house, name)).toBe(example)
    expect(await tell(house, `/${command.name}`)).toBe(`${words.set} ${words.usage}`)
    expect(await tell(house, `/${command.name} ${BAD}`)).toBe(words.refused)
    expect(await storedValue(house, name)).toBe(example)
    expect(await tell(house, `/${command.name} inherit`)).toBe(words.saidInherit)
    expect(await storedValue(house, name)).toBeUndefined()
  },
)

it.each(shareOf(SETTING_NAMES, 1, 3))(
  'T29: %s is set, shown and cleared by its option, which refuses anything else',
  async (name) => {
    const { value, flag, label, example } = SESSION_SETTINGS[name]
    const house = await startHousehold()
    await tell(house, 'hello')
    const parley = await rig()
    await serveDaemon(parley, house.daemon.operator)
    const patch = (text: string) => parley.run('sessions', 'patch', KEY, `--${flag.name}`, text)
    expect(await patch(String(example))).toBe(0)
    expect(parley.out()).toContain(`: ${name} ${example}.`)
    expect(await storedValue(house, name)).toBe(example)
    await parley.run('sessions', 'show', KEY)
    expect(parley.out()).toMatch(new RegExp(`^  ${label} +${example}$`, 'm'))
    expect(await patch(BAD)).toBe(2)
    expect(parley.err()).toContain(`--${flag.name}`)
    expect(parley.err()).toContain(value.takes)
    expect(await storedValue(house, name)).toBe(example)
    expect(await patch('inherit')).toBe(0)
    expect(parley.out()).toContain(': everything as configured.')
    expect(await storedValue(house, name)).toBeUndefined()
  },
)

it.each(shareOf(SETTING_NAMES, 2, 3))(
  'T29: %s is set and cleared by the local API, which refuses anything else',
  async (name) => {
    const { value, example } = SESSION_SETTINGS[name]
    const house = await startHousehold()
    await tell(house, 'hello')
    const parley = await rig()
    await serveDaemon(parley, house.daemon.operator)
    const patch = (given: unknown) => patchOver(socketPathOf(parley.loaded.config), { [name]: given })
    expect(await patch(example)).toMatchObject([200, { [name]: example }])
    for (const bad of [BAD, true, {}]) {
      const message = expect.stringContaining(value.takes)
      expect(await patch(bad)).toMatchObject([400, { error: { code: 'invalid', message } }])
    }
    expect(await storedValue(house, name)).toBe(example)
    expect(await patch(null)).toMatchObject([200, expect.not.objectContaining({ [name]: expect.anything() })])
    expect(await storedValue(house, name)).toBeUndefined()
  },
)

/** Thinks and asks for the time where it may, then answers. */
const thoughtful: Script = ({ messages, thinking }): Reply => {
  if (JSON.stringify(messages.at(-1)).includes('tool_result')) return textReply('it is late')
  const thought =
    thinking && thinking.type !== 'disabled' ? [{ type: 'thinking', thinking: 'what time?' } as const] : []
  return { blocks: [...thought, { type: 'tool_use', name: 'current_time', input: {} }] }
}

/** Returns all that people and the model's provider can see of one message, with `value` set. */
async function effectOf(name: SettingName, value: SettingValue | null): Promise<unknown> {
  const agent = {
    id: toAgentId('main'),
    model: 'anthropic/claude-haiku-4-5',
    prompt: 'You are Parley.',
    tools: ['time'],
  }
  const speaker = await startOpenAiServer({ apiKey: 'sk-voice' })
  onTestFinished(speaker.close)
  const speak = { model: 'tts-1', voice: 'alloy', format: 'opus' } as const
  const key = { apiKey: new Secret('sk-voice'), limits: DEFAULT_AUDIO_LIMITS }
  const audio = { baseUrl: speaker.baseUrl, ...key, speak }
  const budgets = { timezone: 'UTC', warnAt: 1, prices: {} }
  const house = await startHousehold({
    script: thoughtful,
    streaming: false,
    config: { agents: [agent], audio, budgets },
  })
  await tell(house, 'hello')
  await house.daemon.operator.sessions.patch(KEY, { [name]: value })
  const said = house.telegram.ledger.calls('sendMessage').length
  const before = house.anthropic?.ledger.requests().length ?? 0
  const { message_id: id } = house.telegram.world.say({ from: 111, text: 'what time is it?' })
  const ended = async () => {
    const [report] = await house.daemon.operator.why(String(id))
    const owed = ['waiting', 'claimed', undefined].includes(report?.outcome)
    return !owed && report?.deliveries.every(({ state }) => state === 'sent') ? report : undefined
  }
  await expect.poll(ended).toBeDefined()
  const calls = (house.anthropic?.ledger.requests() ?? []).slice(before)
  return {
    outcome: (await ended())?.outcome,
    sent: house.telegram.ledger
      .calls('sendMessage')
      .slice(said)
      .map(({ params }) => params.text),
    asked: calls.map(({ system: _, messages: __, ...settings }) => settings),
  }
}

it.each(SETTING_NAMES)('T37: %s has an effect that people or the provider of the model can see', async (name) => {
  const [without, set] = [await effectOf(name, null), await effectOf(name, SESSION_SETTINGS[name].example)]
  expect(set).not.toEqual(without)
  expect(await effectOf(name, null)).toEqual(without)
})

async function patchOver(socketPath: string, changes: unknown): Promise<[status: number | undefined, body: unknown]> {
  const path = `/v1/sessions/${encodeURIComponent(KEY)}`
  const call = request({ socketPath, path, method: 'PATCH', agent: false })
  call.end(JSON.stringify(changes))
  const [response] = (await once(call, 'response')) as [IncomingMessage]
  let body = ''
  for await (const chunk of response.setEncoding('utf8')) body += chunk
  return [response.statusCode, JSON.parse(body)]
}
