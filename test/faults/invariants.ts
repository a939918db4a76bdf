import type { MessagesEntry } from '../../src/rehearsal/anthropic/ledger-entries.ts'
import type { TelegramEntry } from '../../src/rehearsal/telegram/ledger-entries.ts'
import { type BotMessage, botMessages, orderBroken, sendsUnmatched } from './delivery-invariants.ts'
import type { ProbeLine } from './setup-file.ts'
import type { EventRow, Stored } from './stored.ts'

/** What a case left behind: the store, the ground truth of both servers, and the marks of the tools. */
export interface Evidence {
  readonly stored: Stored
  readonly telegram: readonly TelegramEntry[]
  /** What the bot has on other platforms. */
  readonly elsewhere?: readonly BotMessage[]
  readonly model: readonly MessagesEntry[]
  readonly probes: readonly ProbeLine[]
  /** Files that secrets must not reach. */
  readonly sinks: readonly { readonly file: string; readonly bytes: Buffer }[]
  readonly canaries: readonly string[]
}

/** The invariants of RELIABILITY 10.1, held against everything a stopped daemon left; empty if all are kept. */
export function violations(evidence: Evidence): string[] {
  const { stored } = evidence
  const messages = [...botMessages(evidence.telegram), ...(evidence.elsewhere ?? [])]
  return [
    ...inboundUnsettled(evidence),
    ...turnsUnended(stored),
    ...sendsUnmatched(stored.outbox, messages),
    ...orderBroken(stored.outbox),
    ...callsUnpaired(evidence),
    ...onceRepeated(evidence.probes),
    ...leftRunning(stored),
    ...fileUnsound(stored),
    ...sequenceBroken(stored),
    ...leaks(evidence, messages),
  ]
}

/** 1: each message the platform gave away has one row with one outcome, and is in its session once. */
function inboundUnsettled({ stored, telegram }: Evidence): string[] {
  const broken: string[] = []
  for (const { chat, messageId } of confirmedMessages(telegram)) {
    const rows = stored.inbox.filter((row) => row.chat === chat && row.message_id === messageId)
    if (rows.length !== 1) broken.push(`1: message ${chat}/${messageId} has ${rows.length} inbox rows`)
  }
  for (const row of stored.inbox) {
    if (row.state !== 'done' || row.outcome === null) broken.push(`1: ${row.id} is ${row.state} without an outcome`)
    if (row.turn_id !== null && !stored.turns.some(({ id }) => id === row.turn_id)) {
      broken.push(`1: ${row.id} names a turn that does not exist`)
    }
  }
  const said = stored.events.filter(({ type }) => type === 'user_message')
  const texts = said.map((event) => `${event.session_id} ${String(JSON.parse(event.data).messageId)}`)
  return [...broken, ...repeated(texts).map((text) => `1: the message ${text} is in its session twice`)]
}

function confirmedMessages(entries: readonly TelegramEntry[]): { chat: string; messageId: string }[] {
  const confirmed = new Set(entries.flatMap((entry) => (entry.kind === 'confirmed' ? [entry.updateId] : [])))
  return entries.flatMap((entry) => {
    if (entry.kind !== 'offered' || entry.type !== 'message' || !confirmed.has(entry.updateId)) return []
    const { chat, message_id, text } = entry.payload as { chat: { id: number }; message_id: number; text?: string }
    return text === undefined ? [] : [{ chat: String(chat.id), messageId: String(message_id) }]
  })
}

/** 2: each turn has begun and ended once, and answers somebody. */
function turnsUnended({ turns, events, inbox }: Stored): string[] {
  return turns.flatMap(({ id, state }) => {
    const of = events.filter((event) => event.turn_id === id)
    const begun = of.filter(({ type }) => type === 'turn_started').length
    const ended = of.filter(({ type }) => type === 'turn_completed' || type === 'turn_cancelled').length
    const asked = inbox.some((row) => row.turn_id === id)
    return state !== 'running' && begun === 1 && ended === 1 && asked
      ? []
      : [`2: ${id} is ${state}, begun ${begun} times, ended ${ended} times, ${asked ? 'asked' : 'asked by nobody'}`]
  })
}

/** 5: no request was refused for its form, and each tool call on record has one result, unless it killed the process. */
function callsUnpaired({ stored: { events, turns }, model }: Evidence): string[] {
  const setAside = new Set(turns.filter(({ state }) => state === 'quarantined').map(({ id }) => id))
  const refused = model.flatMap((entry) =>
    entry.kind === 'refused' && entry.status === 400 ? [`5: the model API refused: ${entry.message}`] : [],
  )
  const results = events.filter(({ type }) => type === 'tool_result').map((event) => callKey(event, dataOf(event)))
  const asked = events.filter(({ type, turn_id }) => type === 'assistant_step' && !setAside.has(turn_id ?? ''))
  const calls = asked.flatMap((event) => (dataOf(event).calls ?? []).map((call) => callKey(event, call)))
  const unanswered = calls.filter((call) => results.filter((result) => result === call).length !== 1)
  return [...refused, ...unanswered.map((call) => `5: the call ${call} has not exactly one result`)]
}

interface CallData {
  readonly callId?: string
  readonly calls?: readonly { readonly callId: string }[]
}

function dataOf({ data }: EventRow): CallData {
  return JSON.parse(data) as CallData
}

function callKey({ turn_id }: EventRow, { callId }: CallData): string {
  return `${turn_id} ${callId}`
}

/** 6: what must not happen twice did not. */
function onceRepeated(probes: readonly ProbeLine[]): string[] {
  const runs = probes.filter((probe) => probe.class === 'once').map(({ turnId, callId }) => `${turnId} ${callId}`)
  return repeated(runs).map((run) => `6: the once tool ran twice for ${run}`)
}

/** 7: nothing claims to be under way, for nobody is there to do it. */
function leftRunning({ turns, outbox }: Stored): string[] {
  return [
    ...turns.filter(({ state }) => state === 'running').map(({ id }) => `7: the turn ${id} is still running`),
    ...outbox
      .filter(({ state }) => ['planned', 'sending', 'waiting', 'uncertain'].includes(state))
      .map(({ id, state }) => `7: the delivery ${id} is still ${state}`),
  ]
}

/** 8 */
function fileUnsound({ integrity, journalMode }: Stored): string[] {
  const broken = integrity === 'ok' ? [] : [`8: integrity_check says ${integrity}`]
  return journalMode === 'wal' ? broken : [...broken, `8: the journal mode is ${journalMode}`]
}

/** 9: a session's events are numbered without a gap. */
function sequenceBroken({ sessions, events }: Stored): string[] {
  return sessions.flatMap(({ id, last_seq }) => {
    const numbers = events.filter((event) => event.session_id === id).map(({ seq }) => seq)
    const gapless = numbers.length === last_seq && numbers.every((seq, index) => seq === index + 1)
    return gapless ? [] : [`9: ${id} counts to ${last_seq} and has the events ${numbers.join(' ')}`]
  })
}

/** 10: no secret in a file, no silence marker in a chat. */
function leaks({ sinks, canaries }: Evidence, messages: readonly BotMessage[]): string[] {
  const secrets = sinks.flatMap(({ file, bytes }) =>
    canaries.filter((canary) => bytes.includes(canary)).map((canary) => `10: ${file} contains ${canary}`),
  )
  const marked = messages.filter(({ texts }) => texts.some((text) => /<(NO_REPLY|EMPTY_RESPONSE)>/.test(text)))
  return [...secrets, ...marked.map(({ chat, id }) => `10: the message ${chat}/${id} shows a silence marker`)]
}

function repeated(texts: readonly string[]): string[] {
  return texts.filter((text, index) => texts.indexOf(text) < index)
}
