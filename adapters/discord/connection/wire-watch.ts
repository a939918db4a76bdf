import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { failpoint } from '../../../src/core/failpoint.ts'

/**
 * Published by undici, on which discord.js sends, when the last byte of a request was handed to the operating system.
 */
const BODY_SENT = 'undici:request:bodySent'
const CHANGES_MESSAGE = /\/channels\/\d+\/messages/

/** Marks the moment right after the bytes of a send left, at which a crash may hit (CP12). Returns how to end it. */
export function watchWritten(): () => void {
  const onSent = (message: unknown): void => {
    const request: unknown =
      typeof message === 'object' && message !== null ? Reflect.get(message, 'request') : undefined
    if (typeof request !== 'object' || request === null) return
    const path: unknown = Reflect.get(request, 'path')
    const reads = Reflect.get(request, 'method') === 'GET'
    if (!reads && typeof path === 'string' && CHANGES_MESSAGE.test(path)) failpoint('CP12-bytes-written')
  }
  subscribe(BODY_SENT, onSent)
  return () => unsubscribe(BODY_SENT, onSent)
}
