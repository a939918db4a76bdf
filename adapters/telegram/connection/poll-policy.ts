import { isFields } from '../../shared/fields.ts'
import { isTokenRefusal, waitMs } from '../outbound/receipts.ts'
import type { CallOutcome } from './client.ts'

/** The effect of a fruitless poll on the account. */
export interface PollTrouble {
  /** One line for the operator: the cause and the remedy. */
  readonly detail: string
  /** Most to wait before the next try, ms. */
  readonly capMs: number
  /** The platform said when to come back, ms. */
  readonly retryAfterMs?: number
  /** Ask once without waiting for news: that proves at once that the line is up again. */
  readonly probe: boolean
}

const CAP_MS = 30_000
const TOKEN_CAP_MS = 60_000

/** No answer is final: not even a refused token ends the loop, for it may be given back. */
export function readTrouble(outcome: Exclude<CallOutcome, { kind: 'answered' }>): PollTrouble {
  if (outcome.kind === 'failed') return { detail: `Telegram: ${outcome.reason}`, capMs: CAP_MS, probe: true }
  if (isTokenRefusal(outcome)) return { detail: TOKEN_REFUSED, capMs: TOKEN_CAP_MS, probe: true }
  const said = `${outcome.code}: ${outcome.description}`
  if (outcome.code === 429) {
    return { detail: said, capMs: CAP_MS, retryAfterMs: waitMs(outcome.retryAfterSeconds), probe: true }
  }
  if (outcome.code !== 409) return { detail: `Telegram refused to give updates: ${said}`, capMs: CAP_MS, probe: true }
  // A short poll would push the other one out and call that success: only a poll that held proves that it is gone.
  return { detail: conflictHint(outcome.description), capMs: CAP_MS, probe: false }
}

export const TOKEN_REFUSED =
  'Telegram refuses the token: it was revoked or mistyped; @BotFather gives a new one (/token)'

function conflictHint(description: string): string {
  return /webhook/i.test(description)
    ? 'a webhook was set for this token by another program: remove it there, or restart to take the bot over'
    : 'another instance polls this token: stop it, or give each instance a bot of its own'
}

/**
 * The offset that confirms the first `count` updates of a batch, or undefined when no id among them can say it. Never a
 * maximum over time: after a quiet week ids may start anywhere (F-G05). An offset below 1 means something else to the
 * platform and is never sent.
 */
export function confirming(batch: readonly unknown[], count: number): number | undefined {
  for (let index = count - 1; index >= 0; index--) {
    const update = batch[index]
    const id = isFields(update) ? update.update_id : undefined
    if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0) return id + 1
  }
  return undefined
}
