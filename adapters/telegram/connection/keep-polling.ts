import { linkedAbort } from '../../shared/deadline.ts'
import { DeafProbe } from '../../shared/deaf-probe.ts'
import { isFields } from '../../shared/fields.ts'
import type { TelegramClient } from './client.ts'
import { type PollPorts, pollUpdates } from './poll.ts'

interface KeepPorts extends Omit<PollPorts, 'client' | 'onUpdates'> {
  /** Returns a client on connections of its own, for the polls; it is closed here. */
  openClient(): TelegramClient
  /** Asks beside the polls, over other connections. */
  readonly askClient: TelegramClient
  onDeaf(detail: string): void
  /** Called when updates came, or none are held any more, after `onDeaf`. */
  onHearing(): void
}

const DEADLINE_MS = 15_000

/**
 * Polls until `signal` aborts. A server that answers polls with nothing although it says that updates wait is polled
 * anew: over new connections and without an offset, so that it gives all that was not confirmed.
 */
export async function keepPolling(ports: KeepPorts, signal: AbortSignal): Promise<void> {
  const { askClient, clock } = ports
  let round = linkedAbort(signal)
  let isAnswered = false
  let held = 0
  const probe = new DeafProbe({
    clock,
    signal,
    looksWell: () => isAnswered,
    async probe(asking) {
      held = await heldUpdates(askClient, asking)
      return held > 0
    },
    deaf() {
      ports.onDeaf(deafness(held))
      round.abort()
    },
    receives: () => ports.onHearing(),
  })
  const probing = probe.run()
  const watched = {
    ...ports,
    onUpdates: () => probe.received(),
    onProof() {
      isAnswered = true
      ports.onProof()
    },
    onTrouble(detail: string) {
      isAnswered = false
      ports.onTrouble(detail)
    },
  }
  while (!signal.aborted) {
    round = linkedAbort(signal)
    const client = ports.openClient()
    await pollUpdates({ ...watched, client }, round.signal)
    client.close()
  }
  await probing
}

/** Rejects when the platform did not answer. */
async function heldUpdates(client: TelegramClient, signal: AbortSignal): Promise<number> {
  const outcome = await client.call('getWebhookInfo', {}, { deadlineMs: DEADLINE_MS, signal })
  if (outcome.kind !== 'answered') throw new Error('getWebhookInfo was not answered')
  const count = isFields(outcome.result) ? outcome.result.pending_update_count : undefined
  return typeof count === 'number' ? count : 0
}

function deafness(held: number): string {
  const updates = held === 1 ? '1 update' : `${held} updates`
  return `Telegram holds ${updates} for this bot, but its polls bring nothing: polling is begun anew`
}
