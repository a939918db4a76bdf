import { mediaOf } from '../../core/content.ts'
import type { MediaId } from '../../core/ids.ts'
import type { ModelMessage } from '../../core/model.ts'
import { contentsOf, withoutImages } from './without-images.ts'

/**
 * The record of how models took pictures since the start. One that a model cannot read makes it refuse every request of
 * the conversation: it is left out of later ones, and hides none that the model has taken before.
 */
export interface PictureRecord {
  /** Returns the messages without the pictures that this model has refused. */
  shownTo(model: string, messages: readonly ModelMessage[]): readonly ModelMessage[]
  /** Returns the pictures of a request that are new to the model. */
  fresh(model: string, messages: readonly ModelMessage[]): ReadonlySet<MediaId>
  /** Returns the pictures of a refused request that may be the reason: those that are new to the model, else all. */
  suspects(model: string, messages: readonly ModelMessage[]): ReadonlySet<MediaId>
  /** Called with a request that the model has taken, and with the pictures without which it was asked again. */
  took(model: string, messages: readonly ModelMessage[], without: ReadonlySet<MediaId>): void
}

/** Pictures of each kind that are known; those that came first are forgotten. */
const MOST = 2_000

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
  if (keys.size > MOST && oldest !== undefined) keys.delete(oldest)
}
