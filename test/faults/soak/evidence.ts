import type { DiscordEntry } from '../../../src/rehearsal/discord/ledger-entries.ts'
import type { SlackEntry } from '../../../src/rehearsal/slack/ledger-entries.ts'
import type { TelegramEntry } from '../../../src/rehearsal/telegram/ledger-entries.ts'
import type { Stage } from './stage.ts'
import type { Answer, Said } from './tally.ts'

/** Returns the bot's messages as they stand, oldest first; `at` is when the present text came. */
export function answersOf({ telegram, discord, slack }: Stage): Answer[] {
  return [
    ...standing('telegram', telegram.ledger.entries.flatMap(inTelegram)),
    ...standing('discord', discord.ledger.entries.flatMap(inDiscord)),
    ...standing('slack', slack.ledger.entries.flatMap(inSlack)),
  ]
}

interface Change {
  readonly change: 'sent' | 'edited' | 'deleted'
  readonly chat: string
  readonly id: string
  readonly at: number
  readonly text: string
}

function standing(platform: Answer['platform'], changes: readonly Change[]): Answer[] {
  const messages = new Map<string, Answer>()
  for (const { change, chat, id, at, text } of changes) {
    const key = `${chat}/${id}`
    if (change === 'deleted') messages.delete(key)
    else messages.set(key, { platform, chat, at, text })
  }
  return [...messages.values()]
}

function inTelegram(entry: TelegramEntry): Change[] {
  if (entry.kind !== 'message' || entry.botId === null) return []
  return [{ ...entry, chat: String(entry.chatId), id: String(entry.messageId) }]
}

function inDiscord(entry: DiscordEntry): Change[] {
  return entry.kind === 'message' && entry.byBot ? [{ ...entry, chat: entry.channelId, id: entry.messageId }] : []
}

function inSlack(entry: SlackEntry): Change[] {
  return entry.kind === 'message' && entry.byBot ? [{ ...entry, chat: entry.channel, id: entry.ts }] : []
}

/** Returns what was said with the times at which Slack handed it over: it repeats an event behind later ones. */
export function withHandingOver({ said, slack }: Stage): Said[] {
  const handed = new Map<string, { first: number; last: number }>()
  const words = new Map<string, string>()
  slack.ledger.entries.forEach((entry, index) => {
    if (entry.kind === 'message' && !entry.byBot) words.set(`${entry.channel}/${entry.ts}`, entry.text)
    if (entry.kind !== 'event' || entry.step !== 'delivered') return
    const key = `${entry.channel}/${entry.ts}`
    handed.set(key, { first: handed.get(key)?.first ?? index, last: index })
  })
  const byWord = new Map([...words].map(([key, text]) => [text.split(' ').at(-1), handed.get(key)]))
  return said.map((one) => (one.platform === 'slack' ? { ...one, handed: byWord.get(one.word) } : one))
}
