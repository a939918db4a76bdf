import type { Channels } from './channel-traits.ts'
import type { Dispatch } from './dispatch.ts'
import type { UserMessageData } from './event.ts'
import type { ChannelId } from './ids.ts'
import { type InboundText, type Sender, showsForeignWords } from './message.ts'
import { type AuthorId, identifiesNobody, NOBODY, OPERATOR, personAuthor, platformIdOf } from './platform-id.ts'

type Traits = Pick<Channels, 'traits'>

/** Returns who wrote a platform's message. An id that many people share is `nobody`. */
export function senderAuthor(channels: Traits, channel: ChannelId, sender: Sender): AuthorId {
  return identifiesNobody(channels, channel, sender) ? NOBODY : platformIdOf(channels, channel, sender)
}

/**
 * Returns who asks for something with this dispatch. Undefined where another session's turn asks: its authors become
 * authors of this session instead.
 */
export function askingAuthor(channels: Traits, { event, origin, posted, schedule }: Dispatch): AuthorId | undefined {
  if (schedule) return schedule.creator.person === undefined ? OPERATOR : personAuthor(schedule.creator.person)
  if (posted === undefined) return senderAuthor(channels, event.address.channel, event.sender)
  if (posted.from !== undefined) return 'session' in posted.from ? undefined : NOBODY
  if (posted.participant !== undefined) return posted.participant
  return origin === 'operator' ? OPERATOR : NOBODY
}

/** Returns everybody who asks with this dispatch: a schedule may have been asked for by several people. */
export function askingAuthors(channels: Traits, dispatch: Dispatch): readonly AuthorId[] {
  return [askingAuthor(channels, dispatch) ?? [], dispatch.schedule?.askers ?? NONE].flat()
}

/** Returns the tokens that have led to the messages of a turn, each once. */
export function tokensBehind(rows: readonly { readonly dispatch: Pick<Dispatch, 'posted'> }[]): readonly string[] {
  const all = rows.flatMap(({ dispatch: { posted } }) => [posted?.token ?? [], posted?.ledBy ?? []].flat())
  return [...new Set(all)]
}

/**
 * Returns the authors of a dispatch whom its session does not know as participants: whoever is quoted or forwarded,
 * nobody for a file or a poll, a sender that is no single person, the people a digest speaks of, those whose words led
 * to a schedule. Empty for nearly every message.
 */
export function furtherAuthors(channels: Traits, dispatch: Dispatch): readonly AuthorId[] {
  const { event } = dispatch
  const nobody = isNobodys(channels, dispatch) ? [NOBODY] : NONE
  const made = dispatch.schedule?.authors ?? NONE
  return 'text' in event ? [...passedOn(channels, event.address.channel, event), ...made, ...nobody] : nobody
}

/** Returns everybody whose words are in a message of a log. */
export function authorsOfSaid(channels: Traits, channel: ChannelId, data: UserMessageData): readonly AuthorId[] {
  const { quoted, forwarded, via, attachments = [], enclosed } = data
  const writer = data.from === undefined ? senderAuthor(channels, channel, data.sender) : NOBODY
  return [writer, ...passedOn(channels, channel, { quoted, forwarded, via, attachments, enclosed })]
}

const NONE: readonly AuthorId[] = []

function isNobodys(channels: Traits, dispatch: Dispatch): boolean {
  const { event, posted, schedule } = dispatch
  if (schedule) return schedule.data !== undefined
  return posted
    ? askingAuthor(channels, dispatch) === NOBODY
    : identifiesNobody(channels, event.address.channel, event.sender)
}

type PassedOn = {
  readonly [Field in 'quoted' | 'forwarded' | 'via' | 'enclosed']?: InboundText[Field] | undefined
} & Pick<InboundText, 'attachments'>

/**
 * A quote of ours is of the authors of its session (`saidIn`), and one without text is not shown; a file or a contact
 * is by whoever made it.
 */
function passedOn(
  channels: Traits,
  channel: ChannelId,
  { quoted, forwarded, via, attachments, enclosed }: PassedOn,
): readonly AuthorId[] {
  const files = enclosed !== undefined || attachments.some(showsForeignWords)
  if (quoted === undefined && forwarded === undefined && via === undefined && !files) return NONE
  const authorOf = (sender: Sender | undefined): AuthorId =>
    sender === undefined ? NOBODY : senderAuthor(channels, channel, sender)
  return [
    ...(quoted?.text && !quoted.own ? [authorOf(quoted.sender)] : []),
    ...(forwarded ? [authorOf(forwarded.from)] : []),
    ...(via || files || quoted?.mixed ? [NOBODY] : []),
  ]
}
