import type { Clock } from '../core/clock.ts'
import type { Dispatch, ReplyTarget } from '../core/dispatch.ts'
import { ParleyError } from '../core/errors.ts'
import type { AccountId, ChannelId, IdSource } from '../core/ids.ts'
import type { InboundEvent } from '../core/message.ts'
import type { AccountAt, OwnerNotice } from '../core/owner-notice.ts'
import type { ChannelCursor, ChannelSink, ChannelState } from './adapter.ts'

export interface AccountSinksDeps {
  readonly clock: Clock
  readonly ids: Pick<IdSource, 'trace'>
  readonly accept: (dispatch: Dispatch, position?: ChannelCursor) => Promise<void>
  /** Called for what people could read in a place with others, as the platform reported it. */
  readonly overheard: (payload: unknown) => void
  /** Called for what the owners of an account have to know. */
  readonly notifyOwners: (where: AccountAt, notice: OwnerNotice) => void
  /** Returns the state that an account keeps. */
  state(channel: ChannelId, account: AccountId): ChannelState
}

/** The sinks of all accounts: they turn a platform's event into the `Dispatch` that every other entrance builds too. */
export class AccountSinks {
  readonly #deps: AccountSinksDeps
  readonly #unknown = new Map<string, Map<string, number>>()
  #closed = false

  constructor(deps: AccountSinksDeps) {
    this.#deps = deps
  }

  sink(channel: ChannelId, account: AccountId): ChannelSink {
    const counts = new Map<string, number>()
    this.#unknown.set(`${channel}@${account}`, counts)
    return {
      accept: (event, position, payload) => {
        const accepted = this.#accept(event, position)
        if (payload !== undefined) this.#deps.overheard(payload)
        return accepted
      },
      unknown: (kind, payload) => {
        if (kind !== 'own_message') counts.set(kind, (counts.get(kind) ?? 0) + 1)
        if (payload !== undefined) this.#deps.overheard(payload)
      },
      notifyOwners: (notice) => this.#deps.notifyOwners({ channel, account }, notice),
      state: this.#deps.state(channel, account),
    }
  }

  /** Events that were received and not understood, by kind. */
  unknown(channel: ChannelId, account: AccountId): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#unknown.get(`${channel}@${account}`) ?? [])
  }

  /** Takes nothing more in. */
  close(): void {
    this.#closed = true
  }

  #accept(event: InboundEvent, position?: ChannelCursor): Promise<void> {
    const { accept, clock, ids } = this.#deps
    // Not stored, hence not acknowledged: the platform gives it again after the restart.
    if (this.#closed) return Promise.reject(new ParleyError('unavailable', 'The daemon is shutting down.'))
    try {
      return accept(
        { origin: 'platform', traceId: ids.trace(), event, receivedAt: clock.now(), reply: replyTo(event) },
        position,
      )
    } catch (error) {
      return Promise.reject(error)
    }
  }
}

/** The answer goes where the message came from, and names it where it is one that the platform shows. */
function replyTo(event: InboundEvent): ReplyTarget {
  const { address } = event
  const visible = 'messageId' in event && !(event.kind === 'command' && event.answerBy !== undefined)
  return visible ? { address, replyTo: event.messageId } : { address }
}
