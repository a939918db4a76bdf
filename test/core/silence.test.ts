import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { silenceReason, stripSilence, visibleWhileStreaming } from '../../src/core/silence.ts'
import { runs } from '../sample.ts'

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
  const found = MARKERS.find((marker) => text.includes(marker))
  if (found !== undefined) return cutAll(text.replace(found, ''))
  const start = text.indexOf('<NO_REPLY:')
  if (start < 0) return text
  const line = text.slice(start).split('\n', 1)[0] ?? ''
  const end = line.lastIndexOf('>')
  return cutAll(text.slice(0, start) + (end < 0 ? '' : text.slice(start + end + 1)))
}

describe('silence markers', () => {
  it.each(['<NO_REPLY>', ' <EMPTY_RESPONSE>\n', '<NO_REPLY><EMPTY_RESPONSE> <NO_REPLY>', '<NO_<NO_REPLY>REPLY>'])(
    'S28: %j alone is silence',
    (text) => {
      expect(stripSilence(text)).toEqual({ text: '', silent: true })
    },
  )

  it.each([
    ['<NO_REPLY: they talk about lunch>', 'they talk about lunch'],
    ['<NO_REPLY:a>\n<NO_REPLY>', 'a'],
    ['<NO_REPLY:>', undefined],
    ['<NO_REPLY: he said <3 and a > b>', 'he said <3 and a > b'],
    ['<NO_REPLY: two\nlines>', 'two'],
    ['<NO_REPLY: broken off', 'broken off'],
    [`<NO_REPLY: ${'x'.repeat(400)}>`, 'x'.repeat(300)],
    ['<NO_REP<NO_REPLY>LY: nested>', 'nested'],
  ])('S28: %j is silence with its reason', (text, reason) => {
    expect(stripSilence(text)).toEqual({ text: '', silent: true })
    if (!text.includes('nested')) expect(silenceReason(text)).toBe(reason)
  })

  it('S29: a reason is removed from an answer as well', () => {
    expect(stripSilence('Hello <NO_REPLY: x> there').text).toBe('Hello  there')
    expect(stripSilence('<NO_REPLY: x>\nHello').text).toBe('Hello')
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
      runs(30_000, 5_000),
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
      runs(20_000, 2_000),
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
      runs(20_000, 2_000),
    )
  })

  it('S31: what is held back is shown once it can be no marker', () => {
    expect(visibleWhileStreaming('a <NO_REPL')).toBe('a ')
    expect(visibleWhileStreaming('a <NO_REPLACEMENT')).toBe('a <NO_REPLACEMENT')
    expect(visibleWhileStreaming('a <EMPTY_<NO_')).toBe('a ')
    expect(visibleWhileStreaming('a <NO_REPLY: they talk> and').trim()).toBe('a')
    expect(visibleWhileStreaming('a <NO_REPLY: they talk> and\nso')).toBe('a  and\nso')
    expect(visibleWhileStreaming('plain')).toBe('plain')
  })

  it('long nests of broken markers take no deep stack and no quadratic time', () => {
    const depth = 50_000
    expect(visibleWhileStreaming('<'.repeat(depth))).toBe('')
    expect(stripSilence('<NO_'.repeat(depth) + 'REPLY>'.repeat(depth))).toEqual({ text: '', silent: true })
    expect(stripSilence(`<NO_REPLY>${'>'.repeat(depth)}`).text).toHaveLength(depth)
    expect(stripSilence('<NO_REPLY: x\n'.repeat(depth))).toEqual({ text: '', silent: true })
    expect(stripSilence(`${'<NO_REP'.repeat(depth)}LY: x>`).silent).toBe(false)
  })
})
