import { createHmac, timingSafeEqual } from 'node:crypto'
import type { HookedCall, InboundHook } from '../core/operate-hooks.ts'

/**
 * Returns the signature of a call of ours, `t=<ms since the epoch>,v1=<hex>`: HMAC-SHA256 with the hook's secret over
 * `<t>.<body>`. Whoever receives the call makes it again, compares, and refuses times that are too old.
 */
export function signatureOf(body: string, secret: string, at: number): string {
  return `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`
}

/** A call is older or newer than this by our clock: somebody kept it, or a clock is wrong. */
const WINDOW_MS = 5 * 60_000
/** Takes the place of the secret of a hook that there is not, so that the same is done for every name. */
const NO_HOOK: Pick<InboundHook, 'secret' | 'signature'> = { secret: 'no hook has this secret', signature: 'parley' }

/**
 * Returns the signature of a call that is right, in the form that the hook asks for; undefined for any other. The time
 * says nothing of what is right in it (F-K05).
 */
export function checkedSignature(hook: InboundHook | undefined, call: HookedCall, now: number): string | undefined {
  const { secret, signature: form } = hook ?? NO_HOOK
  const { body, timestamp = '', signature = '', githubSignature = '' } = call
  const made = createHmac('sha256', secret)
  const given = form === 'github' ? githubSignature : signature
  if (form === 'parley') made.update(`${timestamp}.`)
  const right = `${form === 'github' ? 'sha256' : 'v1'}=${made.update(body).digest('hex')}`
  const same = equal(right, given) && hook !== undefined
  return same && (form === 'github' || isNear(timestamp, now)) ? right : undefined
}

/** Compares digests: their length says nothing of that of the texts. */
function equal(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHmac('sha256', 'compare').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}

/** Seconds since 1970, or ms. */
function isNear(timestamp: string, now: number): boolean {
  const [, seconds, ms] = /^(?:(\d{10})|(\d{13}))$/.exec(timestamp) ?? []
  const at = seconds === undefined ? Number(ms ?? Number.NaN) : Number(seconds) * 1_000
  return Math.abs(now - at) <= WINDOW_MS
}
