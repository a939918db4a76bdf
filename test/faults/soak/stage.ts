import { lastUserText, type Script, textReply } from '../../../src/rehearsal/anthropic/script.ts'
import { startAnthropicServer } from '../../../src/rehearsal/anthropic/server.ts'
import { startDiscordServer } from '../../../src/rehearsal/discord/server.ts'
import { startSlackServer } from '../../../src/rehearsal/slack/server.ts'
import { startTelegramServer } from '../../../src/rehearsal/telegram/server.ts'
import { START_WITHIN_MS } from '../daemon-child.ts'
import { CHATS, PLATFORMS, type Platform } from './plan.ts'
import { END, type Said, wordsOf } from './tally.ts'

export type Stage = Awaited<ReturnType<typeof openStage>>

/** Without the platform's pauses of minutes: a soak kills more often than a platform asks. */
const PATIENT = { ackMs: 3_000, retryAfterMs: Array<number>(50).fill(0) }
/** One answer in so many is slow enough to be shown while it grows. */
const SLOW_EVERY = 12

/** Says every word of the messages that are not answered yet. */
const parrot: Script = (request) => {
  const words = wordsOf(lastUserText(request))
  const slow = words.some((word) => Number(word.slice(1)) % SLOW_EVERY === 0)
  return textReply(`echo of ${words.join(' ')}${END}`, { delayMs: slow ? 300 : 5 })
}

/** Three platforms with the same number of conversations on each, and a model. */
export async function openStage() {
  const telegram = await startTelegramServer()
  const discord = await startDiscordServer()
  const slack = await startSlackServer({ redelivery: PATIENT })
  const anthropic = await startAnthropicServer({ script: parrot })
  const chats = {
    telegram: telegramChats(telegram.world),
    discord: discordChats(discord.world),
    slack: slackChats(slack.world),
  }
  const said: Said[] = []
  return {
    ...{ telegram, discord, slack, anthropic },
    /** All that people said, in order. */
    said: said as readonly Said[],
    say(platform: Platform, chat: number, word: string): void {
      const at = Date.now()
      const place = chats[platform][chat]?.(`please say ${word}`) ?? ''
      said.push({ platform, chat: place, word, at })
    },
    /** Resolves when a daemon hears all three. */
    async listening(): Promise<void> {
      const patience = { timeoutMs: START_WITHIN_MS }
      const { ledger } = slack
      await Promise.all([
        telegram.ledger.listening(patience),
        discord.ledger.listening(patience),
        ledger.nextSocket(patience),
      ])
    },
    async close(): Promise<void> {
      await Promise.all([telegram, discord, slack, anthropic].map((server) => server.close()))
    },
  }
}

/** Calls `act` for each conversation. */
export function everywhere(act: (platform: Platform, chat: number) => void): void {
  for (const platform of PLATFORMS) for (let chat = 0; chat < CHATS; chat++) act(platform, chat)
}

/** Speaks in a conversation and returns the conversation's id. */
type Speak = (text: string) => string

function telegramChats(world: Awaited<ReturnType<typeof startTelegramServer>>['world']): Speak[] {
  return numbers().map((index) => {
    const { id } = world.addUser({ id: 3001 + index, firstName: `Person ${index}` })
    return (text) => String(world.say({ from: id, text }).chat.id)
  })
}

/** Half of them are channels of a guild, half direct. */
function discordChats(world: Awaited<ReturnType<typeof startDiscordServer>>['world']): Speak[] {
  const guild = world.addGuild({ name: 'Workshop' })
  return numbers().map((index) => {
    const { id: from } = world.addUser({ id: `${4001 + index}`, username: `person-${index}` })
    if (index % 2 === 0) return (text) => world.say({ from, text }).channel_id
    const { id: channel } = world.addChannel({ guild, name: `room-${index}` })
    return (text) => world.say({ from, channel, text }).channel_id
  })
}

function slackChats(world: Awaited<ReturnType<typeof startSlackServer>>['world']): Speak[] {
  return numbers().map((index) => {
    const id = `U${5001 + index}`
    world.addUser({ id, name: `person-${index}` })
    const { id: chat } = world.direct(id)
    return (text) => {
      world.say({ from: id, text })
      return chat
    }
  })
}

function numbers(): number[] {
  return Array.from({ length: CHATS }, (_, index) => index)
}
