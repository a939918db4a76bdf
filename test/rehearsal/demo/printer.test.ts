import { describe, expect, test } from 'vitest'
import { createPrinter, wrapWords } from '../../../src/rehearsal/demo/printer.ts'

describe('wrapWords', () => {
  test('breaks between words only, and never writes past the width', () => {
    expect(wrapWords('one two three four', 9)).toEqual(['one two', 'three', 'four'])
  })

  test('keeps a word that is longer than the width whole, on a line of its own', () => {
    expect(wrapWords('see https://example.org/a/long/path now', 10)).toEqual([
      'see',
      'https://example.org/a/long/path',
      'now',
    ])
  })

  test('leaves empty lines out, and an empty text is one empty line', () => {
    expect(wrapWords('one\n\ntwo', 10)).toEqual(['one', 'two'])
    expect(wrapWords('', 10)).toEqual([''])
  })
})

describe('the printer', () => {
  function printed(print: (printer: ReturnType<typeof createPrinter>) => void, colours = false): string[] {
    const lines: string[] = []
    print(createPrinter((line) => lines.push(line), { colours, width: 50 }))
    return lines
  }

  test('puts every message with its place, and continues it under its own words', () => {
    expect(printed(({ said }) => said('garden', 'Cy', 'the tomatoes are planted and the beans too'))).toEqual([
      '  garden       Cy       the tomatoes are planted',
      '                        and the beans too',
    ])
  })

  test('wraps notes, and indents what continues them like their beginning', () => {
    expect(printed(({ note }) => note('  a note that is longer than a line of fifty columns'))).toEqual([
      '    a note that is longer than a line of fifty',
      '    columns',
    ])
  })

  test('colours the name of who speaks only where it is told to', () => {
    expect(printed(({ said }) => said('garden', 'Cy', 'hi'), true).join()).toContain('\u001b[1mCy')
    expect(printed(({ said }) => said('garden', 'Cy', 'hi')).join()).not.toContain('\u001b')
  })
})
