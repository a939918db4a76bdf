import { describe, expect, test } from 'vitest'
import { ADDRESSES } from './answers/addresses.ts'
import { BLOCKS } from './answers/blocks.ts'
import type { Case } from './answers/case.ts'
import { FENCES } from './answers/fences.ts'
import { FORMULAS } from './answers/formulas.ts'
import { TAGS } from './answers/tags.ts'
import { WORDS } from './answers/words.ts'
import { PLATFORMS } from './platforms.ts'
import type { Reading } from './reading.ts'

const KINDS: Readonly<Record<string, readonly Case[]>> = {
  ...ADDRESSES,
  ...WORDS,
  ...BLOCKS,
  ...FENCES,
  ...TAGS,
  ...FORMULAS,
}

const lines = (text: string) => text.replace(/[ \t\u00a0]+$/gm, '').replace(/\n{3,}/g, '\n\n')

/** The marked words, however many stretches they are in. */
function expectMarks(reading: Reading | undefined, { bold, italic, code, links }: Case): void {
  if (bold !== undefined) expect(reading?.bold.join('')).toBe(bold.join(''))
  if (italic !== undefined) expect(reading?.italic.join('')).toBe(italic.join(''))
  if (code !== undefined) expect(new Set(reading?.code)).toEqual(new Set(code))
  if (links !== undefined) expect(new Set(reading?.links)).toEqual(new Set(links))
}

describe.each(Object.entries(PLATFORMS))('answers on %s', (platform, read) => {
  describe.each(Object.entries(KINDS))('%s', (_kind, cases) => {
    test.each(cases.map((one) => [one.written.slice(0, 60), one] as const))('%j', (_written, one) => {
      const [reading, ...others] = read(one.written)
      expect(others).toEqual([])
      expect(lines(reading?.text ?? '')).toBe(lines(one.read))
      if (platform !== 'slack' || !one.plainOnSlack) expectMarks(reading, one)
    })
  })
})

test('every kind has at least ten answers, and none is written twice', () => {
  for (const [kind, cases] of Object.entries(KINDS)) expect(cases.length, kind).toBeGreaterThanOrEqual(10)
  const written = Object.values(KINDS).flatMap((cases) => cases.map((one) => one.written))
  expect(new Set(written).size).toBe(written.length)
})
