import { expect } from 'vitest'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import type { Daemon } from '../../src/daemon/start.ts'
import type { Script } from '../../src/rehearsal/anthropic/script.ts'
import type { AnthropicServer } from '../../src/rehearsal/anthropic/server.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { startHousehold } from './household.ts'
import { startSlackHousehold } from './slack-household.ts'

/** Ada owns the agent, Bob and Cy are others; the robot is another bot. */
export type Actor = 'ada' | 'bob' | 'cy' | 'robot'

/** One group on one platform, spoken in through the rehearsal server and heard by the real client. */
export interface GroupStage {
  readonly anthropic: AnthropicServer
  readonly daemon: Daemon
  /** How the agent, and how Cy, is mentioned there. */
  readonly mention: string
  readonly mentionCy: string
  /** The robot's id as `botIds` has it. */
  readonly robot: string
  /** Returns the id the platform gave the message. */
  say(actor: Actor, text: string): string
  edit(message: string, text: string): void
  /** Undefined where the platform does not tell bots. */
  readonly remove: ((message: string) => void) | undefined
  /** What the agent said in the group, in order. */
  answers(): readonly string[]
}

export interface StageOptions {
  readonly script: Script
  readonly routing?: Partial<RoutingPolicy>
}

export const PLATFORMS = ['telegram', 'discord', 'slack'] as const
export type Platform = (typeof PLATFORMS)[number]

export const ROBOTS: Readonly<Record<Platform, string>> = {
  telegram: 'telegram:777',
  discord: 'discord:777',
  slack: 'slack:T01/U777',
}

export function openStage(platform: Platform, options: StageOptions): Promise<GroupStage> {
  return { telegram: telegramStage, discord: discordStage, slack: slackStage }[platform](options)
}

async function telegramStage(options: StageOptions): Promise<GroupStage> {
  const { telegram, anthropic, daemon } = await startHousehold(options)
  if (!anthropic) throw new Error('the stage needs a model')
  const { world } = telegram
  world.addUser({ id: 777, firstName: 'Robot', isBot: true })
  world.addUser({ id: 556, firstName: 'Cy', username: 'cyrus' })
  const { id: chat } = world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444, 556, 777] })
  const ids = { ada: 111, bob: 444, cy: 556, robot: 777 }
  return {
    anthropic,
    daemon,
    mention: '@parley_bot',
    mentionCy: '@cyrus',
    robot: ROBOTS.telegram,
    say: (actor, text) => String(world.say({ from: ids[actor], chat, text }).message_id),
    edit: (message, text) => void world.edit({ chat, message: Number(message), text }),
    remove: undefined,
    answers: () => world.messages(chat, { by: 'bot' }).map(({ message }) => message.text ?? ''),
  }
}

async function discordStage(options: StageOptions): Promise<GroupStage> {
  const { discord, anthropic, daemon, channel } = await startDiscordHousehold(options)
  const { world } = discord
  world.addUser({ id: '777', username: 'robot', displayName: 'Robot', isBot: true })
  const ids = { ada: '222', bob: '444', cy: '555', robot: '777' }
  return {
    anthropic,
    daemon,
    mention: `<@${world.bot.id}>`,
    mentionCy: '<@555>',
    robot: ROBOTS.discord,
    say: (actor, text) => world.say({ from: ids[actor], channel, text }).id,
    edit: (message, text) => void world.edit({ channel, message, text }),
    remove: (message) => world.remove(channel, message),
    answers: () => world.messages(channel, { bot: true }).map(({ message }) => message.content),
  }
}

/** In a thread: a mention at the root of a channel would begin one of its own. */
async function slackStage(options: StageOptions): Promise<GroupStage> {
  const { slack, anthropic, daemon } = await startSlackHousehold(options)
  const { world } = slack
  world.addUser({ id: 'U777', name: 'robot', displayName: 'Robot', isBot: true })
  const { id: channel } = world.addChannel({ name: 'family', members: ['U333', 'U444', 'U555', 'U777'] })
  const thread = world.say({ from: 'U444', channel, text: 'good morning' })
  const ids = { ada: 'U333', bob: 'U444', cy: 'U555', robot: 'U777' }
  return {
    anthropic,
    daemon,
    mention: '<@U0BOT>',
    mentionCy: '<@U555>',
    robot: ROBOTS.slack,
    say(actor, text) {
      const extra = actor === 'robot' ? { extra: { bot_id: 'B777' } } : {}
      return world.say({ from: ids[actor], channel, thread, text, ...extra }).ts
    },
    edit: (message, text) => void world.edit({ channel, message, text }),
    remove: (message) => world.remove(channel, message),
    answers: () => world.messages(channel, { by: 'bot' }).map(({ message }) => message.text),
  }
}

/** `run/mentioned answered`: what was decided about a message and what came of it, once that is known. */
export async function fateOf({ daemon }: GroupStage, message: string): Promise<string> {
  const fate = async (): Promise<string> => {
    const report = (await daemon.operator.why(message)).find(({ event }) => event === 'message')
    return report ? `${report.decision}/${report.reason} ${report.outcome}` : 'unheard'
  }
  await expect.poll(fate).not.toMatch(/unheard|waiting|claimed/)
  return fate()
}

/** How many events of this kind the daemon has decided about the message. */
export const heardOf = async ({ daemon }: GroupStage, message: string, event: 'edit' | 'delete'): Promise<number> =>
  (await daemon.operator.why(message)).filter((report) => report.event === event).length
