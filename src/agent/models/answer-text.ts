import type { ToolSpec } from '../../core/model.ts'
import {
  ANALYSIS,
  ASSUMED,
  beginningLength,
  type FoundMark,
  findMark,
  LONGEST_MARK,
  type Mark,
  MESSAGE,
  STRIPPED,
} from './answer-marks.ts'
import { BEGINNING, type MarkStanding, type Place, placeAfter, standingOf } from './mark-place.ts'
import { couldBeCalls, readCalls, readWholeCalls, type TextCall } from './text-calls.ts'

/**
 * Reads the text of one answer as it comes. Thoughts are never said, calls that are written as text are collected, and
 * all else is said unchanged, at once but for an end that may be the beginning of a mark. How the text is cut into
 * deltas changes nothing but where words are taken back.
 *
 * Thoughts:
 * - An opening mark at the start of the answer, or right behind another thought, begins one; so do the tokens of a
 *   model anywhere, and other marks at the start of a line or behind a sentence if their closing mark comes. What
 *   is opened at the start and never closed is a thought to its end; elsewhere these are somebody's words, unless the
 *   answer was cut.
 * - A closing mark without an opening one: all before it was a thought, which is taken back. At the very end of an
 *   answer that has thought elsewhere it is only left out.
 * - With `unopened` the answer is taken for a thought until a closing mark comes; if none does, it is the answer, and a
 *   thought where it was cut and no thoughts came apart.
 * - Marks that stand in the text as somebody's words are none (`mark-place.ts`); a closing mark whose opening one is
 *   kept as words is kept with it. Within a thought a closing mark that reads like words is one after all where the
 *   answer ends without another.
 * - White space behind a thought, and in front of one that begins the answer, is left out.
 *
 * Calls: from the first mark of one, outside of code, the answer waits for its end; words behind calls are said then.
 */
export interface AnswerReader {
  read(delta: string): readonly Said[]
  /** Does a part of the work of `end`, before it is called. Returns false when nothing is left of it. */
  settle(ending: Ending): boolean
  end(ending: Ending): { readonly said: readonly Said[]; readonly calls: readonly TextCall[] }
  /** There were thoughts in the text. */
  readonly thought: boolean
  /** There was a thought whose beginning was not marked. */
  readonly unopened: boolean
  /** Something other than white space was said and not taken back. */
  readonly spoken: boolean
}

/** Starts to read an answer. `unopened`: its model thinks without marking where a thought begins. */
export function createAnswerReader(tools: readonly ToolSpec[], unopened: boolean): AnswerReader {
  const reading = startReading(tools, unopened)
  return {
    read(delta) {
      if (reading.calls === undefined) reading.left += delta
      else reading.calls.text += delta
      return look(reading)
    },
    settle(ending) {
      reading.ending = ending
      for (let steps = 0; steps < STEPS; steps++) if (!step(reading)) return false
      return true
    },
    end(ending) {
      reading.ending = ending
      const said = look(reading)
      return { said, calls: reading.found }
    },
    get thought() {
      return reading.thought
    },
    get unopened() {
      return reading.unopened
    },
    get spoken() {
      return reading.spoken
    },
  }
}

/** Marks that are decided at once at the end of an answer. */
const STEPS = 200

function look(reading: AnswerReading): readonly Said[] {
  while (step(reading));
  if (reading.out !== '') {
    reading.events.push({ type: 'text', delta: reading.out })
    reading.shown = true
    reading.out = ''
  }
  return reading.events.splice(0)
}

/** Decides the next part of what is left. Returns false when more of the answer has to come, or nothing is left. */
function step(reading: AnswerReading): boolean {
  if (reading.calls !== undefined) return reading.ending !== undefined && endCalls(reading, reading.calls)
  if (reading.open !== undefined) return readThought(reading, reading.open)
  if (reading.fresh && !readStart(reading)) return false
  if (reading.calls !== undefined || reading.open !== undefined) return true
  return readText(reading)
}

/** Reads the start of an answer, or of what follows a thought. Returns false when more of it has to come. */
function readStart(reading: AnswerReading): boolean {
  const { left, ending } = reading
  const words = left.trimStart()
  if (!reading.thought) reading.lead += left.slice(0, left.length - words.length)
  reading.left = words
  const final = ending !== undefined
  if (words === '') {
    if (final || reading.lead.length >= LONGEST_MARK) sayLead(reading)
    return false
  }
  if (!final && (UNTOKENED.startsWith(words) || couldBeMark(words))) return false
  return readWithoutTokens(reading) || readWhole(reading)
}

const UNTOKENED = STRIPPED.text + MESSAGE

/** Opens a thought of gpt-oss whose tokens a server has removed. Returns false if there is none. */
function readWithoutTokens(reading: AnswerReading): boolean {
  const { left, unclosed } = reading
  if (left.startsWith(UNTOKENED)) return openThought(reading, ANALYSIS, UNTOKENED.length)
  const begins = !unclosed.has(STRIPPED.text) && /^analysis[A-Z]/.test(left)
  return begins && openThought(reading, STRIPPED, STRIPPED.text.length)
}

/** Begins a thought or calls in JSON that can only be read as a whole. Returns false when more text has to come. */
function readWhole(reading: AnswerReading): boolean {
  const { left, tools, read, ending, assumes } = reading
  if (assumes) {
    if (findMark(left)?.at === 0) return true
    reading.assumes = false
    return openThought(reading, ASSUMED, 0)
  }
  const calls = tools.length > 0 && !read.has('whole') ? couldBeCalls(left) : 'no'
  if (calls === 'yes') {
    reading.calls = { kind: 'whole', text: left }
    reading.left = ''
  }
  return calls !== 'undecided' || ending !== undefined
}

function couldBeMark(words: string): boolean {
  return beginningLength(words) === words.length && words.length < LONGEST_MARK
}

function readText(reading: AnswerReading): boolean {
  const { left, ending } = reading
  const found = findMark(left)
  if (found === undefined) {
    const end = ending === undefined ? beginningLength(left) : 0
    speak(reading, left.slice(0, left.length - end))
    reading.left = left.slice(left.length - end)
    return false
  }
  speak(reading, left.slice(0, found.at))
  reading.left = left.slice(found.at)
  return meet(reading, found)
}

/** Decides about a mark that what is left begins with. Returns false when more of the answer has to come. */
function meet(reading: AnswerReading, found: FoundMark): boolean {
  const { left, ending, place, fresh, unclosed } = reading
  const { mark, length } = found
  const after = left.slice(length)
  if (mark.kind === 'open' && fresh && !unclosed.has(mark.text)) return openThought(reading, mark, length)
  const isHeader = mark.kind === 'header'
  const standing = standingOf(place, { after, final: ending !== undefined, expected: isHeader })
  if (standing === 'undecided') return false
  if (mark.kind === 'open') return meetOpen(reading, { mark, length, standing })
  if (standing !== 'a mark') return keep(reading, length)
  switch (mark.kind) {
    case 'header':
      return meetHeader(reading, length)
    case 'close':
      return reading.kept.delete(mark.text) ? keep(reading, length) : meetClose(reading, length)
    case 'call':
      return meetCall(reading, { bare: mark.bare, length })
    case 'dropped':
      return drop(reading, length)
  }
}

interface Opened {
  readonly mark: Thought['mark']
  readonly length: number
  readonly standing: MarkStanding
}

function meetOpen(reading: AnswerReading, { mark, length, standing }: Opened): boolean {
  const mayBegin = standing === 'a mark' && !reading.unclosed.has(mark.text)
  if (mayBegin && (mark.sure || beginsThought(reading.place))) return openThought(reading, mark, length)
  if (standing !== 'quoted') for (const close of mark.closes) reading.kept.add(close)
  return keep(reading, length)
}

/** At the start of a line that is not indented like code, or behind a sentence. */
function beginsThought({ line }: Place): boolean {
  return /^ {0,3}$|[^\d\s][.!?\u2026\u3002\uff01\uff1f]\s*$/.test(line)
}

/** A closing mark without an opening one. */
function meetClose(reading: AnswerReading, length: number): boolean {
  const { left, ending, thought } = reading
  const after = left.slice(length)
  if (after.trim() === '') {
    if (ending === undefined) return false
    if (thought || ending.apart) return drop(reading, length)
  }
  retract(reading)
  return drop(reading, length)
}

function meetHeader(reading: AnswerReading, length: number): boolean {
  const { left, ending } = reading
  const begun = left.slice(0, MOST_OF_A_HEADER)
  const end = begun.indexOf(MESSAGE)
  const grows = end < 0 && begun.length < MOST_OF_A_HEADER
  if (grows && ending === undefined && /^(?:[a-z]|$)/i.test(begun.slice(length))) return false
  if (!/^[a-z]/i.test(begun.slice(length))) return begun.length > length ? keep(reading, length) : drop(reading, length)
  return end < 0 && !grows ? keep(reading, length) : readHeader(reading, grows ? left.length : end)
}

/** Reads the header of a message, which ends at an offset of what is left. */
function readHeader(reading: AnswerReading, end: number): boolean {
  const { left, ending } = reading
  const header = left.slice(0, end)
  const after = left.slice(end + MESSAGE.length)
  if (/\bto=/.test(header)) return beginCalls(reading, end)
  if (/analysis/.test(header)) {
    reading.headed = true
    return openThought(reading, ANALYSIS, left.length - after.length)
  }
  if (/commentary/.test(header)) {
    if (after.trim() === '' && ending === undefined) return false
    if (/^\s*\{/.test(after)) return beginCalls(reading, end)
  } else if (/final/.test(header) && !reading.headed && !reading.fresh) retract(reading)
  reading.headed = true
  reading.left = after
  if (!reading.fresh && reading.place.line !== '') speak(reading, '\n\n')
  return true
}

const MOST_OF_A_HEADER = 200

function meetCall(
  reading: AnswerReading,
  { bare, length }: { readonly bare: boolean; readonly length: number },
): boolean {
  const after = reading.left.slice(length)
  if (BEGUN_CALL.test(after) && reading.ending === undefined) return false
  const follows = bare ? /^\S/ : CALL
  return follows.test(after) || BEGUN_CALL.test(after) ? beginCalls(reading, length) : keep(reading, length)
}

/** The text behind a mark of calls: one that may yet become a call, and one that is a call. */
const BEGUN_CALL = /^\s*(?:[\w.:/-]{1,64}\s*)?$/
const CALL = /^\s*(?:[{[<`]|\w[\w.:/-]*\s*[<({[\n])/

/** Begins calls with a mark of this length, which is left out where the calls were read before. */
function beginCalls(reading: AnswerReading, length: number): boolean {
  if (reading.read.has('marked')) return drop(reading, length)
  reading.calls = { kind: 'marked', text: reading.left }
  reading.left = ''
  return true
}

/** Reads the calls at the end of the answer. Words beside them are said. */
function endCalls(reading: AnswerReading, { kind, text }: NonNullable<AnswerReading['calls']>): boolean {
  reading.calls = undefined
  reading.read.add(kind)
  if (kind === 'whole') {
    const calls = readWholeCalls(text, reading.tools)
    reading.found = [...reading.found, ...(calls ?? [])]
    reading.left = calls === undefined ? text : ''
    return true
  }
  const { calls, rest } = readCalls(text, reading.tools)
  reading.found = [...reading.found, ...calls]
  reading.left = rest.trim() === '' ? '' : rest
  return true
}

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
interface AnswerReading {
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
function startReading(tools: readonly ToolSpec[], assumes: boolean): AnswerReading {
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
function sayLead(reading: AnswerReading): void {
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
function openThought(reading: AnswerReading, mark: Thought['mark'], length: number): boolean {
  const { left, fresh } = reading
  // White space in front of the first thought is dropped; where the thought is only assumed, the white space stays.
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

/** Ends a thought: the rest is read like the start of an answer. */
function endThought(reading: AnswerReading): void {
  reading.open = undefined
  reading.thought = true
  reading.fresh = true
  reading.assumes = false
}

/** Reads on in a thought. Returns false when more of the answer has to come. */
function readThought(reading: AnswerReading, open: Thought): boolean {
  const { left, ending } = reading
  const found = findMark(left, open.mark)
  if (found === undefined) {
    const end = ending === undefined ? beginningLength(left, open.mark) : 0
    think(open, left.slice(0, left.length - end))
    reading.left = left.slice(left.length - end)
    return ending !== undefined && endUnclosed(reading, open, ending)
  }
  think(open, left.slice(0, found.at))
  reading.left = left.slice(found.at)
  const written = reading.left.slice(0, found.length)
  const after = reading.left.slice(found.length)
  const final = ending !== undefined
  const standing = open.mark.sure ? 'a mark' : standingOf(open.place, { after, final, expected: true })
  if (standing === 'undecided') return false
  if (standing === 'a mark') return closeThought(reading, open, after)
  const startsLine = open.place.line.trim() === ''
  if (startsLine && !final && after.trim() === '' && !after.includes('\n')) return false
  const alone = startsLine && /^[ \t]*(?:\n|$)/.test(after)
  think(open, written)
  if (alone || (standing === 'named' && open.mark !== ASSUMED)) open.doubtful = open.text.length
  reading.left = after
  return true
}

function think(open: Thought, text: string): void {
  open.text += text
  open.place = placeAfter(open.place, text)
}

function closeThought(reading: AnswerReading, { mark }: Thought, after: string): boolean {
  if (mark === ASSUMED) {
    reading.lead = ''
    reading.unopened = true
  }
  // The header of the next message is read on.
  if (mark !== ANALYSIS || !/^<\|(?:start|channel)\|>/i.test(reading.left)) reading.left = after
  endThought(reading)
  return true
}

/** Decides what a thought was that the end of the answer has not closed. */
function endUnclosed(reading: AnswerReading, open: Thought, { cut, apart }: Ending): boolean {
  const { mark, text, doubtful, written, atStart } = open
  reading.open = undefined
  reading.unclosed.add(mark.text)
  if (doubtful !== undefined && !cut) {
    reading.left = text.slice(doubtful)
    reading.unopened ||= mark === ASSUMED
    endThought(reading)
    return true
  }
  const isThought = mark === ASSUMED || mark === STRIPPED ? cut && !apart : cut || atStart || mark.sure
  if (isThought) {
    reading.thought = true
    reading.found = callsOfThought(text, reading.tools)
    return false
  }
  for (const close of mark === ASSUMED ? [] : mark.closes) reading.kept.add(close)
  speak(reading, written)
  reading.left = text
  return true
}

/** Small models begin a call where they should have ended their thought. */
function callsOfThought(text: string, tools: readonly ToolSpec[]): readonly TextCall[] {
  const at = /<tool_call>\s*[{<\w]|<\|tool_calls?_(?:section_)?begin\|>|\[TOOL_CALLS\]/.exec(text)?.index
  if (at === undefined || tools.length === 0) return []
  const { calls, rest } = readCalls(text.slice(at), tools)
  return rest.trim() === '' && calls.every(({ whole }) => whole) ? calls : []
}
