import { describe, expect, it } from 'vitest'
import { createSlackFormat } from '../../adapters/slack/format.ts'
import { BEGINNING, placeAfter } from '../../src/agent/models/mark-place.ts'
import { ParleyError } from '../../src/core/errors.ts'
import { looksLikeKey } from '../../src/core/session-context.ts'
import { stripSilence, visibleWhileStreaming } from '../../src/core/silence.ts'
import { compileWakeWords, findWakeWord } from '../../src/routing/wake-words.ts'
import { readEnd } from '../../src/schedule/when/read-when.ts'

const LONG = 400_000
const SPACES = ' '.repeat(LONG)
/** A longer text is no Markdown any more. */
const BOLD = ' '.repeat(190_000)
const WAKE = compileWakeWords(['Parley'])
const BERLIN = { now: 0, timezone: 'Europe/Berlin' }

function refusal(read: () => unknown): string {
  try {
    read()
    return 'none'
  } catch (error) {
    return error instanceof ParleyError ? error.code : 'another'
  }
}

/** An expression that goes back for each character takes minutes over any of these, and the test does not end. */
describe('door words: what reads the words of people and models looks at a character a few times', () => {
  it.each<readonly [string, () => unknown, unknown]>([
    ['a key in pieces of one letter', () => looksLikeKey('x-'.repeat(LONG)), false],
    ['a fence behind spaces', () => placeAfter(BEGINNING, `${SPACES}x\n`), { line: '', fence: '' }],
    ['a duration of digits', () => refusal(() => readEnd('1'.repeat(LONG), BERLIN)), 'invalid'],
    ['a duration of hours', () => refusal(() => readEnd('1h '.repeat(LONG), BERLIN)), 'invalid'],
    ['a wake word in a text of its beginnings', () => findWakeWord('Parle '.repeat(LONG), WAKE), undefined],
    ['a marker of silence that is begun again and again', () => stripSilence('<NO_REPLY'.repeat(LONG)).silent, false],
    ['a growing text of brackets', () => visibleWhileStreaming('<'.repeat(LONG)).length <= LONG, true],
    ['bold words around spaces', () => createSlackFormat(LONG).split(`**a${BOLD}b**`)[0]?.text.length, BOLD.length + 4],
  ])('%s', (_title, read, right) => {
    expect(read()).toEqual(right)
  })
})
