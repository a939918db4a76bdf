import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { AnthropicServer } from '../../src/rehearsal/anthropic/server.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { startHousehold } from './household.ts'
import { startSlackHousehold } from './slack-household.ts'

/** Ada in private, where every command is hers. */
interface Place {
  readonly anthropic: AnthropicServer | undefined
  /** Says it and resolves once it is answered. */
  say(text: string): Promise<unknown>
  /** Runs a command and resolves with its answer. */
  run(command: string, args: string): Promise<string>
  stop(): Promise<unknown>
}

const script: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)
const config = {
  agents: [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Talk.', tools: ['memory', 'schedule'] }],
  budgets: { timezone: 'UTC', warnAt: 1, prices: {}, total: { day: { tokens: 10_000_000 } } },
}

async function onTelegram(): Promise<Place> {
  const { anthropic, telegram, daemon } = await startHousehold({ script, streaming: false, config })
  const { ledger, world } = telegram
  const hear = async (text: string) => {
    const after = ledger.mark()
    world.say({ from: 111, text })
    return (await ledger.nextFromBot('sent', { after })).text
  }
  return { anthropic, say: hear, run: (command, args) => hear(`/${command} ${args}`.trim()), stop: () => daemon.stop() }
}

async function onDiscord(): Promise<Place> {
  const house = await startDiscordHousehold({ script, config })
  const { ledger, world } = house.discord
  const { channel } = world.direct('222')
  await ledger.nextCall('overwriteCommands')
  return {
    anthropic: house.anthropic,
    say(text) {
      const after = ledger.mark()
      world.say({ from: '222', channel, text })
      return ledger.nextFromBot('sent', { after, where: (entry) => entry.text.startsWith('heard') })
    },
    async run(command, input) {
      const after = ledger.mark()
      world.slash({ from: '222', channel, command, ...(input === '' ? {} : { input }) })
      return (await ledger.nextWhisper('edited', { after })).text
    },
    stop: house.stop,
  }
}

async function onSlack(): Promise<Place> {
  const house = await startSlackHousehold({ script, config, slack: { app: { slashCommands: ['/parley'] } } })
  const { ledger, world } = house.slack
  const { id: channel } = world.direct('U333')
  return {
    anthropic: house.anthropic,
    say(text) {
      const after = ledger.mark()
      world.say({ from: 'U333', text })
      return ledger.nextFromBot('sent', { after, where: (entry) => entry.text.startsWith('heard') })
    },
    async run(command, args) {
      const after = ledger.mark()
      world.slash({ from: 'U333', channel, command: '/parley', text: `${command} ${args}`.trim() })
      return (await ledger.nextWhisper({ after })).text
    },
    stop: house.stop,
  }
}

/** Each with words that its answer has where it did its work. */
const PLAYED: readonly (readonly [command: string, args: string, answer: RegExp])[] = [
  ['title', 'The garden', /The garden/],
  ['title', '', /The garden/],
  ['sessions', '', /The garden/],
  ['memory', '', /./],
  ['remember', 'Ada likes tea', /remember|#?1/i],
  ['memory', '', /tea/],
  ['budget', '', /everything, day/],
  ['status', '', /Parley/],
  ['usage', '', /turn/],
  ['why', '', /./],
  ['whoami', '', /ada/i],
  ['approvals', '', /./],
  ['outbox', '', /./],
  ['think', 'high', /./],
  ['think', 'default', /./],
  ['maxcost', '2.50', /2\.50/],
  ['maxcost', 'inherit', /./],
  ['remind', 'in 3 hours water the plants', /./],
  ['stop', '', /./],
  ['undo', '', /^Taken back/],
  ['forget', 'last', /^Forgotten/],
  ['forget', 'me', /Nothing was removed yet/],
  ['forget', 'me yes', /^Forgotten/],
  ['resume', '1', /./],
]

/** Those that are for a call, begin another session, or answer people and questions that are not there. */
const NOT_PLAYED = [
  ...['retry', 'compact', 'checkpoint', 'side', 'new', 'start', 'mute'],
  ...['link', 'unlink', 'admit', 'deny', 'approve', 'answer', 'verbose', 'model', 'send', 'voice', 'help'],
]

it.each(Object.entries({ telegram: onTelegram, discord: onDiscord, slack: onSlack }))(
  'no command of a chat but those that are for that calls a model, and /retry does once: on %s',
  async (_platform, open) => {
    const place = await open()
    const requests = () => place.anthropic?.ledger.requests().length
    const said = ['the code is 4711', 'my secret is blue', 'plans for the garden']
    for (const text of said) await place.say(text)
    const listed = [...(await place.run('help', '')).matchAll(/(?<![\w`])[/!](\w+)/g)].map(([, name]) => name)
    const known = new Set<string | undefined>([...NOT_PLAYED, ...PLAYED.map(([command]) => command)])
    expect(listed.length).toBeGreaterThan(20)
    expect(listed.filter((name) => !known.has(name))).toEqual([])
    for (const [command, args, answer] of PLAYED) {
      expect(await place.run(command, args), command).toMatch(answer)
      expect(requests(), command).toBe(said.length)
    }
    await place.say('and now?')
    expect(requests()).toBe(said.length + 1)
    await place.run('retry', '')
    await expect.poll(requests).toBe(said.length + 2)
    await place.stop()
    expect(requests()).toBe(said.length + 2)
  },
)
