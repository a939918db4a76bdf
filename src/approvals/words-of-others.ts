import { amendBackwards, withoutTakenBack } from '../core/amended.ts'
import { isNothing } from '../core/emptied.ts'
import type { SessionEvent, ToolResultData, UserMessageData } from '../core/event.ts'
import { isLeaving } from '../core/forgetting.ts'
import type { SessionId } from '../core/ids.ts'
import { isShown, showsForeignWords } from '../core/message.ts'
import type { Store } from '../store/store.ts'

/** Something a model was shown that is not from an owner. */
export type OthersWords = EventPlace &
  (
    | { readonly kind: 'message'; readonly name: string; readonly text: string }
    | { readonly kind: 'deleted'; readonly name: string }
    | { readonly kind: 'result'; readonly tool: string }
    | { readonly kind: 'file'; readonly name: string }
  )

/** The event that has them. */
type EventPlace = Pick<SessionEvent, 'seq' | 'at'>

export interface OthersDeps {
  readonly store: Pick<Store, 'read'>
  /** Returns events of a session with the words of messages that stand in other logs. */
  withWords(this: void, session: SessionId, events: readonly SessionEvent[]): Promise<readonly SessionEvent[]>
}

/** Events that are looked through, so that a question has a bounded cost. */
const LOOKED_THROUGH = 100
const SHOWN = 80

/**
 * Returns the newest message or result in a session that has words of anybody but owners, as it reads now; undefined if
 * none of the newest events has. A message that was deleted is named without its words: the model may have been shown
 * them before, and whoever deletes what they have led the agent to would go unnoticed.
 */
export async function newestOfOthers(
  { store: { read }, withWords }: OthersDeps,
  session: SessionId,
): Promise<OthersWords | undefined> {
  const events = await read.events.latestOf(session, [...LOOKED_AT], LOOKED_THROUGH)
  const leaving = await read.forgetting.leaving(session)
  const amend = amendBackwards()
  const kept = withoutTakenBack(events).filter((event) => !isLeaving(event, leaving))
  const left = await withWords(session, kept)
  const seen = left.toReversed().map((event) => ({ event, now: amend(event) }))
  const gone = new Set(seen.flatMap(({ event, now }) => (now === undefined ? refsOf(event) : [])))
  for (const { event, now } of seen) {
    const found = now === undefined ? [] : othersIn(now, gone)
    const [newest] = [...found, ...(now === undefined || now.type === 'thread_read' ? deletedOf(event) : [])]
    if (newest) return newest
  }
  return undefined
}

const LOOKED_AT = [
  'user_message',
  ...(['message_edited', 'thread_read', 'files_read', 'tool_result'] as const),
  ...(['message_deleted', 'exchange_taken_back', 'history_taken_over'] as const),
] as const

/** Returns the names of the files that came with a message. */
function refsOf({ type, data }: SessionEvent): readonly string[] {
  const said = type === 'user_message' || type === 'message_edited' ? (data.attachments ?? []) : []
  return said.map(({ ref }) => ref)
}

function deletedOf(event: SessionEvent): readonly OthersWords[] {
  return othersIn(event, new Set()).map(({ seq, at, ...words }) => ({
    ...{ kind: 'deleted', seq, at },
    name: words.kind === 'message' ? words.name : 'somebody',
  }))
}

/** `gone`: the files of messages that were deleted. */
function othersIn(event: SessionEvent, gone: ReadonlySet<string>): readonly OthersWords[] {
  const { seq, at } = event
  const place = { seq, at }
  switch (event.type) {
    case 'user_message':
    case 'message_edited':
      return othersSaid(event.data, place)
    case 'thread_read':
      return event.data.messages
        .filter((message) => !isNothing(message))
        .toReversed()
        .flatMap((message) => othersSaid(message, place))
    case 'files_read':
      return event.data.files
        .filter((file) => isShown(file) && !gone.has(file.ref))
        .map(({ media }): OthersWords => ({ kind: 'file', name: media?.name ?? 'without a name', ...place }))
    case 'tool_result':
      return isOfOthers(event.data) ? [{ kind: 'result', tool: event.data.tool, ...place }] : []
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
  place: EventPlace,
): readonly OthersWords[] {
  const message = (name = 'somebody', words = ''): readonly OthersWords[] => [
    { kind: 'message', name, text: words, ...place },
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
  if (words.kind === 'deleted') return `a message by \`${plain(words.name)}\` that was deleted, ${when}`
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
