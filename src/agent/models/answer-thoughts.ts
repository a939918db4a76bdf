import type { ToolSpec } from '../../core/model.ts'
import { ANALYSIS, ASSUMED, beginningLength, findMark, STRIPPED } from './answer-marks.ts'
import { type AnswerReading, type Ending, endThought, speak, type Thought } from './answer-reading.ts'
import { placeAfter, standingOf } from './mark-place.ts'
import { readCalls, type TextCall } from './text-calls.ts'

/** Reads on in a thought. Returns false when more of the answer has to come. */
export function readThought(reading: AnswerReading, open: Thought): boolean {
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
