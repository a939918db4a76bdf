import type { MediaPart } from '../../core/content.ts'
import { mediaOf } from '../../core/content.ts'
import type { MediaId } from '../../core/ids.ts'
import type { MediaStore } from '../../core/media.ts'
import type { ModelMessage } from '../../core/model.ts'

/** Limits of a provider for one request. */
export interface ImageLimits {
  /** The most images; the newest are shown. */
  readonly most: number
  /** The most bytes of one. */
  readonly bytes: number
}

/** The content of the images that the model is shown, in base64. All other files are named in words. */
export type Images = ReadonlyMap<MediaId, string>

export const NO_IMAGES: Images = new Map()

/** Reads the images of a request. One that is too large, or that cannot be read any more, is left out. */
export async function loadImages(
  messages: readonly ModelMessage[],
  media: Pick<MediaStore, 'read'>,
  { most, bytes }: ImageLimits,
): Promise<Images> {
  const fitting = filesIn(messages).filter(({ type, size }) => type === 'image' && size <= bytes)
  if (fitting.length === 0) return NO_IMAGES
  const ids = new Set(fitting.slice(-most).map((part) => part.media))
  const read = [...ids].map(async (id): Promise<[MediaId, string][]> => {
    const content = await media.read(id).catch(() => undefined)
    return content === undefined ? [] : [[id, Buffer.from(content).toString('base64')]]
  })
  return new Map((await Promise.all(read)).flat())
}

function filesIn(messages: readonly ModelMessage[]): readonly MediaPart[] {
  return messages.flatMap((message) => {
    if (message.role === 'user') return mediaOf(message.content)
    return message.role === 'tool' ? message.results.flatMap(({ content }) => mediaOf(content)) : []
  })
}
