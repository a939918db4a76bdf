import type { MessagesEntry } from '../../src/rehearsal/anthropic/ledger-entries.ts'
import type { TelegramEntry } from '../../src/rehearsal/telegram/ledger-entries.ts'
import { type BotMessage, botMessages, orderBroken, repeatedInVain, sendsUnmatched } from './delivery-invariants.ts'
import { askedAgain, confirmedMessages, type HeardMessage, inboundUnsettled } from './inbound-invariants.ts'
import { repeated } from './repeated.ts'
import type { ProbeLine } from './setup-file.ts'
import type { EventRow, Stored } from './stored.ts'

/** What a case left behind: the store, the ground truth of both servers, and the marks of the tools. */
export interface Evidence {
  readonly stored: Stored
  readonly telegram: readonly TelegramEntry[]
  /** What the bot has on other platforms. */
  readonly elsewhere?: readonly BotMessage[]
  /** Channels whose bot may not read what it has said. */
  readonly blind?: readonly string[]
  /** What other platforms gave away, as far as each promises not to lose it. */
  readonly heardElsewhere?: readonly HeardMessage[]
  readonly model: readonly MessagesEntry[]
  readonly probes: readonly ProbeLine[]
  /** Files that secrets must not reach. */
  readonly sinks: readonly { readonly file: string; readonly bytes: Buffer }[]
  readonly canaries: readonly string[]
}

/** The invariants, held against everything a stopped daemon left; empty if all are kept. */
export function violations(evidence: Evidence): string[] {
  const { stored } = evidence
  const messages = [...botMessages(evidence.telegram), ...(evidence.elsewhere ?? [])]
  return [
    ...inboundUnsettled(stored, [...confirmedMessages(evidence.telegram), ...(evidence.heardElsewhere ?? [])]),
    ...turnsUnended(stored),
    ...sendsUnmatched(stored.outbox, messages),
    ...repeatedInVain(stored.outbox, evidence.blind),
    ...orderBroken(stored.outbox),
    ...callsUnpaired(evidence),
    ...onceRepeated(evidence.probes),
    ...leftRunning(stored),
    ...fileUnsound(stored),
    ...sequenceBroken(stored),
    ...stored.misListed.map(({ entry }) => `9: the lists of sessions are not in step: ${entry}`),
    ...leaks(evidence, messages),
  ]
}

/** 2: each turn has begun and ended once, and answers somebody. */
function turnsUnended({ turns, events, inbox }: Stored): string[] {
  const again = new Set(askedAgain({ events }).map(({ turn }) => turn))
  return turns.flatMap(({ id, state }) => {
    const of = events.filter((event) => event.turn_id === id)
    const begun = of.filter(({ type }) => type === 'turn_started').length
    const ended = of.filter(({ type }) => type === 'turn_completed' || type === 'turn_cancelled').length
    const asked = inbox.some((row) => row.turn_id === id) || again.has(id)
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
export function leftRunning({ turns, outbox }: Pick<Stored, 'turns' | 'outbox'>): string[] {
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
