import { formatAddress } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import type { Decided } from '../core/dispatch.ts'
import { ParleyError } from '../core/errors.ts'
import type { AccountId, ChannelId, DeliveryId } from '../core/ids.ts'
import type { OutboxOperator, RestorationReport } from '../core/operate-outbox.ts'
import type { DeliveryReport } from '../core/operate-parts.ts'
import { DECIDED } from '../core/outbound.ts'
import type { AccountAt, OwnerNotice } from '../core/owner-notice.ts'
import type { DeliveryService } from '../delivery/delivery.ts'
import { asOldState } from '../routing/old-state.ts'
import { placeTitle } from '../sessions/service/place-title.ts'
import { holdOldState } from '../sessions/turns/hold-old-state.ts'
import type { Store } from '../store/store.ts'
import { deliveryReport } from './delivery-report.ts'

const SHOWN = 50

export interface RestorationDeps {
  readonly store: Store
  /** Absent without a daemon. */
  readonly delivery?: Pick<DeliveryService, 'resumeHeld' | 'retry' | 'drop'>
}

/** Reports the state of a restored database, and carries out the owner's choice. */
export function createRestoration({ store, delivery }: RestorationDeps): OutboxOperator {
  const { read } = store

  async function restoration(): Promise<RestorationReport | undefined> {
    const latest = await read.restorations.latest()
    if (latest === undefined) return undefined
    const rows = await read.inbox.unanswered(SHOWN)
    return {
      ...latest,
      held: await read.restorations.held(),
      unanswered: await Promise.all(
        rows.map(async ({ id, sessionId, dispatch: { event } }) => ({
          inboxId: id,
          address: formatAddress(event.address),
          ...(await placeTitle(read, event.address, sessionId)),
          sentAt: event.sentAt,
        })),
      ),
    }
  }

  async function decided(
    id: string,
    decide: (delivery: NonNullable<RestorationDeps['delivery']>, id: DeliveryId) => Promise<void>,
  ): Promise<DeliveryReport> {
    if (!delivery) throw new ParleyError('unavailable', 'Start the daemon first: it carries out what you decide.')
    await decide(delivery, id as DeliveryId)
    const row = await read.outbox.get(id as DeliveryId)
    if (row) return deliveryReport(row, read)
    throw new ParleyError('not_found', `There is no delivery ${id}.`)
  }

  return {
    restoration,
    retry: (id, once) => decided(id, (service, part) => service.retry(part, once)),
    drop: (id) => decided(id, (service, part) => service.drop(part)),
    async decide(verdict) {
      const state = (await read.restorations.latest())?.state
      if (!delivery && (state === 'held' || state === 'found'))
        throw new ParleyError('unavailable', 'Start the daemon first: it carries out what you decide.')
      if (!delivery || state !== 'held')
        throw new ParleyError('conflict', 'Nothing is held: there is nothing to decide.')
      if (verdict === 'resume') await delivery.resumeHeld()
      else await store.write((tx) => tx.restorations.discard(DECIDED.discarded))
      const report = await restoration()
      if (!report) throw new ParleyError('internal', 'the restoration is gone')
      return report
    },
  }
}

/**
 * The state of a restored database: messages it received before the restoration are not answered, and its queued ones
 * wait.
 */
export interface OldState {
  judged(decided: Decided): Decided
  /** Called at boot, before anything resumes. */
  hold(): Promise<void>
}

export function createOldState(store: Store, clock: Clock): OldState {
  let restoredAt: number | undefined
  const begun = clock.elapsed()
  /**
   * The restoration was found at this start or before: a later time comes from a clock that was wrong and has been set
   * since.
   */
  const putBackBy = (): number | undefined =>
    restoredAt === undefined ? undefined : Math.min(restoredAt, clock.now() - (clock.elapsed() - begun))
  return {
    judged: (decided) => asOldState(decided, putBackBy()),
    async hold() {
      const restoration = await store.read.restorations.latest()
      restoredAt = restoration?.at
      if (restoration?.state === 'found') await holdOldState(store, clock)
    },
  }
}

/**
 * Returns the function that notifies the owners when an account becomes ready, each once a day while messages wait for
 * them.
 */
export async function restorationTeller(
  { restoration }: Pick<OutboxOperator, 'restoration'>,
  notifyOwners: (where: AccountAt, notice: OwnerNotice) => void,
): Promise<(channel: ChannelId, account: AccountId) => void> {
  const report = await restoration()
  const text = report && restorationNotice(report)
  if (text === undefined) return () => {}
  return (channel, account) => notifyOwners({ channel, account }, { about: 'restoration', text })
}

/** Returns the notice for owners; undefined if nothing waits for them. */
function restorationNotice({ at, lastAt, state, held }: RestorationReport): string | undefined {
  if (state !== 'held' && state !== 'found') return undefined
  const since = lastAt > 0 ? new Date(lastAt).toISOString() : 'an unknown time'
  return [
    `My database is an older copy: it ends at ${since} and was put back before ${new Date(at).toISOString()}.`,
    'I answer nothing that was said in between, for I may have answered it already.',
    'What I was asked to forget since then is in it again, unless `parley restore` has forgotten it once more: else ask for it anew.',
    `Queued messages I hold back: ${held}. \`/outbox resume\` sends them, \`/outbox discard\` drops them; \`/outbox\` lists what I left unanswered.`,
  ].join(' ')
}
