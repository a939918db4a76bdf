import { startDiscordServer } from '../../src/rehearsal/discord/server.ts'
import type { WaitOptions } from '../../src/rehearsal/ledger.ts'
import { startSlackServer } from '../../src/rehearsal/slack/server.ts'
import type { BotMessage } from './delivery-invariants.ts'
import type { OtherPlatform } from './scene.ts'

/** One conversation of the owner with the bot on a platform beside Telegram. */
export interface OtherPlace extends OtherPlatform {
  say(text: string): void
  /** Waits for a message of the bot that contains `text`. */
  sent(text: string, options?: WaitOptions): Promise<unknown>
  /** Texts of the bot's messages as they stand, oldest first. */
  texts(): string[]
  /** Where the ledger stands now. */
  mark(): number
  /** Waits until the daemon hears this platform. */
  listening(options?: WaitOptions): Promise<unknown>
  /** Sends that found the first one again: calls answered from a key, or look-ups of what is there. */
  found(): number
  close(): Promise<void>
}

const FAST = { perSecond: 1000, perChatPerSecond: 1000, perGroupPerMinute: 60_000 }

/** Ada in a channel of her guild. */
export async function discordPlace(): Promise<OtherPlace> {
  const { world, ledger, token, apiRoot, close } = await startDiscordServer()
  world.addUser({ id: '222', username: 'ada', displayName: 'Ada' })
  const guild = world.addGuild({ name: 'Workshop' })
  const channel = world.addChannel({ guild, name: 'engines' })
  const messages = () => world.messages(channel, { bot: true }).map(({ message }) => message)
  return {
    accounts: { discord: { token, apiRoot, streaming: false, limits: FAST } },
    say: (text) => void world.say({ from: '222', channel, text }),
    sent: (text, options) => ledger.nextFromBot('sent', { ...options, where: (entry) => entry.text.includes(text) }),
    texts: () => messages().map(({ content }) => content),
    botMessages: () => messages().map(({ id, content }) => asTold(channel.id, id, content)),
    mark: () => ledger.mark(),
    listening: (options) => ledger.listening(options),
    found: () => ledger.count(({ kind }) => kind === 'repeated'),
    close,
  }
}

/** Ada in a channel or, since a mention there begins a thread, in a thread of it. The app may read the history. */
export async function slackPlace(where: 'channel' | 'thread'): Promise<OtherPlace> {
  const { world, ledger, app, apiRoot, close } = await startSlackServer()
  world.addUser({ id: 'U333', name: 'ada', displayName: 'Ada' })
  const { id: channel } = world.addChannel({ name: 'workshop', members: ['U333'] })
  const { botToken, appToken } = app
  const messages = () => world.messages(channel, { by: 'bot' }).map(({ message }) => message)
  let thread: ReturnType<typeof world.say> | undefined
  return {
    accounts: { slack: { botToken, appToken, apiRoot, streaming: false, limits: FAST } },
    say(text) {
      if (where === 'channel') world.say({ from: 'U333', channel, text })
      else if (thread) world.say({ from: 'U333', channel, thread, text })
      else thread = world.say({ from: 'U333', channel, text: `<@U0BOT> ${text}` })
    },
    sent: (text, options) => ledger.nextFromBot('sent', { ...options, where: (entry) => entry.text.includes(text) }),
    texts: () => messages().map(({ text }) => text ?? ''),
    botMessages: () => messages().map(({ ts, text }) => asTold(channel, ts, text ?? '')),
    mark: () => ledger.mark(),
    listening: (options) => ledger.nextSocket(options),
    found: () => ledger.calls(where === 'thread' ? 'conversations.replies' : 'conversations.history').length,
    close,
  }
}

function asTold(chat: string, id: string, text: string): BotMessage {
  return { chat, id, texts: [text], deleted: false }
}
