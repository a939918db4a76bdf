import type { Content, ContentPart, MediaPart } from '../core/content.ts'
import { mediaOf, textContent } from '../core/content.ts'
import { withWholeCharacters } from '../core/cut-text.ts'
import { ParleyError } from '../core/errors.ts'
import type { EventDraft } from '../core/event.ts'
import { isMediaId, type MediaId } from '../core/ids.ts'

/** An event's data as its row has it. */
type StoredData = Readonly<Record<string, unknown>> | EventDraft['data']

/**
 * Returns the data of an event as it is stored. A content that is one text is stored as that text, as it was before
 * content had parts. Throws `invalid` for a file that is no handle: inline bytes and URLs are refused (C25).
 */
export function toStored(draft: EventDraft): StoredData {
  if (draft.type !== 'tool_result') {
    for (const part of attached(draft)) checkMedia(part)
    return draft.data
  }
  const { data } = draft
  const content = data.content.map(checkPart)
  const [first] = content
  if (content.length === 0) return { ...data, content: '' }
  return content.length === 1 && first?.type === 'text' ? { ...data, content: first.text } : { ...data, content }
}

/** The beginning of the data of an event that was emptied. */
export const FORGOTTEN_MARK = '{"forgotten":true'

/** Returns the text of an event's row. */
export function storedText(draft: EventDraft & { readonly forgotten?: true }): string {
  const text = withWholeCharacters(JSON.stringify(toStored(draft)))
  if (!draft.forgotten) return text
  return text === '{}' ? `${FORGOTTEN_MARK}}` : `${FORGOTTEN_MARK},${text.slice(1)}`
}

/** Returns the data of an event as `toStored` took it. Throws for a content that is none (C25, C31). */
export function fromStored(type: EventDraft['type'], data: object): object {
  if (type !== 'tool_result') return data
  return { ...data, content: contentOf((data as { readonly content?: unknown }).content) }
}

/** Returns the files that events name, each as often as they do. */
export function mediaIn(drafts: readonly EventDraft[]): readonly MediaId[] {
  const named = drafts.flatMap((draft) =>
    draft.type === 'tool_result' ? mediaOf(draft.data.content) : attached(draft),
  )
  return named.length === 0 ? NONE : named.map(({ media }) => media)
}

const NONE: readonly never[] = []

function attached(draft: EventDraft): readonly MediaPart[] {
  if (draft.type === 'files_read') return draft.data.files.flatMap(({ media }) => media ?? NONE)
  if (draft.type !== 'user_message' && draft.type !== 'message_edited') return NONE
  return (draft.data.attachments ?? NONE).flatMap(({ media }) => media ?? NONE)
}

function contentOf(value: unknown): Content {
  if (typeof value === 'string') return textContent(value)
  if (!Array.isArray(value)) throw refused('content is neither a text nor a list of parts')
  return value.map((part: unknown) => checkPart(part))
}

function checkPart(part: unknown): ContentPart {
  if (typeof part !== 'object' || part === null) throw refused('a part is no object')
  const { type, text } = part as { readonly type?: unknown; readonly text?: unknown }
  if (type === 'text' && typeof text === 'string') return { type, text }
  if (type !== 'image' && type !== 'file') throw refused(`a part has the unknown type ${String(type)}`)
  return checkMedia(part as MediaPart)
}

function checkMedia(part: MediaPart): MediaPart {
  const { type, media, mime, size, name } = part
  if (!isMediaId(media)) throw refused('a file is stored by its handle alone')
  if (typeof mime !== 'string' || !Number.isSafeInteger(size) || size < 0) throw refused('a file has a type and a size')
  const extra = Object.keys(part).find((field) => !MEDIA_FIELDS.has(field))
  if (extra !== undefined) throw refused(`a file has no ${extra}`)
  return name === undefined ? { type, media, mime, size } : { type, media, mime, size, name }
}

const MEDIA_FIELDS: ReadonlySet<string> = new Set(['type', 'media', 'mime', 'size', 'name'])

function refused(reason: string): ParleyError {
  return new ParleyError('invalid', `Content that cannot be stored: ${reason}.`)
}
