import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { askingScript } from './questioning.ts'
import { startSlackHousehold } from './slack-household.ts'

interface Shown {
  readonly text: string
  /** The commands of the buttons, by their labels. */
  readonly buttons: Readonly<Record<string, string>>
}

/** What the test does in a thread of a platform, where Ada owns the agent and Bob may talk. */
interface Stage {
  say(person: 'ada' | 'bob', text: string): void
  /** Resolves once the question stands in the thread. */
  card(): Promise<Shown>
  /** Presses a button of it; resolves with what this person alone is shown. */
  press(person: 'ada' | 'bob', data: string): Promise<string>
  closed(): Promise<Shown>
  /** Resolves with what the bot says in the thread. */
  heard(words: string): Promise<string>
}

const access = { direct: 'owner', groups: [{ match: {}, who: 'public', trigger: 'mention' }] } as const
const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['ask'] }]

async function slackStage(): Promise<Stage> {
  const { slack } = await startSlackHousehold({
    ...{ script: askingScript, agents },
    routing: policy({ people: [owner('ada', 'slack:T01/U333'), member('bob', 'slack:T01/U444')], access }),
  })
  const { world, ledger } = slack
  const { id: channel } = world.addChannel({ name: 'paint', members: ['U333', 'U444'] })
  const ids = { ada: 'U333', bob: 'U444' }
  let message = ''
  const shown = ({ text, attachments = [] }: { text: string; attachments?: unknown }): Shown => {
    const all = attachments as { blocks: { elements: { text: { text: string }; value: string }[] }[] }[]
    const elements = all.flatMap(({ blocks }) => blocks.flatMap((block) => block.elements))
    return { text, buttons: Object.fromEntries(elements.map(({ text: label, value }) => [label.text, value])) }
  }
  return {
    say: (person, text) => void world.say({ from: ids[person], channel, text: `<@U0BOT> ${text}` }),
    async card() {
      const found = await ledger.nextFromBot('sent', { where: ({ text }) => text.includes('Which') })
      message = found.message.ts
      return shown(found.message)
    },
    async press(person, value) {
      const after = ledger.mark()
      world.press({ from: ids[person], channel, message, value })
      return (await ledger.nextWhisper({ after })).text
    },
    closed: async () => shown((await ledger.nextFromBot('edited')).message),
    heard: async (words) => (await ledger.nextFromBot('sent', { where: ({ text }) => text.includes(words) })).text,
  }
}

async function discordStage(): Promise<Stage> {
  const { discord, channel } = await startDiscordHousehold({
    ...{ script: askingScript, agents },
    routing: policy({ people: [owner('ada', 'discord:222'), member('bob', 'discord:444')], access }),
  })
  const { world, ledger } = discord
  const ids = { ada: '222', bob: '444' }
  let message = ''
  const shown = ({ content, components }: { content: string; components: readonly unknown[] }): Shown => {
    const rows = components as { components: { label: string; custom_id: string }[] }[]
    const buttons = rows.flatMap((row) => row.components)
    return { text: content, buttons: Object.fromEntries(buttons.map(({ label, custom_id: id }) => [label, id])) }
  }
  return {
    say: (person, text) => void world.say({ from: ids[person], channel, text: `<@900000000000000001> ${text}` }),
    async card() {
      const found = await ledger.nextFromBot('sent', { where: ({ text }) => text.includes('Which') })
      message = found.message.id
      return shown(found.message)
    },
    async press(person, data) {
      const after = ledger.mark()
      world.press({ from: ids[person], channel: channel.id, message, data })
      return (await ledger.nextWhisper('edited', { after })).text
    },
    closed: async () => shown((await ledger.nextFromBot('edited')).message),
    heard: async (words) => (await ledger.nextFromBot('sent', { where: ({ text }) => text.includes(words) })).text,
  }
}

it.each([
  ['Slack', '!', slackStage],
  ['Discord', '/', discordStage],
])(
  'S7, F-H07: on %s a question names its command with %s, and is answered by a press of whoever was asked alone',
  async (_, mark, open) => {
    const stage = await open()
    stage.say('bob', 'ask me')
    const { text, buttons } = await stage.card()
    const [, typed, code = ''] = /`(.)answer (\w+)`/.exec(text) ?? []
    expect(typed).toBe(mark)
    expect(buttons).toEqual({ Red: `/answer ${code} 1`, Blue: `/answer ${code} 2`, 'Deep green': `/answer ${code} 3` })
    expect(await stage.press('ada', `/answer ${code} 1`)).toBe('That question is not for you.')
    expect(await stage.press('bob', `/answer ${code} 2`)).toBe('Noted: Blue.')
    expect(await stage.heard('it says:')).toMatch(/bob chose: Blue/i)
    const closed = await stage.closed()
    expect(closed.text).toMatch(/Answered by bob: Blue$/i)
    expect(closed.buttons).toEqual({})
    expect(await stage.press('bob', `/answer ${code} 1`)).toContain('is over')
  },
)
