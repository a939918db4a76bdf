import { amended } from '../../core/amended.ts'
import type { EventRef, SessionEvent, UserMessageData } from '../../core/event.ts'
import type { SessionId } from '../../core/ids.ts'
import type { ReceivedMessage } from './received.ts'

/** Events of a log that are looked through behind the first message that is shown of it. */
const MOST = 2_000

/** Returns events of a log behind a number, in order, without those that are being forgotten. */
export type ReadLog = (session: SessionId, after: number, limit: number) => Promise<readonly SessionEvent[]>

/**
 * Returns messages with the words that stand in other logs, as they are there now: what was edited there has its last
 * text, what was deleted, taken back or forgotten is left out. Where a log has grown so far that a deletion could be
 * overlooked, none of its messages is shown. Nobody keeps the words.
 */
export async function withChannelWords(
  messages: readonly ReceivedMessage[],
  read: ReadLog,
): Promise<ReadonlyMap<ReceivedMessage, ReceivedMessage>> {
  const wanted = messages.flatMap((message) => (message.source === undefined ? [] : [{ message, ...message.source }]))
  const logs = new Map<SessionId, ReadonlyMap<number, ReceivedMessage>>()
  for (const { session } of wanted) {
    if (logs.has(session)) continue
    const seqs = wanted.filter((one) => one.session === session).map(({ seq }) => seq)
    const events = await read(session, Math.min(...seqs) - 1, MOST)
    logs.set(session, events.length < MOST ? saidIn(events) : new Map())
  }
  return new Map(
    wanted.flatMap(({ message, session, seq }) => {
      const said = logs.get(session)?.get(seq)
      return said === undefined ? [] : [[message, shownHere(said)] as const]
    }),
  )
}

/** Returns what was said in a log by the numbers of its events: messages of people, and texts that the agent posted. */
export function saidIn(events: readonly SessionEvent[]): ReadonlyMap<number, ReceivedMessage> {
  return new Map(amended(events).flatMap((event) => said(event)?.map((message) => [event.seq, message] as const) ?? []))
}

function said({ type, data }: SessionEvent): readonly ReceivedMessage[] | undefined {
  if (type === 'user_message') return data.refused || data.source !== undefined ? undefined : [data]
  if (type !== 'assistant_posted') return undefined
  const { text, messageId } = data
  const name = messageId === undefined ? {} : { messageId }
  return [{ ...name, text, inChannel: 'own', sender: SELF, owner: false, addressed: false, triggers: false }]
}

const SELF = { id: 'self', kind: 'bot' } as const

/** It owes no turn here, and its files are named: they are read where they were sent. */
function shownHere({ row: _row, attachments, ...data }: ReceivedMessage): ReceivedMessage {
  const inChannel = data.inChannel ?? (data.triggers ? 'answered' : 'theirs')
  const files = attachments?.map((file) => (file.spoken === undefined ? { ...file, unread: SENT_THERE } : file))
  return { ...data, ...(files && { attachments: files }), addressed: false, triggers: false, inChannel }
}

const SENT_THERE = 'it was sent in the channel, outside of this thread'

/** Returns the reference to a message of another log: ids, and nothing of what was said. */
export function referenceTo({ messageId, sender, person }: UserMessageData, source: EventRef): UserMessageData {
  const { id, kind, team } = sender
  return {
    ...(messageId === undefined ? {} : { messageId }),
    ...{ text: '', sender: { id, kind, ...(team === undefined ? {} : { team }) } },
    ...(person === undefined ? {} : { person }),
    ...{ owner: false, addressed: false, triggers: false, source },
  }
}
