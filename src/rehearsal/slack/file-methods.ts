import { UploadedFile } from '../uploads.ts'
import { readThread } from './chat-methods.ts'
import { readWritableChannel } from './conversations.ts'
import { fileInfo } from './files.ts'
import { countParam, isRecord, type Params, structureParam, textParam } from './params.ts'
import { SlackApiError } from './slack-error.ts'
import type { WebApi } from './web-api.ts'
import type { SlackWorld } from './world.ts'

type Answer = Readonly<Record<string, unknown>>

const MOST_BYTES = 1_000_000_000
const MOST_CAPTION = 40_000

export function getUploadUrl(api: WebApi, params: Params): Answer {
  const name = textParam(params, 'filename')
  if (name === undefined) throw new SlackApiError('invalid_arguments')
  const length = countParam(params, 'length', { least: 1, most: MOST_BYTES, usual: 0 })
  if (length === 0) throw new SlackApiError('invalid_arguments')
  const file = api.world.addFile({ name, length })
  return { upload_url: `${api.world.filesUrl}/upload/v1/${file.ticket}`, file_id: file.id }
}

/** Takes the content of a file at its place; returns the status of the answer. */
export function takeUpload(world: SlackWorld, ticket: string, content: { type: string; bytes: Buffer }): number {
  const file = [...world.uploads.values()].find((one) => one.ticket === ticket)
  if (file === undefined || file.content !== undefined) return 404
  if (content.bytes.length !== file.length) return 400
  file.content = new UploadedFile(file.name, content.type, content.bytes)
  return 200
}

export function completeUpload(api: WebApi, params: Params): Answer {
  const given = structureParam(params, 'files', 'invalid_arguments')
  if (!Array.isArray(given) || given.length === 0) throw new SlackApiError('invalid_arguments')
  const files = given.map((one) => (isRecord(one) ? api.world.uploads.get(String(one.id)) : undefined))
  const [file, ...others] = files
  if (others.length > 0) throw new SlackApiError('invalid_arguments')
  if (file?.content === undefined || file.shared !== undefined) throw new SlackApiError('file_not_found')
  const channel = readWritableChannel(api, { ...params, channel: params.channel_id })
  const thread = readThread(channel, params)
  const text = textParam(params, 'initial_comment') ?? ''
  if (text.length > MOST_CAPTION) throw new SlackApiError('msg_too_long')
  const shown = { id: file.id, name: file.name, title: file.name, size: file.content.size, user: api.app.bot.id }
  const message = api.world.post(channel, { text, files: [shown], ...(thread !== undefined && { thread }) })
  file.shared = { channel: channel.id, ts: message.ts }
  return { files: [{ id: file.id, title: file.name }] }
}

/** Describes a file of the bot; undefined for one that it has not sent. */
function uploadInfo({ world }: WebApi, params: Params): Answer | undefined {
  const file = world.uploads.get(textParam(params, 'file') ?? '')
  if (file === undefined) return undefined
  const { id, name, length: size, shared } = file
  const shares = shared ? { public: { [shared.channel]: [{ ts: shared.ts }] } } : {}
  return { file: { id, name, title: name, size, shares } }
}

export function anyFileInfo(api: WebApi, params: Params): Answer {
  return uploadInfo(api, params) ?? fileInfo(api, params)
}
