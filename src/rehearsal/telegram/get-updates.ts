import { rememberAllowedUpdates } from './account-methods.ts'
import { ApiError } from './api-error.ts'
import type { BotApi } from './bot-api.ts'
import type { Params } from './params.ts'
import { integerParam } from './params.ts'
import type { QueuedUpdate } from './update-queue.ts'

/** The platform's ceiling for `timeout`, in seconds. */
const longestPoll = 50

/** Answers with updates now, or waits until there are some or `timeout` seconds have passed. */
export function getUpdates(api: BotApi, params: Params, gone: AbortSignal): Promise<QueuedUpdate[]> {
  const { bot, ledger, world } = api
  if (bot.webhook.settings.url !== '') {
    throw new ApiError(
      409,
      "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
    )
  }
  const offset = integerParam(params, 'offset') ?? 0
  const limit = Math.min(Math.max(integerParam(params, 'limit') ?? 100, 1), 100)
  const timeoutSeconds = Math.min(integerParam(params, 'timeout') ?? 0, longestPoll)
  rememberAllowedUpdates(api, params)
  return bot.poller.poll({ offset, limit, timeoutSeconds }, gone, () => {
    ledger.append({ kind: 'poll', at: world.now(), botId: bot.user.id, offset, timeoutSeconds })
  })
}
