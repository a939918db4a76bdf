import { parseUrl } from '../../core/parse-url.ts'
import { rememberAllowedUpdates } from './account-methods.ts'
import { badRequest } from './api-error.ts'
import type { BotApi } from './bot-api.ts'
import type { Params } from './params.ts'
import { flagParam, integerParam, textParam } from './params.ts'
import { NO_WEBHOOK, type WebhookSettings } from './webhook.ts'

const PORTS = ['', '443', '80', '88', '8443']

/**
 * Accepts https:// addresses as the platform does and posts nothing there; posts to http:// on this machine, as an own
 * server would.
 */
export function setWebhook(api: BotApi, params: Params): true {
  const settings = readSettings(params)
  if (settings.url === '') return deleteWebhook(api, params)
  rememberAllowedUpdates(api, params)
  if (flagParam(params, 'drop_pending_updates')) api.bot.queue.clear()
  if (settings.url.startsWith('https://')) {
    api.ledger.append({ kind: 'unrehearsed', at: api.world.now(), what: 'delivery to a webhook over TLS' })
  }
  api.bot.poller.replaceByWebhook()
  api.bot.webhook.set(settings)
  return true
}

export function deleteWebhook({ bot }: BotApi, params: Params): true {
  bot.webhook.set(NO_WEBHOOK)
  if (flagParam(params, 'drop_pending_updates')) bot.queue.clear()
  return true
}

export function getWebhookInfo({ bot }: BotApi): object {
  const { url, maxConnections } = bot.webhook.settings
  const { lastError } = bot.webhook
  return {
    url,
    has_custom_certificate: false,
    pending_update_count: bot.queue.pending,
    ...(url !== '' && { max_connections: maxConnections }),
    ...(lastError !== undefined && {
      last_error_date: Math.floor(lastError.at / 1000),
      last_error_message: lastError.message,
    }),
    ...(bot.allowedUpdates !== null && { allowed_updates: bot.allowedUpdates }),
  }
}

function readSettings(params: Params): WebhookSettings {
  const url = textParam(params, 'url') ?? ''
  if (url !== '') checkUrl(url)
  const secretToken = textParam(params, 'secret_token') ?? ''
  if (secretToken.length > 256) throw badRequest('secret token is too long')
  if (!/^[\w-]*$/.test(secretToken)) throw badRequest('secret token contains unallowed characters')
  const maxConnections = Math.min(Math.max(integerParam(params, 'max_connections') ?? 40, 1), 100)
  return { url, secretToken, maxConnections }
}

function checkUrl(url: string): void {
  const parsed = parseUrl(url)
  if (parsed === undefined) throw badRequest('invalid webhook URL specified')
  const { protocol, hostname, port } = parsed
  if (protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(hostname)) return
  if (protocol !== 'https:') throw badRequest('bad webhook: An HTTPS URL must be provided for webhook')
  if (!PORTS.includes(port)) {
    throw badRequest('bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443')
  }
}
