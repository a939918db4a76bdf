import { rankOf } from '../../src/delivery/low-priority.ts'
import { saidInRecording } from '../../src/rehearsal/recordings.ts'
import type { TelegramEntry } from '../../src/rehearsal/telegram/ledger-entries.ts'
import type { OutboxRow } from './stored.ts'

/** A message of the bot as the platform has it: every text it had, the present one last. */
export interface BotMessage {
  readonly chat: string
  readonly id: string
  readonly texts: readonly string[]
  readonly deleted: boolean
}

export const REPEAT_MARK = '(repeat) '

export function botMessages(entries: readonly TelegramEntry[]): BotMessage[] {
  const messages = new Map<string, { chat: string; id: string; texts: string[]; deleted: boolean }>()
  for (const entry of entries) {
    if (entry.kind !== 'message' || entry.botId === null) continue
    const chat = String(entry.chatId)
    const id = String(entry.messageId)
    const message = messages.get(`${chat}/${id}`) ?? { chat, id, texts: [], deleted: false }
    messages.set(`${chat}/${id}`, message)
    if (entry.change === 'deleted') message.deleted = true
    // A recording is the text that it says.
    else message.texts.push((entry.file && saidInRecording(entry.file.bytes)) ?? entry.text)
  }
  return [...messages.values()]
}

/**
 * 3: each delivered row has one message that reads as it says; each message belongs to one row, or is a copy whose fate
 * the daemon could not know: the first of a row that was repeated, or any of a row that was given up.
 */
export function sendsUnmatched(rows: readonly OutboxRow[], messages: readonly BotMessage[]): string[] {
  const broken: string[] = []
  const owned = new Set<BotMessage>()
  for (const row of rows.filter(({ state }) => state === 'sent' || state === 'resent')) {
    const message = messages.find(({ chat, id }) => chat === row.chat && id === row.message_id)
    if (message === undefined) broken.push(`3: ${row.id} is ${row.state} and the platform has no message of it`)
    else if (owned.has(message)) broken.push(`3: ${row.id} claims the message of another row`)
    else if (!readsAs(message, row)) broken.push(`3: ${row.id} and its message ${message.id} differ`)
    if (message) owned.add(message)
  }
  const copies = rows.flatMap(possibleCopies)
  for (const message of messages.filter((candidate) => !owned.has(candidate))) {
    const of = copies.findIndex((copy) => isCopy(message, copy))
    if (of < 0) broken.push(`3: the message ${message.chat}/${message.id} belongs to no row: ${message.texts.at(-1)}`)
    else copies.splice(of, 1)
  }
  return broken
}

interface Copy {
  readonly chat: string
  readonly text: string
}

/** What may stand in the chat of a row beside the message it knows, each at most once: two unmarked ones never may. */
function possibleCopies({ state, chat, plain }: OutboxRow): Copy[] {
  const marked = plain.startsWith(REPEAT_MARK)
  const first = { chat, text: marked ? plain.slice(REPEAT_MARK.length) : plain }
  if (state === 'resent') return [first]
  if (state === 'given_up') return marked ? [first, { chat, text: plain }] : [first]
  return []
}

/** A growing reply may have been lost sight of half-way: then the copy is the beginning of the whole. */
function isCopy({ chat, texts }: BotMessage, copy: Copy): boolean {
  return chat === copy.chat && texts.every((text) => copy.text.startsWith(text.replace(/…$/, '')))
}

function readsAs(message: BotMessage, { op, plain }: OutboxRow): boolean {
  return op === 'delete' ? message.deleted : !message.deleted && message.texts.at(-1)?.trim() === plain.trim()
}

/** 3: a message is repeated only where the platform cannot say whether the first one arrived. */
export function repeatedInVain(rows: readonly OutboxRow[], blind: readonly string[] = []): string[] {
  const tells = (channel: string) => channel !== 'telegram' && !blind.includes(channel)
  const repeats = rows.filter(({ channel, plain }) => tells(channel) && plain.startsWith(REPEAT_MARK))
  return repeats.map(({ id, channel }) => `3: ${id} is a repeat, and ${channel} would have told of the first`)
}

/**
 * 4: in each conversation messages stand in the order in which they were planned, but that a higher rank goes ahead of
 * what can wait: an answer to a command of somebody who is no owner is overtaken by replies, never by its own rank, and
 * overtakes none (`src/delivery/low-priority.ts`).
 */
export function orderBroken(rows: readonly OutboxRow[]): string[] {
  const last = new Map<string, string>()
  const broken: string[] = []
  for (const { chat, topic, message_id, id, low_priority } of rows) {
    if (message_id === null) continue
    const rank = rankOf(low_priority === null ? undefined : JSON.parse(low_priority))
    const conversation = `${chat}/${topic ?? ''}`
    const keys = RANKS.map((one) => `${one} ${conversation}`)
    const overtook = keys.slice(0, rank + 1).some((key) => !isLater(message_id, last.get(key) ?? ''))
    if (overtook) broken.push(`4: ${id} overtook another in ${conversation}`)
    last.set(`${rank} ${conversation}`, message_id)
  }
  return broken
}

const RANKS = [0, 1, 2]

/** Ids are decimal numbers, some of them longer than a number can hold. */
function isLater(id: string, than: string): boolean {
  return id.length === than.length ? id > than : id.length > than.length
}
