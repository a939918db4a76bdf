import type { UploadedFile } from '../uploads.ts'
import {
  archivedThread,
  emptyMessage,
  foreignMessage,
  invalidField,
  missingPermissions,
  noHistory,
} from './api-error.ts'
import type { ApiAttachment, ApiMessage } from './api-types.ts'
import { buildMessage } from './build-message.ts'
import { isRecord } from './read-body.ts'
import { readComponents } from './read-components.ts'
import type { RestApi, RestCall } from './rest-api.ts'
import { readChannel, readMessage, readWritable } from './targets.ts'
import type { ChannelState } from './world-state.ts'

/** The limit in UTF-16 units; the platform may count an emoji as one, so this is never laxer. */
const MOST_CONTENT = 2000
const MOST_NONCE = 25

export function createMessage(api: RestApi, call: RestCall): ApiMessage {
  const state = readWritable(api, call)
  const content = readContent(call)
  if (content === '' && call.files.length === 0) throw emptyMessage()
  const nonce = readNonce(call)
  const replied = readReply(api, state, call)
  const first = nonce !== undefined && call.body.enforce_nonce === true ? givenBack(api, nonce) : undefined
  if (first !== undefined) return first
  const message = build(api, state, { content, replied, call })
  if (state.channel.thread_metadata?.archived === true) api.world.setThread(state.channel, { archived: false })
  if (nonce !== undefined) api.nonces.remember(nonce, message)
  api.world.post(state, message, nonce)
  return nonce === undefined ? message : { ...message, nonce }
}

export function editMessage(api: RestApi, call: RestCall): ApiMessage {
  const state = readWritable(api, call)
  const stored = readMessage(state, call)
  if (stored.message.author.id !== api.world.bot.id) throw foreignMessage()
  if (state.channel.thread_metadata?.archived === true) throw archivedThread()
  const content = readContent(call)
  if (content === '' && stored.message.attachments.length === 0) throw emptyMessage()
  const components = call.body.components === undefined ? {} : { components: readComponents(call) }
  return api.world.rewrite(state, stored, { content, ...components })
}

export function deleteMessage(api: RestApi, call: RestCall): undefined {
  const state = readChannel(api, call)
  const stored = readMessage(state, call)
  if (stored.message.author.id !== api.world.bot.id) throw missingPermissions()
  api.world.erase(state, stored)
}

/** Returns one message, with links to its files that hold anew. */
export function getMessage(api: RestApi, call: RestCall): ApiMessage {
  const { message } = readMessage(readChannel(api, call), call)
  const { message_snapshots: forwarded } = message
  const fresh = (files: readonly ApiAttachment[]) => files.map((file) => api.world.refreshed(file))
  return {
    ...message,
    attachments: fresh(message.attachments),
    ...(forwarded && {
      message_snapshots: forwarded.map(({ message: inner }) => ({
        message: { ...inner, attachments: fresh(inner.attachments) },
      })),
    }),
  }
}

/** Returns messages newest first, as the platform does also with `after`: then the oldest of those that follow it. */
export function getMessages(api: RestApi, call: RestCall): ApiMessage[] {
  const state = readChannel(api, call)
  const limit = Number(call.query.get('limit') ?? 50)
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) {
    throw invalidField('limit', 'NUMBER_TYPE_MAX', 'int value should be less than or equal to 100.')
  }
  const [after, before] = [call.query.get('after'), call.query.get('before')]
  const shown = api.world.accessTo(state) === 'no_history' ? [] : [...state.messages.values()]
  const all = shown.filter(({ deleted }) => !deleted).map(({ message }) => message)
  if (after !== null)
    return all
      .filter(({ id }) => BigInt(id) > BigInt(after))
      .slice(0, limit)
      .reverse()
  const earlier = before === null ? all : all.filter(({ id }) => BigInt(id) < BigInt(before))
  return earlier.slice(-limit).reverse()
}

export function showTyping(api: RestApi, call: RestCall): undefined {
  readWritable(api, call)
}

function build(
  api: RestApi,
  state: ChannelState,
  { content, replied, call }: { content: string; replied: ApiMessage | undefined; call: RestCall },
): ApiMessage {
  const allowed = readAllowed(call)
  return {
    ...buildMessage(api.world, {
      state,
      author: api.world.bot,
      content,
      ...(!allowed.users && { mentions: [] }),
      ...(replied !== undefined && { replied, pingReplied: allowed.repliedUser }),
      attachments: call.files.map((file) => attachment(api, file)),
    }),
    mention_everyone: allowed.everyone && /@(everyone|here)\b/.test(content),
    ...(typeof call.body.flags === 'number' && { flags: call.body.flags }),
    components: readComponents(call),
  }
}

/** The platform trims the text. */
export function readContent({ body }: RestCall): string {
  const { content } = body
  if (content === undefined || content === null) return ''
  if (typeof content !== 'string') throw invalidField('content', 'BASE_TYPE_STRING', 'Must be a string.')
  const shown = content.trim()
  if (shown.length > MOST_CONTENT) {
    throw invalidField('content', 'BASE_TYPE_MAX_LENGTH', `Must be ${MOST_CONTENT} or fewer in length.`)
  }
  return shown
}

function readNonce({ body: { nonce } }: RestCall): string | undefined {
  if (nonce === undefined || nonce === null) return undefined
  const text = String(nonce)
  if (text.length > MOST_NONCE) {
    throw invalidField('nonce', 'BASE_TYPE_MAX_LENGTH', `Must be ${MOST_NONCE} or fewer in length.`)
  }
  return text
}

function givenBack({ nonces, world, ledger }: RestApi, nonce: string): ApiMessage | undefined {
  const used = nonces.find(nonce)
  const stored = used && world.channels.get(used.channelId)?.messages.get(used.messageId)
  if (used === undefined || stored === undefined || stored.deleted) return undefined
  ledger.append({ kind: 'repeated', at: world.now(), nonce, messageId: used.messageId })
  return { ...stored.message, nonce }
}

/** The kinds of messages that people write: all others are notices of the platform, which nobody can answer. */
const WRITTEN: ReadonlySet<number> = new Set([0, 19, 20, 21, 23])

function readReply({ world }: RestApi, state: ChannelState, { body }: RestCall): ApiMessage | undefined {
  const reference = body.message_reference
  if (!isRecord(reference)) return undefined
  if (world.accessTo(state) === 'no_history') throw noHistory()
  const stored = state.messages.get(String(reference.message_id))
  if (stored !== undefined && !stored.deleted && !WRITTEN.has(stored.message.type))
    throw invalidField(
      'message_reference',
      'REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE',
      'Cannot reply to a system message',
    )
  if (stored !== undefined && !stored.deleted) return stored.message
  if (reference.fail_if_not_exists === false) return undefined
  throw invalidField('message_reference', 'MESSAGE_REFERENCE_UNKNOWN_MESSAGE', 'Unknown message')
}

/** Without `allowed_mentions` everything in the text pings. */
function readAllowed({ body }: RestCall): { users: boolean; everyone: boolean; repliedUser: boolean } {
  const allowed = body.allowed_mentions
  if (!isRecord(allowed)) return { users: true, everyone: true, repliedUser: true }
  const parse = Array.isArray(allowed.parse) ? allowed.parse : []
  return {
    users: parse.includes('users'),
    everyone: parse.includes('everyone'),
    repliedUser: allowed.replied_user === true,
  }
}

/** The platform leaves few characters in a name. */
function attachment({ world }: RestApi, { name, size, type }: UploadedFile): ApiAttachment {
  const id = world.ids.next()
  const filename = name.replaceAll(' ', '_').replace(/[^\p{L}\p{N}._-]/gu, '')
  const url = `https://cdn.invalid/attachments/${id}/${filename}`
  return { id, filename, size, content_type: type, url, proxy_url: url }
}
