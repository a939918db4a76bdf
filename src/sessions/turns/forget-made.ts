import { tellingWords } from '../../core/fold-text.ts'
import type { SessionId } from '../../core/ids.ts'
import type { MessageName } from '../../core/message.ts'
import type { StoreWriter } from '../../store/store.ts'

/** Messages that are no more, and what they said. */
interface Gone {
  readonly messages: readonly MessageName[]
  readonly said: readonly string[]
}

/**
 * Takes away what a session remembers of messages that are no more: entries of long-term memory that are made of them,
 * and a description that a model wrote in their words. The working memory ends with the event that says so.
 */
export async function forgetMade(
  tx: Pick<StoreWriter, 'memory' | 'sessions'>,
  sessionId: SessionId,
  { messages, said }: Gone,
): Promise<void> {
  for (const { messageId, chat } of messages)
    if (messageId !== undefined)
      await tx.memory.removeOf(sessionId, { messageId, ...(chat === undefined ? {} : { chat }) })
  const session = await tx.sessions.get(sessionId)
  if (session?.descriptionSource !== 'ai') return
  const words = new Set(said.flatMap(tellingWords))
  if (tellingWords(session.description).some((word) => words.has(word)))
    await tx.sessions.describe(sessionId, '', 'fallback')
}
