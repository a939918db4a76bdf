import { describe, expect, test } from 'vitest'
import { Style } from '../../../adapters/shared/document.ts'
import { parseMarkdown } from '../../../adapters/shared/markdown.ts'

const first = (markdown: string) => parseMarkdown(markdown)[0]

describe('parseMarkdown', () => {
  test('nested emphasis x flat runs over plain text', () => {
    expect(first('a **b _c_**')).toEqual({
      kind: 'paragraph',
      gap: 1,
      body: {
        text: 'a b c',
        runs: [
          { start: 2, end: 4, style: Style.bold, href: undefined },
          { start: 4, end: 5, style: Style.bold | Style.italic, href: undefined },
        ],
      },
    })
  })

  test('the same style in itself x stays on until the outer one ends', () => {
    expect(first('*a **b *c* d** e*')).toMatchObject({
      body: { text: 'a b c d e', runs: [{ end: 2 }, { end: 7 }, { end: 9 }] },
    })
  })

  test('spaces around a line break and before a paragraph x kept', () => {
    expect(first('  a  \n   *b*')).toMatchObject({ body: { text: '  a  \n   b', runs: [{ start: 9, end: 10 }] } })
  })

  test('blank lines between blocks x counted as in the source', () => {
    expect(parseMarkdown('*a*\n# b\n\n\nc\n> d\n>\n> e').map((block) => block.gap)).toEqual([1, 1, 3, 1])
  })

  test.each([
    ['7) a\n8) b', ['7)', '8)']],
    ['10. a\n9. b', ['10.', '9.']],
    ['1. a\n1. b\n1. c', ['1.', '2.', '3.']],
    ['05. a\n06. b', ['05.', '06.']],
    ['- a\n- b', [undefined, undefined]],
    ['- a\n+ b', ['-']],
  ])('a list %j x markers %j', (markdown, markers) => {
    expect(first(markdown)).toMatchObject({ kind: 'list', items: markers.map((marker) => ({ gap: 1, marker })) })
  })

  test('a table x alignment and cells as text', () => {
    expect(first('|a|b|c|\n|-|:-:|-:|\n|**x**|`y\\|z`|')).toEqual({
      kind: 'table',
      gap: 1,
      columns: ['left', 'center', 'right'],
      rows: [
        ['a', 'b', 'c'],
        ['x', 'y|z', ''],
      ],
    })
  })

  test('longer than any answer x one paragraph of plain text', () => {
    const text = '*a* '.repeat(50_001)
    expect(parseMarkdown(text)).toEqual([{ kind: 'paragraph', gap: 1, body: { text, runs: [] } }])
  })
})
