import { fallbackDescription } from '../core/session.ts'
import { stripSilence } from '../core/silence.ts'
import type { EventToAppend } from './event-port.ts'

/** Characters of the preview. */
const PREVIEW = 200

/** The changes that appended events make in their session's row (S13, S14). */
export interface EventEffect {
  readonly messages: number
  readonly turns: number
  /** Null: no message with a text among them. */
  readonly preview: string | null
  /**
   * The description from the first user message with a text; the row keeps the one it has. Empty: none was found.
   */
  readonly description: string
}

export function effectOf(drafts: readonly EventToAppend[]): EventEffect {
  let messages = 0
  let turns = 0
  let lastText = ''
  let description = ''
  for (const draft of drafts) {
    if (draft.type === 'user_message') {
      messages++
      lastText = draft.data.text || lastText
      description ||= storable(fallbackDescription(draft.data.text))
    } else if (draft.type === 'assistant_message' || draft.type === 'assistant_posted') {
      messages++
      lastText = stripSilence(draft.data.text).text || lastText
    } else if (draft.type === 'turn_completed' || draft.type === 'turn_cancelled') {
      turns++
    }
  }
  return { messages, turns, preview: cut(lastText), description }
}

/**
 * Returns the parts of a user's text that a session shows: the preview while it is the last, the description if it was
 * the first.
 */
export function shownOf(text: string): { readonly preview: string; readonly description: string } {
  return { preview: cut(text) ?? '', description: storable(fallbackDescription(text)) }
}

function cut(text: string): string | null {
  return storable(text.slice(0, PREVIEW)) || null
}

/** Without what a text column does not give back: NUL, and half a surrogate pair at the cut. */
function storable(text: string): string {
  return text.replaceAll('\0', '').replace(/[\uD800-\uDBFF]$/, '')
}
