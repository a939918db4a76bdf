import type { TextFormat } from '../channels/adapter.ts'
import type { OutboundMessage, RenderedPart } from '../core/outbound.ts'
import { stripSilence } from '../core/silence.ts'

/** The one gate's decision about a text. */
export type ReplyPlan =
  /** A marker and nothing else (S28). */
  | { readonly kind: 'silent' }
  /** Nothing to say without a marker: a failure upstream, not silence (DESIGN decision 7). */
  | { readonly kind: 'empty' }
  /** Send policy, obeyed at the exit too (T31). */
  | { readonly kind: 'denied'; readonly because: string }
  | { readonly kind: 'parts'; readonly parts: readonly RenderedPart[] }

/** Who would speak, and where: what send policy decides by. */
export type Speaker = Pick<OutboundMessage, 'address' | 'session'>

/** What send policy says, with the rule that decided. */
export interface SendVerdict {
  readonly allowed: boolean
  readonly because: string
}

/**
 * Pure: strips the silence markers (S28-S30), asks send policy, from which only answers to control commands are exempt
 * (BEHAVIOUR 2 row 39), and splits what is left into parts the platform takes.
 */
export function planReply(message: OutboundMessage, format: TextFormat, verdict: SendVerdict): ReplyPlan {
  const { text, silent } = stripSilence(message.text)
  if (silent) return { kind: 'silent' }
  const line = text.trim() === '' ? [] : format.split(text)
  const parts = message.below?.shown === undefined ? line : joined(format, message.below.shown, line)
  if (parts.length === 0) return text === message.text ? { kind: 'empty' } : { kind: 'silent' }
  if (!verdict.allowed && message.class !== 'control') return { kind: 'denied', because: verdict.because }
  return { kind: 'parts', parts }
}

/**
 * Puts a line below a text, in the last message of the text if both fit there. The two are rendered apart: what broke off
 * in the middle of a code block must not draw the line into it.
 */
function joined(format: TextFormat, text: string, line: readonly RenderedPart[]): readonly RenderedPart[] {
  const parts = format.split(stripSilence(text).text)
  const last = parts.at(-1)
  const [first, ...rest] = line
  if (!last || !first || last.plain.length + GAP.length + first.plain.length > format.limit) return [...parts, ...line]
  const both = { text: last.text + GAP + first.text, plain: last.plain + GAP + first.plain, markup: last.markup }
  return [...parts.slice(0, -1), both, ...rest]
}

const GAP = '\n\n'
