import type { Address } from '../../core/address.ts'
import { furtherAuthors } from '../../core/author.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Dispatch, Identity } from '../../core/dispatch.ts'
import { unlessUnreadable } from '../../core/errors.ts'
import type { SessionId } from '../../core/ids.ts'
import { identifiesNobody, personAuthor, platformIdOf } from '../../core/platform-id.ts'
import type { Session } from '../../core/session.ts'
import type { StoreWriter } from '../../store/store.ts'

/**
 * Returns the platform id that a dispatch makes a participant; its person is looked up on use, so that a link or its
 * end counts at once (S19). Returns undefined for a schedule, a bot, or a sender that stands for many people.
 */
export function participantOf(channels: Channels, { event, schedule, posted }: Dispatch): string | undefined {
  if (posted) return posted.participant
  const { sender, address } = event
  if (schedule || identifiesNobody(channels, address.channel, sender)) return undefined
  return platformIdOf(channels, address.channel, sender)
}

/** Records the speaker of a message and the authors of quoted words in it. */
export async function recordSpeakers(
  tx: StoreWriter,
  session: SessionId,
  dispatch: Dispatch,
  { channels }: { readonly channels: Channels },
): Promise<void> {
  const participant = participantOf(channels, dispatch)
  if (participant !== undefined) await tx.participants.add(session, participant, dispatch.receivedAt)
  for (const author of furtherAuthors(channels, dispatch)) await tx.authors.add(session, author)
  const from = dispatch.posted?.from
  if (from && 'session' in from) await tx.authors.copy(from.session, session, dispatch.receivedAt)
  const { event } = dispatch
  const saidIn = 'text' in event && event.quoted?.text ? event.quoted.saidIn : undefined
  // The model is shown what we have said there, and so the words that led to it.
  if (saidIn !== undefined) await tx.authors.copy(saidIn, session, dispatch.receivedAt)
}

/**
 * Records the authors of a message that was said before its session was there. Whoever wrote it may have left the chat
 * since, also before the agent came into it: they take part with their next word.
 */
export async function recordAuthors(
  tx: StoreWriter,
  session: SessionId,
  dispatch: Dispatch,
  { channels }: { readonly channels: Channels },
): Promise<void> {
  const writer = participantOf(channels, dispatch)
  if (writer !== undefined) await tx.authors.add(session, writer)
  for (const author of furtherAuthors(channels, dispatch)) await tx.authors.add(session, author)
}

/**
 * Has whoever left a chat take part in none of its sessions: they read there no more than on the platform. Their words
 * stay, so they stay an author. A session that joins several chats keeps them.
 */
export async function recordDeparture(
  tx: StoreWriter,
  dispatch: Dispatch,
  { person }: Identity,
  { channels }: { readonly channels: Channels },
): Promise<void> {
  const { address } = dispatch.event
  // The same person may have come by another entrance besides.
  const further = person === undefined ? [] : [personAuthor(person)]
  for (const participant of await participantsOf(tx, dispatch, channels)) {
    const names = [participant, ...further]
    for (const id of await tx.participants.sessionsOf(participant)) {
      const session = await tx.sessions.get(id).catch(unlessUnreadable)
      if (session === undefined || !isOfChat(session, address)) continue
      for (const name of names) if (await tx.participants.leave(id, name)) await tx.authors.add(id, name)
    }
  }
}

/** Returns true for a session of the chat, or of a topic of it. */
function isOfChat({ scope }: Pick<Session, 'scope'>, { channel, chatType, chat }: Address): boolean {
  const place = `${chatType}:${chat}`.toLowerCase()
  const there = scope.values.chat?.toLowerCase()
  return scope.channel === channel && (there === place || there?.startsWith(`${place}/`) === true)
}

/** A notice need not name the workspace: then it is of whoever has the id there, and who stays soon says something. */
async function participantsOf(
  { participants }: StoreWriter,
  dispatch: Dispatch,
  channels: Channels,
): Promise<readonly string[]> {
  const participant = participantOf(channels, dispatch)
  if (participant === undefined) return []
  const { address, sender } = dispatch.event
  const isOfATeam = sender.team !== undefined || !channels.traits(address.channel).ids.ofTeams
  return isOfATeam ? [participant] : [participant, ...(await participants.inAnyTeam(address.channel, sender.id))]
}
