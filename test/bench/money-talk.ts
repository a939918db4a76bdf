import type { MessagesRequest } from '../../src/rehearsal/anthropic/request.ts'
import { type Reply, textReply } from '../../src/rehearsal/anthropic/script.ts'

/** A turn of the talk: what a person says, the two tools the model asks for, and its answer. */
export interface Exchange {
  readonly said: string
  readonly calls: readonly { readonly name: string; readonly input: Readonly<Record<string, unknown>> }[]
  readonly answer: string
}

const SHORTEST = 150
const LONGEST = 600
const WORDS =
  'the of and for with from about after before again always another because between bread bring calendar can check children Friday garden have her his house kitchen last later letter maybe meeting money morning need next not number on order our paper people place please plan price question quiet rain read remember right school second send should small soon station still table take tell that their there think three time today together tomorrow train very wait walk want water week what when where which who window with work write year you'.split(
    ' ',
  )

/** Returns sentences of 150 to 600 characters, the same for the same number. */
export function textOf(seed: number): string {
  let state = (seed + 1) * 2_654_435_761
  const random = (below: number): number => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return Math.floor((state / 2 ** 32) * below)
  }
  const length = SHORTEST + random(LONGEST - SHORTEST)
  let text = `Number ${seed}.`
  while (text.length < length) {
    const words = Array.from({ length: 5 + random(12) }, () => WORDS[random(WORDS.length)] ?? '')
    const sentence = words.join(' ')
    text += ` ${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`
  }
  return text.slice(0, LONGEST)
}

/** Returns the turn of this number: a note is looked up, then a day of the calendar, then the answer is given. */
export function exchange(turn: number): Exchange {
  return {
    said: textOf(3 * turn),
    calls: [
      { name: 'notes_search', input: { query: WORDS[turn % WORDS.length], limit: 3 + (turn % 5) } },
      { name: 'calendar_list', input: { day: `2026-12-${String((turn % 28) + 1).padStart(2, '0')}` } },
    ],
    answer: textOf(3 * turn + 1),
  }
}

/** Plays the model: it asks for one tool after the other and then answers; each answer is another one. */
export function playTalk(): (request: MessagesRequest, call: number) => Reply {
  return (_request, call) => {
    const { calls, answer } = exchange(Math.floor(call / 3))
    const asked = calls[call % 3]
    return asked === undefined ? textReply(answer) : { blocks: [{ type: 'tool_use', ...asked }] }
  }
}
