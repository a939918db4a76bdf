import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type AdapterServices, ChannelDown, type ChannelSink } from '../../../src/channels/adapter.ts'
import { within } from '../../../src/core/clock.ts'
import { DOORS } from '../../../src/core/doors.ts'
import { errorCode, toError } from '../../../src/core/errors.ts'
import { failpoint } from '../../../src/core/failpoint.ts'
import type { AccountId } from '../../../src/core/ids.ts'
import { readJson } from '../../../src/core/read-json.ts'
import type { AccountHealth } from '../../shared/account-health.ts'
import { onAbort } from '../../shared/deadline.ts'
import { type HttpAnswer, type HttpRequest, headerOf } from '../../shared/http-exchange.ts'
import { HttpListener } from '../../shared/http-listener.ts'
import type { TelegramConfig } from '../config.ts'
import { ALLOWED_UPDATES } from '../inbound/read-event.ts'
import { chatIn } from '../inbound/reading.ts'
import type { TelegramClient } from './client.ts'
import { down } from './greet.ts'
import { watchWebhook } from './watch-webhook.ts'

interface WebhookDeps {
  readonly account: AccountId
  readonly config: TelegramConfig
  readonly services: AdapterServices
  readonly health: AccountHealth
  readonly client: TelegramClient
  readonly sink: Pick<ChannelSink, 'unknown'>
  readonly abort: AbortController
}

/** The kind under which an update is counted that is larger than is read of one. */
export const TOO_LONG = 'update:too_long'

const DEADLINE_MS = 15_000
const STOP_GRACE_MS = 5000
/** The platform's own waits grow to minutes; what could not be stored is to come soon after that is mended. */
const RETRY_AFTER_SECONDS = 5

/**
 * Updates as the platform posts them: 200 says that one is committed, and nothing else does. What could not be stored
 * is answered with 503 and comes again, for 24 hours.
 */
export function receiveByWebhook(deps: WebhookDeps, accept: (update: unknown) => Promise<void>) {
  const { config, client, services, health, abort, account } = deps
  const { signal } = abort
  const { webhookUrl: url = '', webhookSecret: secret = '', listen } = config
  const watch = watchWebhook({ client, clock: services.clock, health, signal, url, listen })
  const chats = new Chats()
  let ended = Promise.resolve()

  /** Told as taken: it would come again for 24 hours, before all that is said in its chat. */
  function tooLong(): HttpAnswer {
    services.logger.warn('An update is larger than is read of one, and is left out.', { account })
    deps.sink.unknown(TOO_LONG)
    return { status: 200 }
  }

  async function handle({ body }: HttpRequest): Promise<HttpAnswer> {
    let update: unknown
    try {
      update = readJson(body, DOORS.platformEvent)
    } catch (error) {
      return errorCode(error) === 'too_long' ? tooLong() : { status: 400 }
    }
    watch.received()
    failpoint('CP1-received')
    try {
      await chats.inOrder(chatIn(update), () => accept(update))
    } catch (error) {
      const detail = `messages cannot be stored, Telegram keeps them for 24 hours: ${toError(error).message}`
      if (!signal.aborted) health.trouble('store', detail)
      return { status: 503, retryAfterSeconds: RETRY_AFTER_SECONDS }
    }
    health.mended('store')
    failpoint('CP2-committed')
    return { status: 200 }
  }

  const { clock, logger } = services
  const listener = new HttpListener(
    { what: "Telegram's updates", listen, account, clock, logger, mostBytes: DOORS.platformEvent.bytes },
    { admits: (headers) => isFromTelegram(secret, headers), handle, tooLong },
  )
  /** Lets what is being stored be answered, for a while. */
  async function close(): Promise<void> {
    await within(clock, STOP_GRACE_MS, listener.stop())
    listener.kill()
  }
  return {
    /** @throws ChannelDown */
    async start(): Promise<void> {
      await listener.start()
      // Only now, for the platform may post before it has answered.
      await setWebhook(client, { url, secret }, signal).catch(async (error: unknown) => {
        await close()
        throw error
      })
      const stopped = new Promise<void>((resolve) => onAbort(signal, () => resolve(close())))
      ended = Promise.all([stopped, watch.run()]).then(() => {})
    },
    ended: () => ended,
  }
}

/** The work is the same whatever is wrong, so that timing shows nothing. */
export function isFromTelegram(secret: string, headers: IncomingHttpHeaders): boolean {
  const given = headerOf(headers, 'x-telegram-bot-api-secret-token')
  const matches = timingSafeEqual(digestOf(given ?? ''), digestOf(secret))
  return matches && given !== undefined && secret !== ''
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/**
 * Says where updates are to be posted. What waits is never dropped.
 * @throws ChannelDown, permanent when the platform does not take the address or the token
 */
async function setWebhook(
  client: TelegramClient,
  { url, secret }: { readonly url: string; readonly secret: string },
  signal: AbortSignal,
): Promise<void> {
  const params = { url, secret_token: secret, allowed_updates: ALLOWED_UPDATES }
  const outcome = await client.call('setWebhook', params, { deadlineMs: DEADLINE_MS, signal })
  if (outcome.kind === 'answered') return
  if (outcome.kind === 'refused' && outcome.code === 400) {
    const said = `Telegram does not take the webhook: ${outcome.description}: check webhookUrl`
    throw new ChannelDown(said, { permanent: true })
  }
  throw down(outcome)
}

/**
 * Keeps the updates of one chat in the order they came, over however many connections. The platform posts the next one
 * of a chat only when the one before was taken, so none waits here; whoever posts otherwise finds that what comes
 * behind one that could not be stored is not stored before it either.
 */
class Chats {
  readonly #last = new Map<string, Promise<void>>()

  inOrder(chat: string | undefined, task: () => Promise<void>): Promise<void> {
    if (chat === undefined) return task()
    const before = this.#last.get(chat)
    const work = before === undefined ? task() : before.then(task)
    this.#last.set(chat, work)
    const forget = (): void => {
      if (this.#last.get(chat) === work) this.#last.delete(chat)
    }
    work.then(forget, forget)
    return work
  }
}
