import { expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/start.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type Case, expected, type MatrixPolicy, type Place, type SenderKind } from '../routing/permission-oracle.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { startHousehold } from './household.ts'
import { startSlackHousehold } from './slack-household.ts'

/** What the households are configured to. */
const POLICY: MatrixPolicy = {
  direct: 'allowlist',
  groups: { who: 'public', trigger: 'mention', bots: 'mentioned' },
  ownerAlwaysTriggers: true,
  edits: 'update',
  deletions: 'redact',
  silentGroups: false,
}

const script: Script = (request) => textReply(`heard ${lastUserText(request)}`)

interface Said {
  readonly place: Place
  readonly sender: SenderKind
  readonly message: string
}

/** Every message is decided as the rules in words say. */
async function agree(platform: Case['platform'], daemon: Daemon, said: readonly Said[]): Promise<void> {
  const decided = async ({ message }: Said): Promise<string> => {
    const [report] = await daemon.operator.why(message)
    return report ? `${report.decision}/${report.reason}` : 'unheard'
  }
  for (const one of said) {
    const due = expected({ platform, place: one.place, sender: one.sender, event: 'mention', policy: POLICY })
    await expect.poll(() => decided(one), { message: `${platform} ${one.place} ${one.sender}` }).toBe(due)
  }
}

it('F-H01: a sample of the matrix through the real Telegram client', async () => {
  const { telegram, daemon } = await startHousehold({ script })
  const { world } = telegram
  world.addUser({ id: 777, firstName: 'Ada', isBot: true })
  const members = [111, 444, 555, 777]
  const { id: chat } = world.addChat({ type: 'supergroup', title: 'Family', members })
  const forum = world.addChat({ type: 'supergroup', title: 'Club', forum: true, members })
  const topic = world.addTopic({ chat: forum, name: 'A' })
  const news = world.addChat({ type: 'channel', title: 'News', members })
  const text = '@parley_bot hello'
  const people = { owner: 111, allowed: 444, 'deleted account': 555 } as const
  const said: Said[] = Object.entries(people).flatMap(([kind, from]) => {
    const sender = kind as keyof typeof people
    return [
      { place: 'group', sender, message: String(world.say({ from, chat, text }).message_id) },
      { place: 'topic', sender, message: `${world.say({ from, chat: forum, topic, text }).message_id}` },
    ] satisfies Said[]
  })
  const hidden = (sender: SenderKind, more: object): Said => {
    const { message_id } = world.say({ from: 555, chat, text, ...more })
    return { place: 'group', sender, message: String(message_id) }
  }
  said.push(hidden('anonymous admin', { senderChat: chat }), hidden('other bot', { from: 777 }))
  said.push(hidden('linked channel', { senderChat: news, extra: { is_automatic_forward: true } }))
  const unique = said.filter(({ message }, at) => said.findIndex((other) => other.message === message) === at)
  await agree('telegram', daemon, unique)
})

it('F-H01: a sample of the matrix through the real Discord client', async () => {
  const { discord, daemon, channel, thread } = await startDiscordHousehold({ script })
  const { world } = discord
  const robot = world.addUser({ id: '777', username: 'ada', displayName: 'Ada', isBot: true })
  const text = `<@${world.bot.id}> hello`
  const people = { owner: '222', 'deleted account': '555' } as const
  const said: Said[] = Object.entries(people).flatMap(([kind, from]) => {
    const sender = kind as keyof typeof people
    return [
      { place: 'direct', sender, message: world.say({ from, text }).id },
      { place: 'group', sender, message: world.say({ from, channel, text }).id },
      { place: 'thread', sender, message: world.say({ from, channel: thread, text }).id },
    ] satisfies Said[]
  })
  const webhook = world.say({ from: '444', channel, text, extra: { webhook_id: '444' } }).id
  said.push({ place: 'group', sender: 'other bot', message: world.say({ from: robot, channel, text }).id })
  said.push({ place: 'group', sender: 'webhook', message: webhook })
  await agree('discord', daemon, said)
})

it('F-H01: a sample of the matrix through the real Slack client', async () => {
  const { slack, daemon } = await startSlackHousehold({ script })
  const { world } = slack
  const visitor = world.addUser({ id: 'U999', name: 'ada', displayName: 'Ada', team: 'T02' })
  const { id: channel } = world.addChannel({ name: 'family', members: ['U333', 'U444', 'U555', visitor] })
  const root = world.say({ from: 'U444', channel, text: 'good morning' })
  const text = '<@U0BOT> hello'
  const people = { owner: 'U333', 'deleted account': 'U555' } as const
  const said: Said[] = Object.entries(people).flatMap(([kind, from]) => {
    const sender = kind as keyof typeof people
    return [
      { place: 'direct', sender, message: world.say({ from, text }).ts },
      { place: 'group', sender, message: world.say({ from, channel, text }).ts },
      { place: 'thread', sender, message: world.say({ from, channel, thread: root, text }).ts },
    ] satisfies Said[]
  })
  const outside = world.say({ from: visitor, channel, text }).ts
  const webhook = world.say({ from: 'U555', channel, text, extra: { bot_id: 'B99', user: undefined } }).ts
  said.push({ place: 'group', sender: 'external team', message: outside })
  said.push({ place: 'group', sender: 'webhook', message: webhook })
  await agree('slack', daemon, said)
})
