import type { Channels } from '../../core/channel-traits.ts'
import { type Identity, isStill } from '../../core/dispatch.ts'
import type { TurnId } from '../../core/ids.ts'
import { identifiesNobody, platformIdOf } from '../../core/platform-id.ts'
import type { SessionIdentity } from '../../core/session.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { StoreWriter } from '../../store/store.ts'

/** Asks again who wrote a message that was decided some time ago. */
export interface Parting {
  readonly channels: Pick<Channels, 'traits'>
  /** Returns who is behind a platform id, as configured and linked. */
  whoIs(this: void, platformId: string): Identity
  /** Called in the commit by which a message gets no turn any more. */
  parted(this: void, tx: StoreWriter, row: InboxRow): Promise<void>
}

/**
 * Ends the waiting messages of those who are somebody else by now than when they were decided, and returns the others.
 * A session that follows a person over several chats would answer one with words from another that is not theirs any
 * more, e.g. after `/unlink`; a session of one chat cannot.
 */
export async function dropParted(
  tx: StoreWriter,
  session: SessionIdentity,
  { waiting, at }: { readonly waiting: readonly InboxRow[]; readonly at: number },
  parting: Parting,
): Promise<readonly InboxRow[]> {
  if (session.scope.values.chat !== undefined) return waiting
  const gone = waiting.filter((row) => isSenderParted(row, parting))
  if (gone.length === 0) return waiting
  for (const { id } of gone) await tx.inbox.settle(id, 'refused: parted')
  const rows = gone.map(({ id }) => id)
  await tx.events.append(session.id, at, [{ type: 'messages_dropped', data: { messages: rows.length, rows } }])
  for (const row of gone) await parting.parted(tx, row)
  return waiting.filter((row) => !gone.includes(row))
}

/** Notifies the chat of a turn's newest message, in this commit, that it gets no answer from this conversation. */
export async function notifyParted(tx: StoreWriter, turn: TurnId, parting: Parting): Promise<void> {
  const newest = (await tx.inbox.ofTurn(turn)).at(-1)
  if (newest) await parting.parted(tx, newest)
}

/**
 * Returns whether a message was decided for somebody who its sender is not any more: for another person, or for an
 * owner who has lost that role.
 */
export function isSenderParted(
  { dispatch, decision: { identity } }: Pick<InboxRow, 'dispatch' | 'decision'>,
  { channels, whoIs }: Pick<Parting, 'channels' | 'whoIs'>,
): boolean {
  if (dispatch.origin !== 'platform') return false
  const { address, sender } = dispatch.event
  if (identity.person === undefined || identifiesNobody(channels, address.channel, sender)) return false
  const now = whoIs(platformIdOf(channels, address.channel, sender))
  return !isStill(identity.person, now) || (identity.role === 'owner' && now.role !== 'owner')
}
