import { requireScope } from './conversations.ts'
import { type Params, textParam } from './params.ts'
import { SlackApiError } from './slack-error.ts'
import type { WebApi } from './web-api.ts'

type Answer = Readonly<Record<string, unknown>>

export function authTest({ app }: WebApi): Answer {
  return {
    url: 'https://rehearsal.slack.com/',
    team: app.teamName,
    user: app.bot.name,
    team_id: app.teamId,
    user_id: app.bot.id,
    bot_id: app.botId,
    ...(app.enterpriseId !== null && { enterprise_id: app.enterpriseId }),
    is_enterprise_install: false,
  }
}

export function botInfo({ app }: WebApi, params: Params): Answer {
  if (textParam(params, 'bot') !== app.botId) throw new SlackApiError('bot_not_found')
  const { botId: id, appId: app_id, bot } = app
  return { bot: { id, app_id, user_id: bot.id, name: bot.name, deleted: false, updated: 1_700_000_000, icons: {} } }
}

export function openConnection({ app, sockets }: WebApi): Answer {
  requireScope({ scopes: app.appScopes }, 'connections:write')
  return { url: sockets.issueUrl() }
}

export function openConversation({ app, world }: WebApi, params: Params): Answer {
  const users = (textParam(params, 'users') ?? '').split(',').filter((id) => id !== '')
  const [only] = users
  if (only === undefined) throw new SlackApiError('users_list_not_supplied')
  requireScope(app, users.length === 1 ? 'im:write' : 'mpim:write')
  if (users.some((id) => world.findUser(id) === undefined)) throw new SlackApiError('user_not_found')
  if (users.length > 1) throw new SlackApiError('not_rehearsed')
  return { channel: { id: world.direct(only).id } }
}

export function userInfo({ world }: WebApi, params: Params): Answer {
  const user = world.findUser(textParam(params, 'user') ?? '')
  if (user === undefined) throw new SlackApiError('user_not_found')
  return { user }
}
