import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseMarkdown } from '../../../adapters/shared/markdown.ts'
import { runs } from '../../sample.ts'
import { PLATFORMS } from './platforms.ts'

/** A piece of an answer, and the words of it that a person has to read, in order. */
interface Piece {
  readonly source: string
  readonly words: string
}

const word = fc.stringMatching(/^[b-df-hj-np-tv-z][aeiou][a-z]{0,6}$/).filter((one) => !/^(?:to|tag)/.test(one))

/** `$1` stands for the word; everything else in capitals or signs is formatting, or stays. */
const inline = (source: string, words = source): fc.Arbitrary<Piece> =>
  word.map((one) => ({ source: source.replaceAll('$1', one), words: words.replaceAll('$1', one) }))

const span = fc.oneof(
  { weight: 6, arbitrary: inline('$1') },
  inline('**$1**', '$1'),
  inline('*$1*', '$1'),
  inline('~~$1~~', '$1'),
  inline('`$1`', '$1'),
  inline('[$1](https://e.org/a_b)', '$1'),
  inline('https://e.org/__$1__/*$1*'),
  inline('$1*$1*$1'),
  inline('$1_$1_x'),
  inline('C:\\$1\\_$1\\*'),
  inline('\\*$1\\*', '$1'),
  inline('<b>$1</b>', '$1'),
  inline('$1<br>$1', '$1 $1'),
  inline('<$1>'),
  inline('注意：**$1：**请先$1'),
  inline('$\\text{$1}^2$', '$1'),
  inline('\\#$1 &amp; $1[0](1)', '$1 $1'),
  inline('"**$1**"$1', '$1 $1'),
)
const line = fc.array(span, { minLength: 1, maxLength: 12, size: 'max' }).map((pieces) => ({
  source: pieces.map((one) => one.source).join(' '),
  words: pieces.map((one) => one.words).join(' '),
}))

const around = (make: (source: string) => string) => line.map(({ source, words }) => ({ source: make(source), words }))

const block = fc.oneof(
  { weight: 3, arbitrary: line },
  around((source) => `## ${source}`),
  around((source) => `- ${source}\n  - x`),
  around((source) => `9. ${source}\n8. ${source.slice(0, 0)}x`),
  around((source) => `> ${source}`),
  inline('Do: ```sh\n$1 $1\n```', 'Do $1 $1'),
  inline('```js\n$1()``` ', '$1'),
  inline('~~~\n**$1** \\$1 <b>\n~~~', '$1 $1 b'),
  around((source) => `<details>\n<summary>x</summary>\n\n${source}\n\n</details>`),
)
const answer = fc.array(block, { minLength: 1, maxLength: 8, size: 'max' })

const wordsOf = (text: string) => text.match(/[b-df-hj-np-tv-z][aeiou][a-z]{0,6}/g) ?? []

describe.each(Object.entries(PLATFORMS))('answers cut small on %s', (_platform, read) => {
  test('F-G06: the parts joined have the words of the source, in order', () => {
    fc.assert(
      fc.property(answer, fc.integer({ min: 120, max: 600 }), (blocks, limit) => {
        const source = blocks.map((one) => one.source).join('\n\n')
        const shown = read(source, limit).map(({ text }) => text)
        expect(wordsOf(shown.join('\n'))).toEqual(wordsOf(blocks.map((one) => one.words).join('\n')))
      }),
      runs(150),
    )
  })
})

describe('answers that want to cost time', () => {
  const PATTERNS = [
    ...[
      '*',
      '_',
      '~',
      '`',
      '[',
      ']',
      '\\',
      '$',
      '<',
      '>',
      '|',
      ':',
      '&',
      '#',
      '=',
      '-',
      '(',
      ' x',
      '漢',
      'www.',
      '://',
    ],
    ...[
      'https://a_ ',
      '_ https://a_',
      '**a ',
      '\\[',
      '\\]\\(',
      '$a',
      '$x$ ',
      '<b>',
      '</b>',
      '<!--',
      '[^a]',
      '"*"',
      '**/',
    ],
    ...[
      '```a\n',
      '```\n```a\n',
      '```a\n```b\n```\n',
      'a ```\n',
      '[a]: b\n',
      '|a|\n|-|\n',
      'a\n===\n',
      '\\begin{align}\n',
    ],
  ]

  test.each(PATTERNS)('F-G06: 20,000 characters of %j x read in a moment', (pattern) => {
    const text = pattern.repeat(20_000 / pattern.length)
    const start = performance.now()
    expect(parseMarkdown(text).length).toBeGreaterThan(0)
    expect(performance.now() - start).toBeLessThan(10_000)
  })
})
