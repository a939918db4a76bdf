import {
  gatewayBot,
  getChannel,
  getGuild,
  getMember,
  me,
  openDirect,
  startThread,
  startThreadFromMessage,
} from './account-routes.ts'
import { listCommands, myApplication, overwriteCommands } from './command-routes.ts'
import {
  acknowledgeInteraction,
  deleteInteractionAnswer,
  editInteractionAnswer,
  followInteraction,
} from './interaction-routes.ts'
import { createMessage, deleteMessage, editMessage, getMessage, getMessages, showTyping } from './message-routes.ts'
import { putReaction } from './reaction-routes.ts'
import type { RestApi, RestCall } from './rest-api.ts'

export type Route = (api: RestApi, call: RestCall) => unknown

interface RouteEntry {
  readonly verb: string
  readonly path: RegExp
  readonly name: string
  readonly run: Route
}

const channel = '/channels/([^/]+)'
const webhook = '/webhooks/([^/]+)/([^/]+)'
const route = (verb: string, path: string, run: Route): RouteEntry => ({
  verb,
  path: new RegExp(`^${path}$`),
  name: run.name,
  run,
})

const rehearsed: readonly RouteEntry[] = [
  route('GET', '/gateway/bot', gatewayBot),
  route('GET', '/users/@me', me),
  route('POST', '/users/@me/channels', openDirect),
  route('GET', '/guilds/([^/]+)', getGuild),
  route('GET', '/guilds/([^/]+)/members/([^/]+)', getMember),
  route('GET', channel, getChannel),
  route('GET', `${channel}/messages`, getMessages),
  route('GET', `${channel}/messages/([^/]+)`, getMessage),
  route('POST', `${channel}/messages`, createMessage),
  route('PATCH', `${channel}/messages/([^/]+)`, editMessage),
  route('DELETE', `${channel}/messages/([^/]+)`, deleteMessage),
  route('PUT', `${channel}/messages/([^/]+)/reactions/([^/]+)/@me`, putReaction),
  route('POST', `${channel}/typing`, showTyping),
  route('POST', `${channel}/messages/([^/]+)/threads`, startThreadFromMessage),
  route('POST', `${channel}/threads`, startThread),
  route('GET', '/applications/@me', myApplication),
  route('GET', '/applications/([^/]+)/commands', listCommands),
  route('PUT', '/applications/([^/]+)/commands', overwriteCommands),
  route('POST', '/interactions/([^/]+)/([^/]+)/callback', acknowledgeInteraction),
  route('POST', webhook, followInteraction),
  route('PATCH', `${webhook}/messages/@original`, editInteractionAnswer),
  route('DELETE', `${webhook}/messages/@original`, deleteInteractionAnswer),
]

/** Returns the route of a call under `/api/v10`; undefined if it is not rehearsed. */
export function findRoute(
  verb: string,
  path: string,
): { name: string; run: Route; ids: readonly string[] } | undefined {
  for (const entry of rehearsed) {
    const match = entry.verb === verb ? entry.path.exec(path) : null
    if (match !== null) return { name: entry.name, run: entry.run, ids: match.slice(1).map(decodeURIComponent) }
  }
  return undefined
}
