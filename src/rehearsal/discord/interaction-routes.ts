import { emptyMessage, invalidField, unknownApplication } from './api-error.ts'
import { readContent } from './message-routes.ts'
import { isRecord } from './read-body.ts'
import type { RestApi, RestCall } from './rest-api.ts'

const DEFERRED = 5
const EPHEMERAL = 64

/** Only messages for one person alone are rehearsed; any other would be one that everybody sees. */
export function acknowledgeInteraction({ interactions }: RestApi, { ids, body }: RestCall): undefined {
  const [id = '', token = ''] = ids
  if (body.type !== DEFERRED) throw new Error(`an interaction callback of type ${String(body.type)} is not rehearsed`)
  requireEphemeral(isRecord(body.data) ? body.data.flags : undefined)
  interactions.acknowledge(id, token)
}

export function editInteractionAnswer(api: RestApi, call: RestCall): object {
  const id = api.interactions.edit(readToken(api, call), readText(call))
  return { id, type: 20, flags: flagsOf(call), content: readText(call) }
}

export function deleteInteractionAnswer(api: RestApi, call: RestCall): undefined {
  api.interactions.remove(readToken(api, call))
}

export function followInteraction(api: RestApi, call: RestCall): object {
  requireEphemeral(call.body.flags)
  const id = api.interactions.follow(readToken(api, call), readText(call))
  return { id, type: 20, flags: flagsOf(call), content: readText(call) }
}

/** An application's webhooks are under its own id. */
function readToken({ world }: RestApi, { ids }: RestCall): string {
  const [application = '', token = ''] = ids
  if (application !== world.bot.id) throw unknownApplication()
  return token
}

function readText(call: RestCall): string {
  const content = readContent(call)
  if (content === '') throw emptyMessage()
  return content
}

/** No edit takes from an answer that it is for one person alone. */
function flagsOf({ body: { flags } }: RestCall): number {
  return EPHEMERAL | (typeof flags === 'number' ? flags : 0)
}

function requireEphemeral(flags: unknown): void {
  if (flags === undefined) throw new Error('an answer that everybody sees is not rehearsed')
  if (typeof flags !== 'number' || (flags & EPHEMERAL) === 0) {
    throw invalidField('flags', 'BITFIELD_INVALID', 'Only ephemeral answers are rehearsed.')
  }
}
