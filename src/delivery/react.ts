import type { ChannelAdapter } from '../channels/adapter.ts'
import { reacts } from '../channels/capabilities.ts'
import type { Address } from '../core/address.ts'
import { type Clock, sleep } from '../core/clock.ts'
import type { DeliveryReceipt } from '../core/outbound.ts'
import type { Speaker, SpeakerVerdict } from './plan-reply.ts'
import type { RateLimiter } from './rate-limiter.ts'

interface ReactDeps {
  readonly clock: Clock
  readonly limiter: Pick<RateLimiter, 'bookAccount' | 'paused'>
  adapter(address: Address): ChannelAdapter | undefined
  sendAllowed(message: Speaker): SpeakerVerdict
}

export type Reacted =
  | DeliveryReceipt
  | { readonly kind: 'denied'; readonly because: string }
  | { readonly kind: 'without' | 'down' }

const ATTEMPTS = 3
const PAUSE_MS = 1_000
/** A turn does not wait longer for an emoji. */
const LONGEST_WAIT_MS = 10_000

/**
 * Puts an emoji on a message, under the policy of everything that leaves. It is idempotent, so that an unknown outcome
 * is repeated; it has no row, since the intent of its call is on record and the call is made again after a crash.
 */
export async function putReaction(
  deps: ReactDeps,
  target: Speaker & { readonly messageId: string },
  emoji: string,
  signal: AbortSignal,
): Promise<Reacted> {
  const { clock, limiter } = deps
  const { address } = target
  const { allowed, because } = deps.sendAllowed(target)
  if (!allowed) return { kind: 'denied', because }
  for (let attempt = 1; ; attempt++) {
    const adapter = await adapterOf(deps, address, signal)
    if (adapter === undefined) return { kind: 'down' }
    if (!reacts(adapter)) return { kind: 'without' }
    await sleep(clock, limiter.bookAccount(address), signal)
    if (signal.aborted) return { kind: 'not_sent', reason: 'it is not wanted any more' }
    const receipt = await adapter.react(target, emoji, signal)
    const wait = waitAfter(receipt)
    if (wait === undefined || wait > LONGEST_WAIT_MS || attempt === ATTEMPTS) return receipt
    await sleep(clock, wait, signal)
  }
}

/** Right after a start, a turn may continue before its platform can be reached. */
async function adapterOf(
  { adapter, clock }: ReactDeps,
  address: Address,
  signal: AbortSignal,
): Promise<ChannelAdapter | undefined> {
  for (let waited = 0; waited < LONGEST_WAIT_MS; waited += PAUSE_MS) {
    const found = adapter(address)
    if (found !== undefined || signal.aborted) return found
    await sleep(clock, PAUSE_MS, signal)
  }
  return adapter(address)
}

/** Returns how long to wait before the next attempt; undefined where another is useless. */
function waitAfter(receipt: DeliveryReceipt): number | undefined {
  if (receipt.kind === 'sent') return undefined
  return receipt.kind === 'rejected' ? receipt.retryAfterMs : PAUSE_MS
}
