import { createHmac } from 'node:crypto'

/**
 * Returns the signature of a call, `t=<ms since the epoch>,v1=<hex>`: HMAC-SHA256 with the hook's secret over
 * `<t>.<body>`. Whoever receives the call makes it again, compares, and refuses times that are too old.
 */
export function signatureOf(body: string, secret: string, at: number): string {
  return `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`
}
