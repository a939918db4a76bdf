import type { TelegramEntry } from '../../src/rehearsal/telegram/ledger-entries.ts'
import { repeated } from './repeated.ts'
import type { EventRow, Stored } from './stored.ts'

/** A person's message that the daemon owes an outcome. */
export interface HeardMessage {
  readonly chat: string
  readonly messageId: string
}

/** 1: each message a platform gave away has one row with one outcome, and is in its session once. */
export function inboundUnsettled(stored: Stored, heard: readonly HeardMessage[]): string[] {
  const broken: string[] = []
  for (const { chat, messageId } of heard) {
    const all = stored.inbox.filter((row) => row.chat === chat && row.message_id === messageId)
    // One that was refused is handled under a row of its own once its sender is let in.
    const handled = all.filter(({ kind }) => kind !== 'refuse')
    const rows = handled.length > 0 ? handled : all
    if (rows.length !== 1) broken.push(`1: message ${chat}/${messageId} has ${rows.length} inbox rows`)
  }
  for (const row of stored.inbox) {
    if (row.state !== 'done' || row.outcome === null) broken.push(`1: ${row.id} is ${row.state} without an outcome`)
    if (row.turn_id !== null && !stored.turns.some(({ id }) => id === row.turn_id)) {
      broken.push(`1: ${row.id} names a turn that does not exist`)
    }
  }
  const events = saidHere(stored)
  const said = events.filter(({ type }) => type === 'user_message')
  const texts = said.map((event) => `${event.session_id} ${nameOf(JSON.parse(event.data))}`)
  for (const { session, messages } of askedAgain({ events }))
    for (const name of messages) texts.splice(texts.indexOf(`${session} ${name}`), 1)
  return [...broken, ...repeated(texts).map((text) => `1: the message ${text} is in its session twice`)]
}

/** Several chats that share a session each count their messages from one. */
function nameOf({ messageId, chat = '' }: { readonly messageId?: string; readonly chat?: string }): string {
  return `${chat} ${messageId}`
}

/** A log that was copied has messages of another conversation, with the numbers that they have there. */
function saidHere({ events }: Pick<Stored, 'events'>): readonly EventRow[] {
  const copied = new Map<string, number>()
  for (const { session_id, seq, type } of events)
    if (type === 'history_taken_over') copied.set(session_id, Math.max(seq, copied.get(session_id) ?? 0))
  return events.filter(({ session_id, seq }) => seq > (copied.get(session_id) ?? 0))
}

interface AskedAgain {
  readonly session: string
  /** The turn that was taken back. */
  readonly turn: string
  /** The ids of its messages, which another turn answers. */
  readonly messages: readonly string[]
}

/** Returns the exchanges that were taken back to be answered once more. */
export function askedAgain({ events }: { readonly events: readonly EventRow[] }): readonly AskedAgain[] {
  return events.flatMap(({ session_id, type, data }) => {
    if (type !== 'exchange_taken_back') return []
    const { again, turn, messages } = JSON.parse(data)
    const names = messages.map(nameOf)
    return again ? [{ session: session_id, turn, messages: names }] : []
  })
}

/** Telegram gives an update away once it is confirmed. */
export function confirmedMessages(entries: readonly TelegramEntry[]): HeardMessage[] {
  const confirmed = new Set(entries.flatMap((entry) => (entry.kind === 'confirmed' ? [entry.updateId] : [])))
  return entries.flatMap((entry) => {
    if (entry.kind !== 'offered' || entry.type !== 'message' || !confirmed.has(entry.updateId)) return []
    const { chat, message_id, text } = entry.payload as { chat: { id: number }; message_id: number; text?: string }
    return text === undefined ? [] : [{ chat: String(chat.id), messageId: String(message_id) }]
  })
}
