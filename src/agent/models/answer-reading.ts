import type { ToolSpec } from '../../core/model.ts'
import { ASSUMED, type Mark } from './answer-marks.ts'
import { BEGINNING, type Place, placeAfter } from './mark-place.ts'
import type { TextCall } from './text-calls.ts'

/** An event of the model port that follows from a part of the text. */
export type Said = { readonly type: 'text'; readonly delta: string } | { readonly type: 'retract' }

/** The end of an answer. */
export interface Ending {
  /** It ended at its limit of tokens. */
  readonly cut: boolean
  /** Its thoughts came apart from its text. */
  readonly apart: boolean
}

/** A thought that has not ended. */
export interface Thought {
  readonly mark: Extract<Mark, { readonly kind: 'open' }>
  /** The mark in the spelling of the model. */
  readonly written: string
  readonly atStart: boolean
  text: string
  place: Place
  /** The offset in its text behind the last closing mark that read like words. */
  doubtful: number | undefined
}

/** An answer as far as its text was read. */
export interface AnswerReading {
  readonly tools: readonly ToolSpec[]
  /** The text that is not decided yet. */
  left: string
  /** To be yielded. */
  out: string
  readonly events: Said[]
  /** Some of the text was yielded. */
  shown: boolean
  /** White space at the start, until it is known if a thought follows. */
  lead: string
  place: Place
  /** Nothing was said since the start or the last thought. */
  fresh: boolean
  /** The answer is a thought until its closing mark comes. */
  assumes: boolean
  open: Thought | undefined
  /** Calls, or a whole answer that may be one, which are read at the end. */
  calls: { readonly kind: 'marked' | 'whole'; text: string } | undefined
  found: readonly TextCall[]
  /** Closing marks whose opening ones were kept as words. */
  readonly kept: Set<string>
  /** A message of gpt-oss has begun. */
  headed: boolean
  ending: Ending | undefined
  /** Opening marks of which it is known that none is closed any more. */
  readonly unclosed: Set<string>
  /** The end of the answer was read as calls of this kind. */
  readonly read: Set<'marked' | 'whole'>
  /** The flags of `AnswerReader`. */
  thought: boolean
  unopened: boolean
  spoken: boolean
}

/** Returns an answer of which nothing has come. */
export function startReading(tools: readonly ToolSpec[], assumes: boolean): AnswerReading {
  return {
    ...{ tools, assumes, left: '', out: '', events: [], shown: false, lead: '', place: BEGINNING, fresh: true },
    ...{ open: undefined, calls: undefined, found: [], kept: new Set(), headed: false, ending: undefined },
    ...{ unclosed: new Set(), read: new Set(), thought: false, unopened: false, spoken: false },
  }
}

/** Says words of the answer. */
export function speak(reading: AnswerReading, text: string): void {
  if (text === '') return
  sayLead(reading)
  reading.out += text
  reading.place = placeAfter(reading.place, text)
  if (text.trim() === '') return
  reading.fresh = false
  reading.spoken = true
}

/** Says the white space that the answer begins with. */
export function sayLead(reading: AnswerReading): void {
  reading.out += reading.lead
  reading.place = placeAfter(reading.place, reading.lead)
  reading.lead = ''
}

/** Says a mark as the words that it is. */
export function keep(reading: AnswerReading, length: number): boolean {
  const { left } = reading
  reading.left = left.slice(length)
  speak(reading, left.slice(0, length))
  return true
}

/** Leaves a mark out. */
export function drop(reading: AnswerReading, length: number): boolean {
  reading.left = reading.left.slice(length)
  return true
}

/** Begins a thought behind its mark, which what is left begins with. */
export function openThought(reading: AnswerReading, mark: Thought['mark'], length: number): boolean {
  const { left, fresh } = reading
  // White space in front of the first thought goes with it; that of an answer which only may be one stays.
  if (fresh && mark !== ASSUMED) reading.lead = ''
  reading.left = left.slice(length)
  const written = left.slice(0, length)
  reading.open = { mark, written, atStart: fresh, text: '', place: BEGINNING, doubtful: undefined }
  return true
}

/** Takes back what was said: it was a thought whose beginning was not marked. */
export function retract(reading: AnswerReading): void {
  reading.out = ''
  reading.lead = ''
  reading.place = BEGINNING
  if (reading.shown) reading.events.push({ type: 'retract' })
  reading.shown = false
  reading.unopened = true
  reading.spoken = false
  endThought(reading)
}

/** Ends a thought: the rest of the answer begins anew. */
export function endThought(reading: AnswerReading): void {
  reading.open = undefined
  reading.thought = true
  reading.fresh = true
  reading.assumes = false
}
