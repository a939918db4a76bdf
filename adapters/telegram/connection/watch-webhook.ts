import type { Clock } from '../../../src/core/clock.ts'
import { parseUrl } from '../../../src/core/parse-url.ts'
import type { AccountHealth } from '../../shared/account-health.ts'
import { DeafProbe } from '../../shared/deaf-probe.ts'
import { isFields } from '../../shared/fields.ts'
import type { ListenAddress } from '../../shared/http-listener.ts'
import type { TelegramClient } from './client.ts'
import { readTrouble } from './poll-policy.ts'

interface WatchDeps {
  readonly client: TelegramClient
  readonly clock: Clock
  readonly health: AccountHealth
  readonly signal: AbortSignal
  /** The address that the platform posts to. */
  readonly url: string
  readonly listen: ListenAddress
}

/** The platform's information about a webhook; no URL: none is set. */
export interface WebhookInfo {
  readonly url: string
  readonly pending: number
  readonly lastError: string | undefined
}

const DEADLINE_MS = 15_000
/** Questions in a row without an answer that count as a failure; a single one is a hiccup of the network. */
const UNANSWERED = 2
/** The longest part of the platform's error that is shown. */
const SHOWN = 200

/**
 * Watches over a webhook, which says nothing when it is cut off: where nothing came for a while the platform is asked
 * whose webhook it has, what it holds back, and why.
 */
export function watchWebhook({ client, clock, health, signal, url, listen }: WatchDeps) {
  let last: WebhookInfo = { url, pending: 0, lastError: undefined }
  let unanswered = 0
  const probe = new DeafProbe({
    clock,
    signal,
    looksWell: () => true,
    async probe(asking) {
      const outcome = await client.call('getWebhookInfo', {}, { deadlineMs: DEADLINE_MS, signal: asking })
      if (asking.aborted) return false
      if (outcome.kind !== 'answered') {
        unanswered++
        if (outcome.kind === 'refused' || unanswered >= UNANSWERED)
          health.trouble('connection', readTrouble(outcome).detail)
        throw new Error('getWebhookInfo was not answered')
      }
      unanswered = 0
      last = readInfo(outcome.result)
      if (!isSame(last.url, url)) {
        health.trouble('connection', lostTo(last.url))
        return false
      }
      health.mended('connection')
      if (last.pending === 0) health.proven()
      return last.pending > 0
    },
    deaf: () => health.trouble('hearing', deafness(last, { url, listen })),
    receives: () => health.mended('hearing'),
  })
  return {
    /** Resolves when the signal aborts. */
    run: () => probe.run(),
    /** Called for each request that is from the platform. */
    received() {
      health.proven()
      health.mended('connection')
      probe.received()
    },
  }
}

export function readInfo(result: unknown): WebhookInfo {
  const { url, pending_update_count: pending, last_error_message: said } = isFields(result) ? result : {}
  return {
    url: typeof url === 'string' ? url : '',
    pending: typeof pending === 'number' ? pending : 0,
    lastError: typeof said === 'string' && said !== '' ? said.slice(0, SHOWN) : undefined,
  }
}

/** Addresses may come back written otherwise. */
export function isSame(one: string, other: string): boolean {
  const href = parseUrl(one)?.href
  return href !== undefined && href === parseUrl(other)?.href
}

/** Describes where updates go instead; the path of the URL may be a secret of whoever set it. */
function lostTo(url: string): string {
  const host = parseUrl(url)?.host
  const what = host === undefined ? 'no webhook' : `another webhook, at ${host},`
  return `Telegram has ${what} for this token now, by another program: stop that one, and restart to receive here again`
}

function deafness({ pending, lastError }: WebhookInfo, { url, listen }: Pick<WatchDeps, 'url' | 'listen'>): string {
  const updates = pending === 1 ? '1 update' : `${pending} updates`
  const why = lastError === undefined ? 'it names no error' : `its last error: ${lastError}`
  const { host, port, path } = listen
  return `Telegram holds ${updates} for this bot, and its webhook brings nothing; ${why}: see that ${new URL(url).host} leads to ${host}:${port}${path}`
}
