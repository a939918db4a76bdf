import type { MediaId } from './ids.ts'

/** Content is a list of parts, in the order in which they are read: of a message to the model, of a tool's result. */
export type Content = readonly ContentPart[]

export type ContentPart = TextPart | MediaPart

export interface TextPart {
  readonly type: 'text'
  readonly text: string
}

/** A file of the media store. Nothing but the handle and what describes it is ever stored in a row (C25). */
export interface MediaPart {
  /** `image`: one that models can be shown. `file`: anything else. */
  readonly type: 'image' | 'file'
  readonly media: MediaId
  /** The type by its content; a name or a sender is not believed. */
  readonly mime: string
  /** Bytes. */
  readonly size: number
  /** The name under which it came: text for people, never a path. */
  readonly name?: string
}

const NOTHING: Content = []

/** Returns a text as content; an empty one has no parts. */
export function textContent(text: string): Content {
  return text === '' ? NOTHING : [{ type: 'text', text }]
}

/** Returns the texts of a content, one after the other. */
export function textOf(content: Content): string {
  const [first] = content
  if (content.length === 1 && first?.type === 'text') return first.text
  return content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n')
}

/** Returns the files of a content, in order. */
export function mediaOf(content: Content): readonly MediaPart[] {
  return content.filter((part) => part.type !== 'text')
}
