import { amended, saidHere } from '../../core/amended.ts'
import { textOf } from '../../core/content.ts'
import type { SessionEvent, UserMessageData } from '../../core/event.ts'
import type { SessionId, TurnId } from '../../core/ids.ts'
import { hasForeignText } from '../../core/message.ts'
import { parseUrl } from '../../core/parse-url.ts'
import { type KnownAddresses, WEB_SEARCH } from '../../core/web.ts'
import { type AddressBudget, addressKey, hasAddress } from '../../core/web-address.ts'
import type { StoreReader } from '../../store/store.ts'
import { channelLogs, type LogReader, withWordsOfChannel } from './channel-words.ts'

/** Messages that are looked through: an address from before them has to be written again. */
const MOST_MESSAGES = 2_000
/** The events that say which messages people see now. */
const SAID = [
  ...(['user_message', 'message_edited', 'message_deleted', 'exchange_taken_back', 'thread_read'] as const),
  'history_taken_over',
] as const
/** Words of them that are read as an address. */
const MOST_WORDS = 2_000
/** Results of tools that are looked through; a turn has fewer. */
const MOST_RESULTS = 500

/**
 * Returns the addresses that people of a session have written and that a search of the turn has listed. A task has
 * those of the session that began it: nobody writes in its own.
 */
export function createKnownAddresses(
  read: LogReader & { readonly events: Pick<StoreReader['events'], 'latestOf'> },
): KnownAddresses {
  const { events, sessions } = read
  const written = async (sessionId: SessionId, key: string): Promise<boolean> => {
    const said = saidHere(await events.latestOf(sessionId, SAID, MOST_MESSAGES))
    const shown = await withWordsOfChannel(said, channelLogs(read, sessionId))
    const left = { words: MOST_WORDS }
    return amended(shown.flatMap(inThread))
      .toReversed()
      .some((event) => isWritten(event, key, left))
  }
  return {
    async isKnown({ sessionId, turnId }, url) {
      const key = addressKey(url)
      if (await written(sessionId, key)) return true
      const parent = (await sessions.get(sessionId))?.parent
      if (parent !== undefined && (await written(parent, key))) return true
      const results = await events.latestOf(sessionId, ['tool_result'], MOST_RESULTS)
      return results.some((event) => isListed(event, turnId, key))
    },
  }
}

/** Returns what was said in a thread before its first turn as messages of it, which may be edited and deleted later. */
function inThread(event: SessionEvent): readonly SessionEvent[] {
  if (event.type !== 'thread_read') return [event]
  const { seq, at } = event
  return event.data.messages.map((data) => ({ seq, at, type: 'user_message', data }))
}

function isWritten(event: SessionEvent, key: string, left: AddressBudget): boolean {
  if (event.type !== 'user_message' || !isPersonsOwn(event.data)) return false
  const { text, addresses } = event.data
  return (addresses === undefined || addresses.includes(key)) && hasAddress(text, key, left)
}

/**
 * Returns true for words of a person: not passed on, nor of a bot, a hook, another session, a shared id or an imported
 * conversation, whose messages have no names.
 */
function isPersonsOwn(data: UserMessageData): boolean {
  const { from, sender, messageId, refused } = data
  return from === undefined && sender.kind === 'user' && messageId !== undefined && !refused && !hasForeignText(data)
}

function isListed(event: SessionEvent, turn: TurnId, key: string): boolean {
  if (event.type !== 'tool_result' || event.turnId !== turn) return false
  const { tool, isError, content } = event.data
  return tool === WEB_SEARCH && !isError && addressesOf(textOf(content)).some((address) => keyOf(address) === key)
}

/** Returns the addresses of a search's results, which are its own words on where they are; none where it was cut. */
function addressesOf(text: string): readonly unknown[] {
  try {
    const { results }: { readonly results: readonly { readonly url: unknown }[] } = JSON.parse(text)
    return results.map(({ url }) => url)
  } catch {
    return []
  }
}

function keyOf(address: unknown): string | undefined {
  const url = typeof address === 'string' ? parseUrl(address) : undefined
  return url && addressKey(url)
}
