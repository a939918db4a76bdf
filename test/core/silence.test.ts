import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { silenceReasons, stripSilence, visibleWhileStreaming } from '../../src/core/silence.ts'

const MARKERS = ['<NO_REPLY>', '<EMPTY_RESPONSE>']

/** Texts made of markers, broken markers, other brackets and words. */
const texts = fc
  .array(
    fc.constantFrom(
      ...MARKERS,
      '<NO_',
      'REPLY>',
      '<NO_REPLY:',
      ': why>',
      '<EMPTY_',
      'RESPONSE>',
      '<',
      '>',
      '<b>',
      'a',
      ' ',
      'no',
      '<no_reply>',
      'NO_REPLY',
      '\n',
      '😀',
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(''))

/** The definition, slow: cut any marker until none is left. */
function cutAll(text: string): string {
  const cut = text.replace(/<NO_REPLY>|<EMPTY_RESPONSE>|<NO_REPLY:[^<>\n]{0,300}>/, '')
  return cut === text ? text : cutAll(cut)
}

describe('silence markers', () => {
  it.each(['<NO_REPLY>', ' <EMPTY_RESPONSE>\n', '<NO_REPLY><EMPTY_RESPONSE> <NO_REPLY>', '<NO_<NO_REPLY>REPLY>'])(
    'S28: %j alone is silence',
    (text) => {
      expect(stripSilence(text)).toEqual({ text: '', silent: true })
    },
  )

  it.each([
    ['<NO_REPLY: they talk about lunch>', ['they talk about lunch']],
    ['<NO_REPLY:a> <NO_REPLY: b ><NO_REPLY>', ['a', 'b']],
    ['<NO_REPLY:>', []],
  ])('S28: %j is silence with its reasons', (text, reasons) => {
    expect(stripSilence(text)).toEqual({ text: '', silent: true })
    expect(silenceReasons(text)).toEqual(reasons)
  })

  it('S29: a reason is removed from an answer as well; what is open, or too long, is text', () => {
    expect(stripSilence('Hello <NO_REPLY: x> there').text).toBe('Hello  there')
    for (const text of ['<NO_REPLY: open', '<NO_REPLY: two\nlines>', `<NO_REPLY: ${'x'.repeat(301)}>`])
      expect(stripSilence(text)).toEqual({ text, silent: false })
  })

  it.each(['', '  ', 'NO_REPLY', '<no_reply>', '< NO_REPLY >', '<NO_REPLY', '<NO_REPLY<NO_REPLY'])(
    'S28: %j is text, not silence',
    (text) => {
      expect(stripSilence(text)).toEqual({ text, silent: false })
    },
  )

  it('S29: a reply with text and a marker keeps the text, trimmed', () => {
    expect(stripSilence('Hello <NO_REPLY>\n')).toEqual({ text: 'Hello', silent: false })
  })

  it('S29: a reply without a marker stays as it came', () => {
    expect(stripSilence('  a < b\n')).toEqual({ text: '  a < b\n', silent: false })
  })

  it('S30: both markers go, repeated and mixed, other words in angle brackets stay', () => {
    const text = '<b>x</b><NO_REPLY><EMPTY_RESPONSE> <NO_REPLY><REPLY> y<EMPTY_RESPONSE> a > b'
    expect(stripSilence(text).text).toBe('<b>x</b> <REPLY> y a > b')
  })

  it('S30: no marker is ever left, and nothing else is taken', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const hasMarker = cutAll(text) !== text
        const expected = hasMarker ? cutAll(text).trim() : text
        expect(stripSilence(text)).toEqual({ text: expected, silent: hasMarker && expected === '' })
      }),
      { numRuns: 2_000 },
    )
  })

  it('S31: at every split of every text no part of a marker that goes is visible', () => {
    fc.assert(
      fc.property(texts, (text) => {
        for (let end = 0; end <= text.length; end++) {
          const shown = visibleWhileStreaming(text.slice(0, end))
          const open = shown.slice(Math.max(0, shown.lastIndexOf('<')))
          expect(MARKERS.some((marker) => shown.includes(marker))).toBe(false)
          expect(open.startsWith('<') && MARKERS.some((marker) => marker.startsWith(open))).toBe(false)
        }
      }),
      { numRuns: 1_000 },
    )
  })

  it('S31: what was shown stays the beginning of the final text, white space at its end aside', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const final = stripSilence(text).text.trim()
        for (let end = 0; end <= text.length; end++) {
          expect(final.startsWith(visibleWhileStreaming(text.slice(0, end)).trim())).toBe(true)
        }
      }),
      { numRuns: 1_000 },
    )
  })

  it('S31: what is held back is shown once it can be no marker', () => {
    expect(visibleWhileStreaming('a <NO_REPL')).toBe('a ')
    expect(visibleWhileStreaming('a <NO_REPLACEMENT')).toBe('a <NO_REPLACEMENT')
    expect(visibleWhileStreaming('a <EMPTY_<NO_')).toBe('a ')
    expect(visibleWhileStreaming('a <NO_REPLY: they talk')).toBe('a ')
    expect(visibleWhileStreaming('a <NO_REPLY: they\ntalk')).toBe('a <NO_REPLY: they\ntalk')
    expect(visibleWhileStreaming('plain')).toBe('plain')
  })

  it('long nests of broken markers take no deep stack and no quadratic time', () => {
    const depth = 50_000
    expect(visibleWhileStreaming('<'.repeat(depth))).toBe('')
    expect(stripSilence('<NO_'.repeat(depth) + 'REPLY>'.repeat(depth))).toEqual({ text: '', silent: true })
  })
})
