import type { AttachmentRef, FileKind } from '../../../src/core/message.ts'
import { type Fields, fieldsOf, isFields, listOf, optionalText, present, sizeOf, textOf } from '../../shared/fields.ts'
import { kindOfType } from '../../shared/file-kind.ts'
import { idOf } from '../address.ts'

const IS_VOICE_MESSAGE = 1 << 13

/**
 * The files of a message, by the ids of channel, message and file: links expire, and no link of a message is ever
 * followed. `holder` is the message itself, or one that it forwards.
 */
export function readAttachments(message: Fields, holder: Fields): readonly AttachmentRef[] {
  const isVoice = typeof holder.flags === 'number' && (holder.flags & IS_VOICE_MESSAGE) !== 0
  return listOf(holder.attachments).map((value) => {
    const file = fieldsOf(value)
    const { size, duration_secs: seconds } = file
    const mime = optionalText(file.content_type)
    const kind: FileKind | undefined = isVoice ? 'voice' : kindOfType(mime)
    return {
      ref: `${idOf(message.channel_id)}/${idOf(message.id)}/${idOf(file.id)}`,
      fileName: textOf(file.filename),
      ...present('kind', kind),
      ...present('mime', mime),
      ...present('size', sizeOf(size)),
      ...present('about', typeof seconds === 'number' && seconds >= 0 ? `${Math.round(seconds)} s` : undefined),
    }
  })
}

/** Answers of a poll that are named. */
const MOST_ANSWERS = 10

/** Returns what came with a message and is neither text nor file, in words: its stickers and its poll. */
export function readEnclosed({ sticker_items: stickers, poll }: Fields): readonly string[] {
  const names = Array.isArray(stickers) ? stickers.filter(isFields).map(({ name }) => name) : []
  const lines = names.flatMap((name) => (typeof name === 'string' ? [`sticker: ${name}`] : []))
  return isFields(poll) ? [...lines, pollText(poll)] : lines
}

function pollText({ question, answers }: Fields): string {
  const list = Array.isArray(answers) ? answers.filter(isFields) : []
  const texts = list.slice(0, MOST_ANSWERS).map(({ poll_media: media }) => mediaText(media))
  return `poll: ${[mediaText(question), texts.join(' / ')].filter((part) => part !== '').join(', ')}`
}

function mediaText(media: unknown): string {
  return isFields(media) && typeof media.text === 'string' ? media.text : ''
}
