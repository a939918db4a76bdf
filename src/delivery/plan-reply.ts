import type { TextFormat } from '../channels/adapter.ts'
import { partName } from '../core/content-words.ts'
import type { OutboundFile, OutboundMessage, RenderedPart } from '../core/outbound.ts'
import { stripSilence } from '../core/silence.ts'
import { partsOf } from './cut-answer.ts'

/** The decision about a text that is to be sent. */
export type ReplyPlan =
  /** The text is a marker and nothing else (S28). */
  | { readonly kind: 'silent' }
  /** The text is empty without a marker: a failure upstream, not silence. */
  | { readonly kind: 'empty' }
  /** Send policy denies it, which also holds at the exit (T31). */
  | { readonly kind: 'denied'; readonly because: string }
  /** Its session is not that of its reader any more, in whose chat it would be said. */
  | { readonly kind: 'parted' }
  | { readonly kind: 'parts'; readonly parts: readonly RenderedPart[] }

/** The address and session by which send policy decides, and the reader; a script speaks for the session there. */
export type Speaker = Pick<OutboundMessage, 'address' | 'session' | 'reader'> & Partial<Pick<OutboundMessage, 'source'>>

/** The decision whether it may be said, with the rule that decided. */
export interface SpeakerVerdict {
  readonly allowed: boolean
  readonly because: string
  /** It is refused whatever the policy says, answers to commands too. */
  readonly parted?: true
}

/**
 * Removes the silence markers (S28-S30), asks send policy, from which only answers to control commands are exempt
 * (T27), and splits the rest into parts the platform accepts, `most` at most. Pure.
 */
export function planReply(
  message: OutboundMessage,
  { format, most }: { readonly format: TextFormat; readonly most: number },
  verdict: SpeakerVerdict,
): ReplyPlan {
  const { text, silent } = stripSilence(message.text)
  if (silent && message.file === undefined) return { kind: 'silent' }
  const said = text.trim() === '' ? undefined : text
  const above = message.below?.shown
  const whole =
    above === undefined
      ? { text: said ?? '' }
      : { text: stripSilence(above).text, ...(said === undefined ? {} : { end: said }) }
  const texts = partsOf(format, whole, most)
  const parts = message.file === undefined ? texts : withFile(texts, message.file, format)
  if (parts.length === 0) return text === message.text ? { kind: 'empty' } : { kind: 'silent' }
  if (verdict.parted) return { kind: 'parted' }
  if (!verdict.allowed && message.class !== 'control') return { kind: 'denied', because: verdict.because }
  const complete = withButtons(withQuoting(parts, message, { format, most }), message)
  return { kind: 'parts', parts: message.silent ? complete.map((part) => ({ ...part, silent: true })) : complete }
}

/** A part of which nothing is left keeps its buttons below a mark. */
function withQuoting(
  parts: readonly RenderedPart[],
  { quoting }: OutboundMessage,
  { format, most }: { readonly format: TextFormat; readonly most: number },
): readonly RenderedPart[] {
  if (quoting === undefined) return parts
  const without = partsOf(format, { text: quoting.text }, most)
  return parts.map((part, at) => {
    const { text, plain } = without[at] ?? { text: '…', plain: '…' }
    return { ...part, quoting: { of: quoting.of, text, plain } }
  })
}

function withButtons(parts: readonly RenderedPart[], { buttons }: OutboundMessage): readonly RenderedPart[] {
  return buttons === undefined
    ? parts
    : parts.map((part, at) => (at === parts.length - 1 ? { ...part, buttons } : part))
}

/** A caption that is too long for one is sent below its file; a text that is spoken fits into one message. */
function withFile(
  texts: readonly RenderedPart[],
  file: OutboundFile,
  { limit, captionLimit = limit }: TextFormat,
): readonly RenderedPart[] {
  const [first, ...others] = texts
  if (file.as === 'voice') return first && others.length === 0 ? [{ ...first, file }] : texts
  if (first === undefined || others.length > 0 || first.plain.length > captionLimit)
    return [{ ...NO_CAPTION, file }, ...texts]
  return [{ ...first, file }]
}

const NO_CAPTION: RenderedPart = { text: '', plain: '', markup: 'plain' }

/** Returns the part without its file. */
export function withoutFile({ file: _, ...part }: RenderedPart): RenderedPart {
  return part
}

/** Returns a caption and its file as two parts; what stands in the chat already can become the first of them. */
export function apart(part: RenderedPart): readonly RenderedPart[] {
  const { file } = part
  if (file === undefined) return [part]
  if (file.as === 'voice') return [withoutFile(part)]
  return part.plain === '' ? [part] : [withoutFile(part), { ...NO_CAPTION, file }]
}

const LONGEST_REASON = 200

/**
 * Returns what is sent in the place of a part whose file the platform refused. A text that was to be spoken says it
 * all; a caption says nothing without its file, so that the reason stands below it, without markup.
 */
export function inText(part: RenderedPart, reason: string): RenderedPart {
  const { file } = part
  if (file === undefined || file.as === 'voice') return withoutFile(part)
  const line = `${partName(file)} could not be sent here: ${reason.slice(0, LONGEST_REASON)}`
  const plain = part.plain === '' ? line : `${part.plain}\n\n${line}`
  return { ...withoutFile(part), text: plain, plain, markup: 'plain' }
}
