import type { Address } from '../../core/address.ts'
import type { Decision, Dispatch } from '../../core/dispatch.ts'
import type { IdSource, InboxId, SessionId, TurnId } from '../../core/ids.ts'
import type { NewInboxRow } from '../../store/inbox-port.ts'
import type { StoreWriter } from '../../store/store.ts'
import { withoutAnything, withoutText, withShortText } from '../people/kept-text.ts'
import { recordRefusal } from '../people/record-refusal.ts'
import type { Appended } from './record-turn.ts'
import type { StartedTurn } from './started-turn.ts'

/** The rest that the accept transaction leaves for the pipeline to do after its commit. */
export type Accepted =
  /** The platform delivered it again; nothing was written. */
  | { readonly kind: 'repeat' }
  /** The message is recorded with its outcome; nothing more is owed. */
  | { readonly kind: 'done'; readonly inboxId: InboxId }
  | { readonly kind: 'command'; readonly inboxId: InboxId }
  | { readonly kind: 'started'; readonly inboxId: InboxId; readonly turn: StartedTurn; readonly appended: Appended }
  | {
      readonly kind: 'waiting'
      readonly inboxId: InboxId
      readonly sessionId: SessionId
      /** The turn that it ends (busy mode `interrupt`), or any that the session has. */
      readonly interrupts?: TurnId | 'any'
    }
  | { readonly kind: 'full'; readonly inboxId: InboxId }
  /** The message is recorded and refused: the agent talks with as many strangers as it may. */
  | { readonly kind: 'crowded'; readonly inboxId: InboxId }

export interface DecidedDispatch {
  readonly dispatch: Dispatch
  readonly decision: Decision
  /** The position up to which the platform was read with this dispatch; stored in the same commit. */
  readonly position?: { readonly key: string; readonly value: string } | undefined
}

export interface Incoming<Kind extends Decision['kind']> {
  readonly id: InboxId
  readonly dispatch: Dispatch
  readonly decision: Extract<Decision, { kind: Kind }>
}

/** Records a message that changes no session: its row is everything. */
export async function acceptAlone(tx: StoreWriter, row: NewInboxRow): Promise<Accepted> {
  if (!(await tx.inbox.add(row))) return { kind: 'repeat' }
  return { kind: row.state === 'waiting' ? 'command' : 'done', inboxId: row.id }
}

/** Records, without the words, an edit of what was forgotten: it changes nothing and brings nothing back. */
export function acceptForgotten(
  tx: StoreWriter,
  { id, dispatch, decision, outcome }: Omit<NewInboxRow, 'state'> & { readonly outcome: 'forgotten' | 'aged' },
): Promise<Accepted> {
  return acceptAlone(tx, { id, ...withoutAnything({ dispatch, decision }), state: 'done', outcome })
}

/** Records, without the words, what says nothing that is not on record already. */
export function acceptKnown(
  tx: StoreWriter,
  { dispatch, ...row }: Omit<NewInboxRow, 'state'> & { readonly outcome: `ignored: ${'unchanged' | 'own_message'}` },
): Promise<Accepted> {
  return acceptAlone(tx, { ...row, dispatch: withoutText(dispatch), state: 'done' })
}

/** Records, without the words, a stranger's message that nobody will ever handle. */
export function acceptIgnored(tx: StoreWriter, { id, dispatch, decision }: Incoming<'ignore'>): Promise<Accepted> {
  const kept = decision.identity.role === 'guest' ? withoutText(dispatch) : dispatch
  return acceptAlone(tx, { id, dispatch: kept, decision, state: 'done', outcome: `ignored: ${decision.reason}` })
}

export async function acceptRefusal(
  tx: StoreWriter,
  { id, dispatch: given, decision }: Incoming<'refuse'>,
  { ids }: { readonly ids: IdSource },
): Promise<Accepted> {
  const outcome = `refused: ${decision.reason}` as const
  const dispatch = decision.asks ? withShortText(given) : keptRefused(given, decision)
  const accepted = await acceptAlone(tx, { id, dispatch, decision, state: 'done', outcome })
  if (accepted.kind === 'done' && decision.asks) {
    await recordRefusal(tx, { id, dispatch, asks: decision.asks }, ids)
  }
  return accepted
}

/**
 * The words of a known person are kept: an owner may ask why, and change the configuration, before they say it again.
 */
function keptRefused(dispatch: Dispatch, { identity }: Decision): Dispatch {
  return identity.role === 'guest' ? withoutText(dispatch) : dispatch
}

/** Records, without the words and in no session, a stranger's message that no turn will answer. */
export function acceptUnheard(
  tx: StoreWriter,
  { id, dispatch, decision }: Incoming<'run'>,
  outcome: 'refused: public_full' | 'refused: queue_full',
): Promise<Accepted> {
  return acceptAlone(tx, { id, dispatch: withoutText(dispatch), decision, state: 'done', outcome })
}

/** The ports for a message that is refused because a row it needs cannot be read. */
export interface UnreadableDeps {
  readonly ids: IdSource
  /** Called after the commit of such a message. */
  unreadable(address: Address, err: unknown): void
}

/**
 * Refuses a message whose session cannot be read. Thrown, the error would make the platform repeat the message for ever
 * and keep everybody else's behind it. Rows are read before anything is written of a message, so nothing is to be
 * undone.
 */
export async function acceptUnreadable(
  tx: StoreWriter,
  { dispatch: given, decision }: DecidedDispatch,
  err: unknown,
  deps: UnreadableDeps,
): Promise<Accepted> {
  const dispatch = keptRefused(given, decision)
  const row = { id: deps.ids.inbox(), dispatch, decision, state: 'done', outcome: 'refused: unreadable' } as const
  const accepted = await acceptAlone(tx, row)
  if (accepted.kind === 'done') tx.afterCommit(() => deps.unreadable(dispatch.event.address, err))
  return accepted
}
