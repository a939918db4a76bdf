import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import WebSocket from 'ws'
import { failpoint } from '../../../src/core/failpoint.ts'

import { isProxied } from '../../../src/platform/proxies.ts'
import { PlainAgent, SecureAgent } from '../../../src/platform/way-out.ts'

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

/**
 * Has the sockets of the gateway go through a proxy. `@discordjs/ws` takes no agent: it makes its sockets by the class
 * that the package `ws` names at the moment when it is loaded, so that this comes before. Without a proxy nothing of
 * that is changed.
 */
export function proxySockets(): void {
  if (!isProxied()) return
  const agents = { plain: new PlainAgent(), secure: new SecureAgent() }
  class ProxiedSocket extends WebSocket {
    constructor(url: string | URL, protocols?: string | string[], options?: WebSocket.ClientOptions) {
      const agent = new URL(url).protocol === 'ws:' ? agents.plain : agents.secure
      super(url, protocols, { ...options, agent })
    }
  }
  // The package names its own class once it is loaded by that library, which changes nothing any more.
  Object.defineProperty(WebSocket, 'WebSocket', { get: () => ProxiedSocket, set() {} })
}
