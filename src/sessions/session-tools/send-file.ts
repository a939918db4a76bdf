import type { Address } from '../../core/address.ts'
import { amendBackwards } from '../../core/amended.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Clock } from '../../core/clock.ts'
import { type MediaPart, mediaOf } from '../../core/content.ts'
import { partName } from '../../core/content-words.ts'
import { ParleyError } from '../../core/errors.ts'
import type { SessionEvent } from '../../core/event.ts'
import { isLeaving } from '../../core/forgetting.ts'
import { type IdSource, isMediaId, type MediaId, type SessionId } from '../../core/ids.ts'
import type { MediaStore } from '../../core/media.ts'
import type { OutboundMessage } from '../../core/outbound.ts'
import { type FileRequest, type FileSender, toOutbound } from '../../core/send-file.ts'
import type { TurnRef } from '../../core/session-tools.ts'
import { messagesIn } from '../../core/words-in.ts'
import type { StoreReader } from '../../store/store.ts'
import type { PostNotice } from '../people/post-notice.ts'
import { newestFirst } from '../service/read-messages.ts'
import { isPublic } from '../turns/started-turn.ts'

export interface SendFileDeps {
  readonly read: Pick<StoreReader, 'sessions' | 'inbox' | 'turns' | 'media' | 'events' | 'forgetting'>
  readonly media: MediaStore
  readonly clock: Clock
  readonly ids: Pick<IdSource, 'aside' | 'trace'>
  readonly channels: Pick<Channels, 'traits'>
  readonly say: PostNotice
}

const LONGEST_CAPTION = 4_000
/** The newest results of tools among which the name of a file is looked for. */
const NAMES_FROM = 50
const FOR_EVER_MS = Number.MAX_SAFE_INTEGER
/** Matches as much of a handle as is enough to name one file of a conversation. */
const HANDLE = /^media:\/\/sha256-([0-9a-f]{8,64})$/

/**
 * Sends files into the conversation of a turn. A handle is looked up among the files that the events of that very
 * session name: no path, and no file of another conversation, can be sent.
 */
export function createFileSender(deps: SendFileDeps): FileSender {
  return {
    async send(request, turn, callId) {
      const { caption = '' } = request
      if (caption.length > LONGEST_CAPTION)
        throw new ParleyError('invalid', `caption must have ${LONGEST_CAPTION} characters at most.`)
      const place = await placeOf(deps, turn)
      const traits = deps.channels.traits(place.address.channel)
      if (traits.files === undefined) throw new ParleyError('invalid', `No files can be sent here: ${traits.name}.`)
      const file = toOutbound(await contentOf(deps, request, turn.sessionId), { ...traits.files, name: traits.name })
      const session = await deps.read.sessions.get(turn.sessionId)
      if (session === undefined) throw new ParleyError('not_found', 'This conversation has ended.')
      const { id, scopeKey, displayKey, kind, scope } = session
      const message: OutboundMessage = {
        ...{ source: deps.ids.aside(turn.id), traceId: deps.ids.trace(), class: 'reply', text: caption, file },
        ...{ ...place, session: { id, scopeKey, displayKey, kind, scope } },
      }
      await deps.say(message, (tx) => tx.notices.once(`file:${turn.id}:${callId}`, deps.clock.now(), FOR_EVER_MS))
      return partName(file)
    },
  }
}

type Place = Pick<OutboundMessage, 'reader' | 'lowPriority'> & { readonly address: Address }

/** Returns the place where the turn answers. */
async function placeOf({ read }: SendFileDeps, { id }: TurnRef): Promise<Place> {
  const [turn, rows] = await Promise.all([read.turns.get(id), read.inbox.ofTurn(id)])
  // The reply target of the turn also names the reader: the exit checks again that they may have it.
  const reply = turn?.reply
  if (reply === undefined || reply.elsewhere === 'only')
    throw new ParleyError('invalid', 'No file can be sent from here: nobody reads this conversation in a chat.')
  return {
    address: reply.address,
    ...(reply.reader === undefined ? {} : { reader: reply.reader }),
    ...(rows.every(isPublic) ? { lowPriority: {} } : {}),
  }
}

/** Keeps the file, or keeps it again, so that it stays until its row is committed. */
async function contentOf({ media, read }: SendFileDeps, request: FileRequest, session: SessionId): Promise<MediaPart> {
  if ('text' in request) {
    if (request.text === '') throw new ParleyError('invalid', 'text must not be empty.')
    return media.keep(Buffer.from(request.text), request.name)
  }
  const id = fileNamed(request.handle.trim(), await read.media.ofSession(session))
  if (id === undefined || !(await isThere(read, session, id)))
    throw new ParleyError('not_found', 'There is no such file in this conversation.')
  return media.keep(await media.read(id), request.name ?? (await knownName(read, session, id)))
}

/**
 * Returns whether a file is of a message or a result that is still there. One that was deleted, taken back or is being
 * forgotten may be known by its handle still: an answer or an earlier call has named it.
 */
async function isThere(
  { sessions, events, forgetting }: SendFileDeps['read'],
  name: SessionId,
  id: MediaId,
): Promise<boolean> {
  const session = await sessions.get(name)
  if (session === undefined) return false
  const amend = amendBackwards()
  const leaving = await forgetting.leaving(name)
  const brings = broughtBy(id)
  for await (const event of newestFirst(events, session)) {
    const now = amend(event)
    if (now !== undefined && !isLeaving(now, leaving) && brings(now)) return true
  }
  return false
}

/** Returns the function that says, of events from the newest on, whether a message or a result has brought a file. */
function broughtBy(id: MediaId): (event: SessionEvent) => boolean {
  // A file is read after its message, which knows it by another name.
  const refs = new Set<string>()
  return (event) => {
    if (event.type === 'tool_result') return mediaOf(event.data.content).some(({ media }) => media === id)
    if (event.type === 'files_read')
      for (const { ref, media } of event.data.files) if (media?.media === id) refs.add(ref)
    const files = messagesIn(event).flatMap(({ attachments = [] }) => attachments)
    return files.some(({ ref, media }) => media?.media === id || refs.has(ref))
  }
}

/** Returns the name under which a tool has lately brought a file. */
async function knownName(
  { events }: SendFileDeps['read'],
  session: SessionId,
  id: MediaId,
): Promise<string | undefined> {
  const results = await events.latestOf(session, ['tool_result'], NAMES_FROM)
  const parts = results.flatMap((event) => (event.type === 'tool_result' ? mediaOf(event.data.content) : []))
  return parts.findLast(({ media, name }) => media === id && name !== undefined)?.name
}

/** Returns the one file that a handle, or its beginning, names. */
function fileNamed(handle: string, ids: readonly MediaId[]): MediaId | undefined {
  if (isMediaId(handle)) return ids.find((id) => id === handle)
  const given = HANDLE.exec(handle.replace(/\u2026$/, ''))
  const [first, ...others] = given ? ids.filter((id) => id.startsWith(given[0])) : []
  return others.length === 0 ? first : undefined
}
