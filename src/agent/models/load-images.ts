import type { MediaPart } from '../../core/content.ts'
import { mediaOf } from '../../core/content.ts'
import type { MediaId } from '../../core/ids.ts'
import type { MediaStore } from '../../core/media.ts'
import type { ModelMessage } from '../../core/model.ts'
import { contentsOf } from './without-images.ts'

/**
 * The most pictures of a request: in one with more Claude takes none above 2,000 pixels a side, behind whatever
 * protocol it stands.
 */
const MOST = 20
/** So many older ones are left out at a time: a new picture leaves the prompt before it the same, which is cached. */
const BLOCK = 10

/** The content of the images that the model is shown, in base64. All other files are named in words. */
export type Images = ReadonlyMap<MediaId, string>

export const NO_IMAGES: Images = new Map()

/**
 * Reads the newest images of a request. One that is larger than `longest` bytes, or that cannot be read any more, is
 * left out.
 */
export async function loadImages(
  messages: readonly ModelMessage[],
  media: Pick<MediaStore, 'read'>,
  longest: number,
): Promise<Images> {
  const fitting = messages.flatMap((message) => contentsOf(message).flatMap(mediaOf)).filter(isShown(longest))
  if (fitting.length === 0) return NO_IMAGES
  const read = newest(fitting.map((part) => part.media)).map(async (id): Promise<[MediaId, string][]> => {
    const content = await media.read(id).catch(() => undefined)
    return content === undefined ? [] : [[id, Buffer.from(content).toString('base64')]]
  })
  return new Map((await Promise.all(read)).flat())
}

function isShown(longest: number): (part: MediaPart) => boolean {
  return ({ type, size }) => type === 'image' && size <= longest
}

/**
 * Returns the pictures that are shown, the newest in any case. One that stands in several places is shown in each, and
 * is as new as its last.
 */
function newest(places: readonly MediaId[]): readonly MediaId[] {
  const times = new Map<MediaId, number>()
  for (const id of places) {
    const before = times.get(id) ?? 0
    times.delete(id)
    times.set(id, before + 1)
  }
  const left = Math.max(0, Math.ceil((places.length - MOST) / BLOCK) * BLOCK)
  let passed = 0
  return [...times].flatMap(([id, count], index) => {
    const isOld = passed < left && index < times.size - 1
    passed += count
    return isOld ? [] : [id]
  })
}
