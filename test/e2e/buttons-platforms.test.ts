import { expect, it } from 'vitest'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { startSlackHousehold } from './slack-household.ts'

interface Shown {
  readonly text: string
  /** The commands of the buttons, by their labels. */
  readonly buttons: Readonly<Record<string, string>>
}

/** What the tests do on a platform, where Ada owns the agent and Bob is a member. */
interface Stage {
  /** Says something in the direct chat of a person. */
  say(person: 'ada' | 'bob' | 'cy', text: string): void
  /** Resolves once Ada is asked about Cy: the card as it stands in her chat. */
  card(): Promise<Shown>
  /** Presses a button of the card; resolves with what this person alone is shown. */
  press(person: 'ada' | 'bob', data: string): Promise<string>
  /** Resolves once the card was edited. */
  closed(): Promise<Shown>
  /** Resolves with what the bot says to Cy. */
  toCy(words: string): Promise<string>
}

const script = () => textReply('welcome')

async function slackStage(): Promise<Stage> {
  const { slack } = await startSlackHousehold({
    script,
    routing: policy({ people: [owner('ada', 'slack:T01/U333'), member('bob', 'slack:T01/U444')] }),
  })
  const { world, ledger } = slack
  const ids = { ada: 'U333', bob: 'U444', cy: 'U555' }
  const at = { channel: '', message: '' }
  const shown = ({ text, attachments = [] }: { text: string; attachments?: unknown }): Shown => {
    const elements = (attachments as { blocks: { elements: { text: { text: string }; value: string }[] }[] }[]).flatMap(
      ({ blocks }) => blocks.flatMap((block) => block.elements),
    )
    return { text, buttons: Object.fromEntries(elements.map(({ text, value }) => [text.text, value])) }
  }
  return {
    say: (person, text) => void world.say({ from: ids[person], text }),
    async card() {
      const { channel, message } = await ledger.nextFromBot('sent', { where: ({ text }) => text.includes('!admit') })
      Object.assign(at, { channel, message: message.ts })
      // Only who is there can press.
      world.setMember(channel, true, 'U444')
      return shown(message)
    },
    async press(person, value) {
      const after = ledger.mark()
      world.press({ from: ids[person], ...at, value })
      return (await ledger.nextWhisper({ after })).text
    },
    closed: async () =>
      shown((await ledger.nextFromBot('edited', { where: ({ message }) => message.ts === at.message })).message),
    toCy: async (words) => (await ledger.nextFromBot('sent', { where: ({ text }) => text.includes(words) })).text,
  }
}

async function discordStage(): Promise<Stage> {
  const { discord } = await startDiscordHousehold({
    script,
    routing: policy({ people: [owner('ada', 'discord:222'), member('bob', 'discord:444')] }),
  })
  const { world, ledger } = discord
  const ids = { ada: '222', bob: '444', cy: '555' }
  const at = { channel: '', message: '' }
  const shown = ({ content, components }: { content: string; components: readonly unknown[] }): Shown => {
    const rows = components as { components: { label: string; custom_id: string }[] }[]
    const buttons = rows.flatMap((row) => row.components)
    return { text: content, buttons: Object.fromEntries(buttons.map(({ label, custom_id: id }) => [label, id])) }
  }
  return {
    say: (person, text) => void world.say({ from: ids[person], text }),
    async card() {
      const { channelId, message } = await ledger.nextFromBot('sent', { where: ({ text }) => text.includes('/admit') })
      Object.assign(at, { channel: channelId, message: message.id })
      return shown(message)
    },
    async press(person, data) {
      const after = ledger.mark()
      world.press({ from: ids[person], ...at, data })
      return (await ledger.nextWhisper('edited', { after })).text
    },
    closed: async () =>
      shown((await ledger.nextFromBot('edited', { where: ({ message }) => message.id === at.message })).message),
    toCy: async (words) => (await ledger.nextFromBot('sent', { where: ({ text }) => text.includes(words) })).text,
  }
}

it.each([
  ['Slack', slackStage],
  ['Discord', discordStage],
])('F-G08, F-H12: on %s somebody is let in by one press of an owner, and by nobody else’s', async (_, open) => {
  const stage = await open()
  stage.say('ada', 'hello')
  await stage.toCy('welcome')
  stage.say('cy', 'may I?')
  const { text, buttons } = await stage.card()
  const [, code = ''] = /[!/]admit (\w+)/.exec(text) ?? []
  expect(buttons).toEqual({ 'Let them in': `/admit ${code}`, 'Keep out': `/deny ${code}` })
  expect(await stage.press('bob', `/admit ${code}`)).toBe('Only my owner may do that.')
  expect(await stage.press('ada', 'something else')).toContain('does nothing any more')
  expect(await stage.press('ada', `/admit ${code}`)).toContain(code)
  const closed = await stage.closed()
  expect(closed.text).toMatch(/Let in by ada\.$/)
  expect(closed.buttons).toEqual({})
})
