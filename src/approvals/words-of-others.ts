import { isNothing } from '../core/emptied.ts'
import type { SessionEvent, ToolResultData, UserMessageData } from '../core/event.ts'
import type { SessionId } from '../core/ids.ts'
import { isShown, showsForeignWords } from '../core/message.ts'
import type { Store } from '../store/store.ts'

/** Something a model was shown that is not from an owner. */
export type OthersWords =
  | { readonly kind: 'message'; readonly name: string; readonly text: string; readonly at: number }
  | { readonly kind: 'result'; readonly tool: string; readonly at: number }
  | { readonly kind: 'file'; readonly name: string; readonly at: number }

/** Events that are looked through, so that a question has a bounded cost. */
const LOOKED_THROUGH = 100
const SHOWN = 80

/**
 * Returns the newest message or result in a session that has words of anybody but owners; undefined if none of the
 * newest events has.
 */
export async function newestOfOthers(
  { store }: { readonly store: Pick<Store, 'read'> },
  session: SessionId,
): Promise<OthersWords | undefined> {
  const types = ['user_message', 'message_edited', 'thread_read', 'files_read', 'tool_result'] as const
  const events = await store.read.events.latestOf(session, types, LOOKED_THROUGH)
  return events.toReversed().flatMap(othersIn)[0]
}

function othersIn(event: SessionEvent): readonly OthersWords[] {
  const { at } = event
  switch (event.type) {
    case 'user_message':
    case 'message_edited':
      return othersSaid(event.data, at)
    case 'thread_read':
      return event.data.messages
        .filter((message) => !isNothing(message))
        .toReversed()
        .flatMap((message) => othersSaid(message, at))
    case 'files_read':
      return event.data.files
        .filter(isShown)
        .map(({ media }): OthersWords => ({ kind: 'file', name: media?.name ?? 'without a name', at }))
    case 'tool_result':
      return isOfOthers(event.data) ? [{ kind: 'result', tool: event.data.tool, at }] : []
    default:
      return []
  }
}

function isOfOthers({ foreign, shows = [], authors = [] }: ToolResultData): boolean {
  return foreign === true || shows.length > 0 || authors.length > 0
}

/** Returns what somebody else has said in a message, or what its owner has passed on of others. */
function othersSaid(
  { sender, text, owner, quoted, forwarded, via, from, attachments = [], enclosed = [] }: UserMessageData,
  at: number,
): readonly OthersWords[] {
  const message = (name = 'somebody', words = ''): readonly OthersWords[] => [
    { kind: 'message', name, text: words, at },
  ]
  if (!owner || from !== undefined) return message(sender.displayName, text)
  if (forwarded) return message(forwarded.from?.displayName, text)
  if (via) return message(via.displayName, text)
  if (quoted?.text && !quoted.own && quoted.sender?.id !== sender.id)
    return message(quoted.sender?.displayName, quoted.text)
  const file = attachments.find(showsForeignWords)
  if (file) return message('whoever made it', file.fileName ?? 'a file')
  return enclosed.length === 0 ? [] : message('whoever made it', enclosed[0])
}

/** Returns the name of such words in Markdown, as seen at a time in ms: whose, when, and how they begin. */
export function inWords(words: OthersWords, now: number): string {
  const when = ago(now - words.at)
  if (words.kind === 'result') return `what \`${words.tool}\` returned ${when}`
  if (words.kind === 'file') return `the file \`${plain(words.name)}\` that was sent ${when}`
  const text = plain(words.text)
  return `\`${text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}\` by \`${plain(words.name)}\` ${when}`
}

/** Returns a text on one line that can stand in a code span and turns the direction of nothing behind it. */
function plain(text: string): string {
  return text
    .replace(/\p{Bidi_Control}/gu, '')
    .replace(/[`\s\p{Cc}]+/gu, ' ')
    .trim()
}

const MINUTE_MS = 60_000

function ago(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS)
  if (minutes < 1) return 'a moment ago'
  if (minutes < 120) return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'} ago`
  return `${Math.floor(minutes / 60)} hours ago`
}
