import { tellingWords } from '../../core/fold-text.ts'
import type { SessionId } from '../../core/ids.ts'
import type { MessageName } from '../../core/message.ts'
import { wordsIn } from '../../core/words-in.ts'
import type { StoreWriter } from '../../store/store.ts'

/** Messages that are no more, and what they said. */
interface Gone {
  readonly messages: readonly MessageName[]
  readonly said: readonly string[]
}

/**
 * Takes away what a session remembers of messages that are no more: entries of long-term memory that are made of them,
 * what lists show of them, and a description that a model wrote in their words. The working memory ends with the event
 * that says so.
 */
export async function forgetMade(
  tx: Pick<StoreWriter, 'memory' | 'sessions' | 'events'>,
  sessionId: SessionId,
  { messages, said }: Gone,
): Promise<void> {
  for (const { messageId, chat } of messages)
    if (messageId !== undefined)
      await tx.memory.removeOf(sessionId, { messageId, ...(chat === undefined ? {} : { chat }) })
  await showInstead(tx, sessionId, { messages, said })
}

/**
 * Takes what messages have said out of what lists show of the session, and a description that a model wrote in these
 * words; where they were edited, `now` is their text.
 */
export async function showInstead(
  tx: Pick<StoreWriter, 'sessions' | 'events'>,
  sessionId: SessionId,
  { messages, said, now = '' }: Gone & { readonly now?: string },
): Promise<void> {
  const texts = [...new Set([...said, ...(await textsOf(tx, sessionId, messages))])]
  for (const text of texts) if (text !== now) await tx.sessions.unsay(sessionId, text, now)
  const session = await tx.sessions.get(sessionId)
  if (session?.descriptionSource !== 'ai') return
  const kept = new Set(tellingWords(now))
  const gone = new Set(texts.flatMap(tellingWords).filter((word) => !kept.has(word)))
  if (tellingWords(session.description).some((word) => gone.has(word)))
    await tx.sessions.describe(sessionId, '', 'fallback')
}

/** The newest messages, edits and files that are looked through. */
const MOST_SAID = 500

/** Returns what these messages have said in every text of theirs: an edit, a caption, a recording. */
async function textsOf(
  { events }: Pick<StoreWriter, 'events'>,
  sessionId: SessionId,
  messages: readonly MessageName[],
): Promise<readonly string[]> {
  const isOne = ({ messageId, chat }: MessageName): boolean =>
    messageId !== undefined && messages.some((one) => one.messageId === messageId && one.chat === chat)
  const found = await events.latestOf(sessionId, ['user_message', 'message_edited', 'files_read'], MOST_SAID)
  const own = found.flatMap(({ type, data }) =>
    (type === 'user_message' || type === 'message_edited') && isOne(data) ? [data] : [],
  )
  const refs = new Set(own.flatMap(({ attachments = [] }) => attachments.map(({ ref }) => ref)))
  const read = found.flatMap(({ type, data }) => (type === 'files_read' ? data.files : []))
  const inFiles = read.flatMap(({ ref, text = '', spoken = '' }) => (refs.has(ref) ? [text, spoken] : []))
  return [...own.flatMap(wordsIn), ...inFiles]
}
