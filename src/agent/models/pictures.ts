import { type Content, type MediaPart, mediaOf } from '../../core/content.ts'
import { nameOf } from '../../core/content-words.ts'
import type { MediaId } from '../../core/ids.ts'
import type { MediaStore } from '../../core/media.ts'
import type { ModelMessage } from '../../core/model.ts'

/**
 * The most pictures of a request: in one with more Claude takes none above 2,000 pixels a side, behind whatever
 * protocol it stands.
 */
const MOST = 20
/** So many older ones are left out at a time: a new picture leaves the prompt before it the same, which is cached. */
const BLOCK = 10

/** The content of the images that the model is shown, in base64. All other files are named in words. */
export type Images = ReadonlyMap<MediaId, string>

const NO_IMAGES: Images = new Map()

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

/**
 * The record of how models took pictures since the start. One that a model cannot read makes it refuse every request of
 * the conversation: it is left out of later ones, and hides none that the model has taken before.
 */
export interface PictureRecord {
  /** Returns the messages without the pictures that this model has refused. */
  shownTo(model: string, messages: readonly ModelMessage[]): readonly ModelMessage[]
  /** Returns the pictures of a request that are new to the model. */
  fresh(model: string, messages: readonly ModelMessage[]): ReadonlySet<MediaId>
  /** Returns the pictures that may be why a request was refused: the pictures new to the model, else all. */
  suspects(model: string, messages: readonly ModelMessage[]): ReadonlySet<MediaId>
  /** Called with a request that the model has taken, and with the pictures without which it was asked again. */
  took(model: string, messages: readonly ModelMessage[], without: ReadonlySet<MediaId>): void
}

/** The number of pictures of each kind that are remembered; the oldest are forgotten. */
const MOST_KNOWN = 2_000

export function createPictureRecord(): PictureRecord {
  const [taken, refused] = [new Set<string>(), new Set<string>()]
  const keyOf = (model: string, media: MediaId): string => `${model} ${media}`
  const fresh = (model: string, messages: readonly ModelMessage[]): ReadonlySet<MediaId> =>
    new Set(imagesIn(messages).filter((media) => !taken.has(keyOf(model, media))))
  return {
    shownTo(model, messages) {
      return refused.size === 0 ? messages : withoutImages(messages, (media) => refused.has(keyOf(model, media)))
    },
    fresh,
    suspects(model, messages) {
      const found = fresh(model, messages)
      return found.size === 0 ? new Set(imagesIn(messages)) : found
    },
    took(model, messages, without) {
      for (const media of imagesIn(messages)) add(taken, keyOf(model, media))
      for (const media of without) add(refused, keyOf(model, media))
    },
  }
}

/** Returns the pictures that a model is shown or named, in order. */
export function imagesIn(messages: readonly ModelMessage[]): readonly MediaId[] {
  const parts = messages.flatMap((message) => contentsOf(message).flatMap(mediaOf))
  return parts.filter(({ type }) => type === 'image').map(({ media }) => media)
}

function add(keys: Set<string>, key: string): void {
  keys.delete(key)
  keys.add(key)
  const [oldest] = keys
  if (keys.size > MOST_KNOWN && oldest !== undefined) keys.delete(oldest)
}

/**
 * Returns the messages with a line in the place of each of these pictures, from which the model knows that it is not
 * shown it.
 */
export function withoutImages(
  messages: readonly ModelMessage[],
  isLeftOut: (media: MediaId) => boolean,
): readonly ModelMessage[] {
  const inLines = (content: Content): Content =>
    content.map((part) =>
      part.type === 'image' && isLeftOut(part.media) ? { type: 'text', text: unshown(part) } : part,
    )
  return messages.map((message): ModelMessage => {
    if (message.role === 'user') return { role: 'user', content: inLines(message.content) }
    if (message.role === 'assistant') return message
    return { role: 'tool', results: message.results.map((one) => ({ ...one, content: inLines(one.content) })) }
  })
}

/** Returns what a message says: its content, or those of its results. */
function contentsOf(message: ModelMessage): readonly Content[] {
  if (message.role === 'user') return [message.content]
  return message.role === 'tool' ? message.results.map(({ content }) => content) : []
}

/** Returns the line in the place of a picture, from which the model knows that it is not shown it. */
export function unshown(part: MediaPart): string {
  return `${nameOf(part)} (you cannot be shown this picture)`
}
