import { type Address, formatAddress } from '../../core/address.ts'
import type { Applicant } from '../../core/admission.ts'
import type { Clock } from '../../core/clock.ts'
import type { Decided, Decision, Dispatch, RefuseReason } from '../../core/dispatch.ts'
import type { InboxId } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import type { InboundEvent } from '../../core/message.ts'
import type { LowPriority, OutboundMessage } from '../../core/outbound.ts'
import { senderKey } from '../../core/platform-id.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { StoreWriter } from '../../store/store.ts'
import type { Access } from '../people/access.ts'
import type { PlanNotice, PostNotice } from '../people/post-notice.ts'
import type { Accepted } from './accept-alone.ts'
import { createOutageNotices, type OutageNotices } from './outage-notices.ts'

/**
 * The few lines the daemon says by itself, each at most once in a while, so that nobody is left guessing or flooded.
 */
export interface SystemNotices {
  /**
   * Called after the commit of what is on record and owes nothing: an applicant is on a card now. Whoever pressed a
   * button or used the menu in vain gets a line, which must not overtake the acknowledgement of that, sent after the
   * commit too; behind a crash the platform itself says that nothing came.
   */
  done(this: void, inbox: InboxId, dispatch: Dispatch, decision: Decision): void
  /**
   * Called in the commit that stores a message: nobody looks after one that was refused, or for which there was no
   * place, since the platform does not repeat it, so that a crash must leave both the message and the line about it, or
   * neither.
   */
  unanswered(tx: StoreWriter, accepted: Accepted, of: Decided): Promise<void>
  /** Called likewise in the commit that gives a message no turn: its sender has left the conversation it was for. */
  parted(this: void, tx: StoreWriter, row: Pick<InboxRow, 'id' | 'dispatch' | 'decision'>): Promise<void>
  readonly ended: OutageNotices
}

export interface SystemNoticesDeps {
  readonly clock: Clock
  readonly logger: Logger
  readonly access: Pick<Access, 'unownedLine'>
  readonly say: PostNotice
  readonly plan: PlanNotice
  /** Notified of those who ask to be let in. */
  readonly admissions: { refused(asks: Applicant): void }
  /** Returns true if so many lines wait for this account that no more should be added. */
  crowded(address: Address): boolean
}

const HOUR_MS = 3_600_000
const BURST_MS = 60_000
/** Whoever sets the bot up writes again once they have changed something. */
const UNOWNED_MS = 5_000

/** In groups a refusal is silent: nobody there asked about the access list. */
const REFUSALS: Readonly<Record<Exclude<RefuseReason, 'no_owner_yet'>, string | undefined>> = {
  stranger: 'I only talk to people my owner has let in.',
  access: undefined,
  send_policy: undefined,
}

const FOR_OTHERS = 'Only my owner may do that.'
const CROWDED = 'I am talking with as many people as I can right now. Please write again in a minute.'
const QUEUE_FULL = 'I have more messages waiting here than I can take; please give me a moment and repeat the last one.'
const PARTED =
  'This chat was parted from the conversation that your last message was for, so I did not answer it. Please send it again.'
const KEYS = { full: 'queue_full', crowded: 'crowded' } as const
const ASKED = 'I have passed on that you ask, and read what you wrote once I may.'

export function createSystemNotices(deps: SystemNoticesDeps): SystemNotices {
  const { clock, logger, access, say, plan, admissions, crowded } = deps
  // A stranger who gets no notice now gets it with the next message. A known person always gets it, however many others
  // there are.
  const isLeftOut = ({ lowPriority, address }: OutboundMessage): boolean =>
    lowPriority?.known === undefined && crowded(address)
  const planOnce = async (
    tx: StoreWriter,
    { key, windowMs = BURST_MS }: { readonly key: string; readonly windowMs?: number },
    { dispatch, message }: { readonly dispatch: Dispatch; readonly message: OutboundMessage },
  ): Promise<void> => {
    if (dispatch.posted || isLeftOut(message)) return
    if (await tx.notices.once(`${key}:${chatOf(dispatch)}`, clock.now(), windowMs)) await plan(tx, message)
  }
  /** Each press and each command by the menu is answered, as the platform shows it as busy until then. */
  const refusePrivately = (inbox: InboxId, dispatch: Dispatch, decision: Decision): void => {
    const { sender, ...event } = dispatch.event
    const handle = event.kind === 'command' ? event.answerBy : undefined
    const line = messageOf(inbox, dispatch, { text: FOR_OTHERS, decision })
    if (handle === undefined || crowded(line.address)) return
    const message = { ...line, only: { id: sender.id, handle, otherwise: 'direct' } } as const
    say(message, async () => true).catch((err: unknown) =>
      logger.warn('A refusal could not be planned', { err, traceId: dispatch.traceId }),
    )
  }
  const refuse = async (tx: StoreWriter, inbox: InboxId, { dispatch, decision }: Decided): Promise<void> => {
    const text = refusalOf(dispatch, decision, access)
    if (text === undefined || decision.kind !== 'refuse') return
    const windowMs = decision.reason === 'no_owner_yet' ? UNOWNED_MS : 24 * HOUR_MS
    const window = { key: `refused:${decision.reason}`, windowMs }
    await planOnce(tx, window, { dispatch, message: messageOf(inbox, dispatch, { text, decision }) })
  }
  const sayWhoMay = async (tx: StoreWriter, inbox: InboxId, { dispatch, decision }: Decided): Promise<void> => {
    const name = dispatch.event.kind === 'command' ? dispatch.event.name : ''
    const message = messageOf(inbox, dispatch, { text: `\`/${name}\` is for my owner alone.`, decision })
    if (!isLeftOut(message)) await plan(tx, message)
  }
  return {
    ended: createOutageNotices(clock),
    done(inbox, dispatch, decision) {
      if (isForOthers(dispatch, decision)) return refusePrivately(inbox, dispatch, decision)
      if (decision.kind === 'refuse' && decision.asks) admissions.refused(decision.asks)
    },
    async unanswered(tx, accepted, { dispatch, decision }) {
      if (accepted.kind === 'done' && isTypedForOwner(dispatch, decision))
        return sayWhoMay(tx, accepted.inboxId, { dispatch, decision })
      if (accepted.kind === 'done') return refuse(tx, accepted.inboxId, { dispatch, decision })
      if (accepted.kind !== 'full' && accepted.kind !== 'crowded') return
      const text = accepted.kind === 'full' ? QUEUE_FULL : CROWDED
      const message = messageOf(accepted.inboxId, dispatch, { text, decision })
      const known = accepted.kind === 'full' && message.lowPriority?.known ? '_known' : ''
      await planOnce(tx, { key: `${KEYS[accepted.kind]}${known}` }, { dispatch, message })
    },
    async parted(tx, { id, dispatch, decision }) {
      await planOnce(tx, { key: 'parted' }, { dispatch, message: messageOf(id, dispatch, { text: PARTED, decision }) })
    },
  }
}

/** Undefined unless a person has sent the agent a message: not who reacted to one, or asked from elsewhere. */
function refusalOf(
  { event: { sender, kind, address } }: Dispatch,
  decision: Decision,
  access: SystemNoticesDeps['access'],
): string | undefined {
  if (decision.kind !== 'refuse' || sender.kind !== 'user' || (kind !== 'message' && kind !== 'command')) return
  if (decision.reason === 'no_owner_yet') return access.unownedLine(address.channel)
  const refusal = REFUSALS[decision.reason]
  return decision.asks && refusal ? `${refusal} ${ASKED}` : refusal
}

/** Names the chat with all its topics: people write to several bots, which have chats of the same ids. */
function chatOf({ event: { address } }: Dispatch): string {
  const { topic: _topic, ...chat } = address
  return formatAddress(chat)
}

/** Returns true for a command by a button or a menu that is not for whoever used it. */
function isForOthers({ event }: Dispatch, decision: Decision): boolean {
  if (event.kind !== 'command' || event.answerBy === undefined) return false
  return decision.kind === 'ignore'
    ? decision.reason === 'command_for_owner'
    : decision.kind === 'refuse' && decision.reason !== 'no_owner_yet' && REFUSALS[decision.reason] === undefined
}

/** Returns true for an owner's command that somebody else has typed in a direct chat; in a group it is silent. */
function isTypedForOwner({ event }: Dispatch, decision: Decision): boolean {
  const isForOwner = decision.kind === 'ignore' && decision.reason === 'command_for_owner'
  return isForOwner && event.kind === 'command' && !event.answerBy && event.address.chatType === 'direct'
}

/** Returns the priority of a short answer to somebody. */
export function lineFor({ address, sender }: InboundEvent, decision: Decision): LowPriority {
  const supersedes = senderKey(address.channel, sender)
  const known = (decision.kind === 'run' || decision.kind === 'control') && decision.public === undefined
  return known ? { supersedes, known } : { supersedes }
}

function messageOf(
  source: InboxId,
  { traceId, reply, event }: Dispatch,
  { text, decision }: { readonly text: string; readonly decision: Decision },
): OutboundMessage {
  return {
    source,
    traceId,
    address: reply.address,
    class: 'control',
    text,
    lowPriority: lineFor(event, decision),
    ...(reply.replyTo === undefined ? {} : { replyTo: reply.replyTo }),
  }
}
