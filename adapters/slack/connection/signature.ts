import { createHmac, timingSafeEqual } from 'node:crypto'

export interface SignedRequest {
  readonly signature: string | undefined
  readonly timestamp: string | undefined
  /** Exactly as it came: parsed and written again it would be another body. */
  readonly body: Buffer
}

/** Both ways: the packages let a stamp of tomorrow pass. */
const MOST_SKEW_SECONDS = 300
const SIGNATURE_LENGTH = 'v0='.length + 64

/**
 * Returns true if Slack signed this request within five minutes of now. Every failure takes the same work, so that
 * timing reveals nothing.
 */
export function isSignedBySlack(secret: string, request: SignedRequest, nowMs: number): boolean {
  const { signature = '', timestamp = '', body } = request
  const expected = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest('hex')
  const given = Buffer.alloc(SIGNATURE_LENGTH)
  given.write(signature, 'latin1')
  const matches = timingSafeEqual(given, Buffer.from(`v0=${expected}`, 'latin1'))
  const isTime = /^\d{1,12}$/.test(timestamp)
  const isNow = Math.abs(nowMs / 1000 - Number(timestamp)) <= MOST_SKEW_SECONDS
  return matches && signature.length === SIGNATURE_LENGTH && isTime && isNow
}
