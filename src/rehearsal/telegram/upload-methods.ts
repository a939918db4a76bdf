import { pictureTypeOf } from '../pictures.ts'
import { isOgg } from '../recordings.ts'
import { UploadedFile } from '../uploads.ts'
import { badRequest } from './api-error.ts'
import type { ApiFile, ApiMessage } from './api-types.ts'
import type { BotApi } from './bot-api.ts'
import { buildMessage } from './build-message.ts'
import { uploadedFile } from './files.ts'
import { readText } from './formatted-text.ts'
import { throttle } from './message-methods.ts'
import type { Params } from './params.ts'
import { textParam } from './params.ts'
import { readReply, readTopic, readWritableChat, threadOfReply } from './targets.ts'

const MOST_CAPTION = 1024
const MOST_PICTURE = 10_000_000
/** Width and height together. */
const MOST_SIDES = 10_000
const SHOWN = new Set(['image/jpeg', 'image/png', 'image/webp'])

export function sendDocument(api: BotApi, params: Params): ApiMessage {
  const file = readFile(params, 'document')
  return post(api, params, file, { document: apiFile(api, file) })
}

export function sendPhoto(api: BotApi, params: Params): ApiMessage {
  const file = readFile(params, 'photo')
  if (file.size > MOST_PICTURE) throw badRequest('file is too big')
  if (!SHOWN.has(pictureTypeOf(file.bytes) ?? '')) throw badRequest('IMAGE_PROCESS_FAILED')
  const { width, height } = sidesOf(file.bytes)
  if (width + height > MOST_SIDES) throw badRequest('PHOTO_INVALID_DIMENSIONS')
  const { file_name: _, mime_type: __, ...photo } = apiFile(api, file)
  return post(api, params, file, { photo: [{ ...photo, width, height }] })
}

/** Stricter than the platform, which sends any other sound as a file. */
export function sendVoice(api: BotApi, params: Params): ApiMessage {
  const file = readFile(params, 'voice')
  if (!isOgg(file.bytes)) throw badRequest('wrong file type: voice messages are Ogg files with Opus')
  const { file_name: _, ...voice } = apiFile(api, file)
  return post(api, params, file, { voice: { ...voice, mime_type: 'audio/ogg', duration: 1 } })
}

function post(api: BotApi, params: Params, file: UploadedFile, content: Partial<ApiMessage>): ApiMessage {
  const state = readWritableChat(api.world, api.bot, params)
  const caption = textParam(params, 'caption')
  const rules = { ...api.textRules, tooLong: 'message caption is too long', most: MOST_CAPTION }
  const said = caption ? readText({ ...params, text: caption, entities: params.caption_entities }, rules) : undefined
  const replyTo = readReply({ state, bot: api.bot }, params)
  const topic = threadOfReply(readTopic(state, api.bot, params), replyTo)
  throttle(api, state)
  const message = buildMessage({
    state,
    at: api.world.now(),
    ...(state.chat.type === 'channel' ? { senderChat: state.chat } : { from: api.bot.user }),
    ...(topic !== undefined && { topic }),
    ...(replyTo !== undefined && { replyTo }),
  })
  Object.assign(message, content)
  if (said !== undefined) message.caption = said.text
  if (said !== undefined && said.entities.length > 0) message.caption_entities = said.entities
  state.messages.add(message, api.bot.user.id, file)
  api.world.discuss(state, message)
  return message
}

/** Files by address or by an id of the platform are not rehearsed. */
function readFile(params: Params, name: string): UploadedFile {
  const file = params[name]
  if (!(file instanceof UploadedFile)) throw badRequest(`there is no ${name} in the request`)
  if (file.size === 0) throw badRequest('file must be non-empty')
  if (file.name === '') throw badRequest('wrong file name')
  return file
}

function apiFile({ world }: BotApi, { name, bytes }: UploadedFile): ApiFile {
  const mime_type = pictureTypeOf(bytes) ?? 'application/octet-stream'
  return { ...uploadedFile(world, { bytes }), file_name: name, mime_type }
}

/** Returns the sides of a PNG; other pictures count as small. */
function sidesOf(bytes: Buffer): { width: number; height: number } {
  if (pictureTypeOf(bytes) !== 'image/png' || bytes.length < 24) return { width: 1, height: 1 }
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}
