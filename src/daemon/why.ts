import { type AccountState, explainAbsence } from '../channels/explain-absence.ts'
import { addressNamed, formatAddress } from '../core/address.ts'
import { type ChannelTraits, foldId } from '../core/channel-traits.ts'
import { madeAt } from '../core/ids.ts'
import { calledBy } from '../core/label.ts'
import type { MessageLink, MessageLookup } from '../core/message-link.ts'
import { failureCause, turnRemedy } from '../core/model-remedy.ts'
import { AGED_OUT, type WhyReport } from '../core/operator.ts'
import { checkInWords, contextInWords, readRowFacts } from '../sessions/commands/describe-row.ts'
import { findMessages, newestMessage } from '../sessions/commands/find-messages.ts'
import { summarizeRow } from '../sessions/commands/summarize-row.ts'
import type { InboxRow } from '../store/inbox-port.ts'
import type { StoreReader } from '../store/store.ts'

/** The lookup of a message that somebody asks about, by channel. */
export type MessageLookups = Readonly<
  Record<string, { readonly lookup: MessageLookup; readonly traits: ChannelTraits }>
>

export interface WhySources {
  readonly read: StoreReader
  readonly lookups: MessageLookups
  /** Returns the present state of the accounts; none without a daemon. */
  channels(): readonly AccountState[]
}

/** Answers why a message was decided as it was, or why it may not have been received. */
export interface WhyService {
  why(name: string): Promise<readonly WhyReport[]>
  unseen(asked: string | MessageLink): Promise<readonly string[]>
  /** Reads a link to a message in any platform's form. */
  readLink(text: string): MessageLink | null
}

export function createWhy({ read, lookups, channels }: WhySources): WhyService {
  const readLink = (text: string): MessageLink | null => {
    for (const { lookup } of Object.values(lookups)) {
      const link = lookup.readLink(text)
      if (link) return link
    }
    return null
  }
  return {
    readLink,
    async why(name) {
      const found = await findMessages(read, readLink(name) ?? name)
      const rows = found.length > 0 ? found : await lastOf(name, read)
      return Promise.all(rows.map((row) => whyReport(row, read)))
    },
    async unseen(asked) {
      const gone = await agedOut(read, asked)
      if (gone.certain) return [gone.reason]
      const link = typeof asked === 'string' ? readLink(asked) : asked
      const platform = link ? lookups[link.channel] : undefined
      const chatKnown = link !== null && platform !== undefined && (await isKnown(read, link, platform.traits))
      const { keepsBack } = platform?.lookup ?? { keepsBack: [] }
      const name = platform?.traits.name
      const others = explainAbsence(channels(), { link, name, chatKnown, keepsBack })
      return gone.reason === undefined ? others : [...others, gone.reason]
    },
  }
}

/** Returns the last message of a place that is named by its address, or of all: `last`. */
async function lastOf(name: string, read: StoreReader): Promise<readonly InboxRow[]> {
  const place = addressNamed(name)
  const last = place !== undefined || name === 'last' ? await newestMessage(read, place) : undefined
  return last === undefined ? [] : [last]
}

type AgedOut =
  | { readonly certain: true; readonly reason: string }
  | { readonly certain: false; readonly reason?: string }

/** The daemon's own ids contain the time when they were made, a platform's do not. */
async function agedOut(read: StoreReader, asked: string | MessageLink): Promise<AgedOut> {
  const until = await read.ageing.agedOut()
  if (until === undefined) return { certain: false }
  const before = new Date(until).toISOString().slice(0, 10)
  const at = typeof asked === 'string' ? madeAt(asked) : undefined
  const what = 'what was refused or ignored, and commands, from before'
  if (at !== undefined && at < until) return { certain: true, reason: `${AGED_OUT}: ${what} ${before} is deleted.` }
  return { certain: false, reason: `Or it came long ago: ${what} ${before} is deleted.` }
}

/** Returns true if a message from this chat was stored; a link does not name the type of its chat. */
async function isKnown(
  read: StoreReader,
  { channel, chat }: Pick<MessageLink, 'channel' | 'chat'>,
  { ids }: ChannelTraits,
): Promise<boolean> {
  if (chat === undefined) return false
  const keys = ['group', 'channel', 'direct'].map((type) => `${channel}:${type}:${foldId(ids, chat)}`)
  const found = await Promise.all(keys.map((key) => read.sessions.under(key, 1)))
  return found.some((sessions) => sessions.length > 0)
}

async function whyReport(row: InboxRow, read: StoreReader): Promise<WhyReport> {
  const { id, dispatch, decision, state, outcome, sessionId, turnId } = row
  const { event, traceId, receivedAt } = dispatch
  const deliveries = await read.outbox.ofSource(turnId ?? id)
  const facts = await readRowFacts(row, read)
  const { denied, error, model } = facts
  return {
    summary: summarizeRow(row, { ...facts, settings: true }),
    inboxId: id,
    traceId,
    receivedAt,
    event: event.kind,
    ...('messageId' in event ? { messageId: event.messageId } : {}),
    address: formatAddress(event.address),
    ...(facts.title === undefined ? {} : { title: facts.title }),
    sender: {
      id: event.sender.id,
      ...(calledBy(event.sender) === event.sender.id ? {} : { name: calledBy(event.sender) }),
    },
    decision: decision.kind,
    reason: decision.reason,
    steps: decision.trace,
    ...(sessionId === undefined ? {} : { session: sessionId }),
    ...(turnId === undefined ? {} : { turn: turnId }),
    outcome: outcome ?? state,
    ...(error === undefined
      ? {}
      : {
          failure: {
            code: error,
            cause: failureCause(error),
            remedy: turnRemedy(error, { model, channel: event.address.channel }),
          },
        }),
    ...(facts.precheck === undefined ? {} : { precheck: checkInWords(facts.precheck) }),
    ...(facts.budget === undefined ? {} : { budget: facts.budget }),
    ...(facts.silence === undefined ? {} : { silence: facts.silence }),
    ...(facts.context === undefined ? {} : { context: contextInWords(facts.context) }),
    ...(facts.questions === undefined ? {} : { questions: facts.questions }),
    ...(denied.length === 0 ? {} : { denied }),
    deliveries: deliveries.map(({ state, messageId, reason }) => ({
      state,
      ...(messageId === undefined ? {} : { messageId }),
      ...(reason === undefined ? {} : { reason }),
    })),
  }
}
