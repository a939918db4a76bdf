import { describe, expect, test } from 'vitest'
import { layOutBlocks } from '../../../adapters/shared/lay-out-blocks.ts'
import { parseMarkdown } from '../../../adapters/shared/markdown.ts'
import type { Ruler } from '../../../adapters/shared/split-text.ts'
import { splitPassages } from '../../../adapters/shared/split-text.ts'

const visible = (limit: number): Ruler => ({ limit, marks: undefined })

/** Counts as a platform does that limits the raw message: two marks around a run, three escaped units for a `<`. */
const raw = (limit: number): Ruler => ({
  limit,
  marks: {
    measure: (text) => text.replaceAll('<', '&lt;').length,
    runOverhead: () => 4,
    passageOverhead: (passage) => (passage.kind === 'code' ? 8 + passage.language.length : 0),
  },
})

function split(markdown: string, ruler: Ruler): string[] {
  const parts = splitPassages(layOutBlocks(parseMarkdown(markdown)), ruler)
  return parts.map((part) =>
    part.map((passage, index) => (index === 0 ? '' : passage.gap) + passage.body.text).join(''),
  )
}

describe('splitPassages: where a part ends', () => {
  test('a block border near the limit x there', () => {
    expect(split('*aaaa* aaaa\n\nbb bb bb', visible(12))).toEqual(['aaaa aaaa', 'bb bb bb'])
  })

  test('a block border too far from the limit x a line inside the block', () => {
    expect(split('*a*\n\nbbbb\ncccc\ndddd', visible(13))).toEqual(['a\n\nbbbb\ncccc', 'dddd'])
  })

  test('no line near the limit x a sentence', () => {
    expect(split('*One* two. Three four five', visible(12))).toEqual(['One two.', 'Three four', 'five'])
  })

  test('a word longer than a part x cut inside, nothing lost', () => {
    expect(split('*x* abcdefghijklmnop', visible(6)).join('').replaceAll(' ', '')).toBe('xabcdefghijklmnop')
  })

  test('a heading at the end of a part x goes with what it heads', () => {
    expect(split('aaaaaaaaaaaaaaaaaaaaaaaaaa bbbb\n\n# Head\n\ncccc cccc', visible(42))).toEqual([
      'aaaaaaaaaaaaaaaaaaaaaaaaaa bbbb',
      'Head\n\ncccc cccc',
    ])
  })

  test('code that fits into one part x kept whole', () => {
    expect(split('aaaa aaaa aaaa\n\n```\nb\nb\nb\nb\nb\nb\nb\nb\n```', visible(24))).toEqual([
      'aaaa aaaa aaaa',
      'b\nb\nb\nb\nb\nb\nb\nb',
    ])
  })

  test('code indented at the cut x the indent stays', () => {
    expect(split('```\nif a:\n    bbbb\n    cccc\n```', visible(16))).toEqual(['if a:\n    bbbb', '    cccc'])
  })
})

describe('splitPassages: a platform that counts the raw message', () => {
  test('escapes x counted', () => {
    expect(split('<<< <<<', raw(14))).toEqual(['<<<', '<<<'])
  })

  test('marks of runs and fences x counted', () => {
    expect(split('**aa** **bb** **cc**', raw(13))).toEqual(['aa bb', 'cc'])
    expect(split('```ts\naaaa\nbbbb\n```', raw(17))).toEqual(['aaaa', 'bbbb'])
  })

  test('one long run of escapes x cut where it fits', () => {
    expect(split(`**${'<'.repeat(7)}**`, raw(17))).toEqual(['<<<', '<<<', '<'])
  })
})
