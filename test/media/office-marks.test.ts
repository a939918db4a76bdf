import { describe, expect, it } from 'vitest'
import { docx, openDocument, pptx } from '../fakes/files.ts'
import { item, paragraph, read, run, slide } from './office-pieces.ts'

describe('a Word document', () => {
  const styled = (words: string, style: string): string => paragraph(words, `<w:pStyle w:val="${style}"/>`)
  const level = (at: number, text: string, more = ''): string =>
    `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="decimal"/>${more}<w:lvlText w:val="${text}"/></w:lvl>`
  const list = (id: number, levels: string, overrides = ''): string =>
    `<w:num w:numId="${id}"><w:abstractNumId w:val="${levels}"/>${overrides}</w:num>`
  const definition = (id: number, levels: string): string =>
    `<w:abstractNum w:abstractNumId="${id}">${levels}</w:abstractNum>`
  const override = (inner: string): string => `<w:lvlOverride w:ilvl="0">${inner}</w:lvlOverride>`
  const heading = (no: number, numbers = ''): string =>
    `<w:style w:styleId="H${no}"><w:name w:val="heading ${no}"/><w:pPr>${numbers}<w:outlineLvl w:val="${no - 1}"/></w:pPr></w:style>`
  const numbered = (list: number, level?: number): string =>
    `<w:numPr>${level === undefined ? '' : `<w:ilvl w:val="${level}"/>`}<w:numId w:val="${list}"/></w:numPr>`
  const based = (id: string, on: string, form = ''): string =>
    `<w:style w:styleId="${id}"><w:name w:val="${id}"/><w:basedOn w:val="${on}"/><w:pPr>${form}</w:pPr></w:style>`
  const legal = (more: (at: number) => string = () => ''): string =>
    definition(0, ['%1', '%1.%2', '%1.%2.%3'].map((text, at) => level(at, text, more(at))).join('')) + list(1, '0')
  const outline = ['1 Intro', '2 Scope', '2 Terms', '3 Detail', '1 Body', '2 Part']
    .map((one) => styled(one.slice(2), `H${one[0]}`))
    .join('')
  const outlined = ['# 1 Intro', '## 1.1 Scope', '## 1.2 Terms', '### 1.2.1 Detail', '# 2 Body', '## 2.1 Part']
  const upper = level(0, '%1.').replace('decimal', 'upperRoman')
  const plain = definition(0, level(0, '%1.')) + list(1, '0')
  const items = (...of: readonly number[]): string => of.map((id) => item('x', id)).join('')

  const clauses = based('Clause', '', numbered(1)) + based('Sub', 'Clause', '<w:numPr><w:ilvl w:val="1"/></w:numPr>')
  const changed = `<w:pPr>${numbered(1)}<w:pPrChange><w:pPr>${numbered(9)}</w:pPr></w:pPrChange></w:pPr>`
  const two = item('a', 1) + item('b', 1, 1)
  const from = (start: number, form: string): string =>
    definition(0, level(0, '%1.').replace('decimal', form).replace('w:val="1"', `w:val="${start}"`)) + list(1, '0')
  const linked = definition(0, `<w:styleLink w:val="L"/>${level(0, '%1.')}`)
  const linking = definition(1, '<w:numStyleLink w:val="L"/>') + list(1, '1')
  const steady = level(1, '%2)', '<w:lvlRestart w:val="0"/>')
  const headings = (numbers: (no: number) => string): string => [1, 2, 3].map((no) => heading(no, numbers(no))).join('')

  /** Styles, lists, a body, and its lines. */
  type Numbered = readonly [styles: string, lists: string, body: string, lines: readonly string[]]
  const cases: Readonly<Record<string, Numbered>> = {
    'styles with their levels': [headings((no) => numbered(1, no - 1)), legal(), outline, outlined],
    'levels that name the styles': [
      headings(() => numbered(1)),
      legal((at) => `<w:pStyle w:val="H${at + 1}"/>`),
      outline,
      outlined,
    ],
    'a style based on one with a list': [
      clauses,
      legal(),
      styled('a', 'Clause') + styled('b', 'Sub') + styled('c', 'Clause'),
      ['1 a', '  1.1 b', '2 c'],
    ],
    'a style based on a heading': [heading(1) + based('Own', 'H1'), '', styled('a', 'Own'), ['# a']],
    'styles based on each other in a ring': [based('A', 'B') + based('B', 'A'), '', styled('a', 'A'), ['a']],
    'a style that is no heading, based on one': [
      heading(1) + based('Own', 'H1', '<w:outlineLvl w:val="9"/>'),
      '',
      styled('a', 'Own'),
      ['a'],
    ],
    'a paragraph without the number of its style': [
      heading(1, numbered(1, 0)),
      legal(),
      paragraph('a', `<w:pStyle w:val="H1"/>${numbered(0)}`),
      ['# a'],
    ],
    'lists of one definition': ['', plain + list(2, '0'), items(1, 2, 1), ['1. x', '2. x', '3. x']],
    'a list that begins anew': [
      '',
      plain + list(2, '0', override('<w:startOverride w:val="5"/>')),
      items(1, 2, 2, 1),
      ['1. x', '5. x', '6. x', '7. x'],
    ],
    'a list with a level of its own': ['', plain + list(2, '0', override(upper)), items(2, 2), ['I. x', 'II. x']],
    'an item without words': ['', plain, item('x', 1) + item('', 1) + item('x', 1), ['1. x', '', '3. x']],
    'a level that never begins anew': [
      '',
      definition(0, level(0, '%1.') + steady) + list(1, '0'),
      two + two,
      ['1. a', '  1) b', '2. a', '  2) b'],
    ],
    'a level with decimal numbers alone': [
      '',
      definition(0, upper + level(1, '%1.%2', '<w:isLgl/>')) + list(1, '0'),
      two,
      ['I. a', '  1.1 b'],
    ],
    'a definition that another one names': ['', linked + linking, items(1, 1), ['1. x', '2. x']],
    'letters behind the alphabet': ['', from(26, 'lowerLetter'), items(1, 1), ['z. x', 'aa. x']],
    'numbers of two digits': ['', from(9, 'decimalZero'), items(1, 1), ['09. x', '10. x']],
    'small Roman numbers': ['', from(9, 'lowerRoman'), items(1), ['ix. x']],
    'a number that was changed': ['', plain, `<w:p>${changed}${run('x')}</w:p>`, ['1. x']],
  }
  it.each(Object.entries(cases))(
    'has the numbers that a person sees: %s',
    async (_name, [styles, lists, body, lines]) => {
      const parts = {
        styles: `<w:styles xmlns:w="w">${styles}</w:styles>`,
        numbering: `<w:numbering xmlns:w="w">${lists}</w:numbering>`,
      }
      expect((await read(docx(body, parts))).text?.split('\n')).toEqual(lines)
    },
  )

  const field = (code: string, shown: string): string =>
    ['begin', code, 'separate', shown, 'end']
      .map((one, at) =>
        at === 1
          ? `<w:r><w:instrText>${code}</w:instrText></w:r>`
          : at === 3
            ? shown
            : `<w:r><w:fldChar w:fldCharType="${one}"/></w:r>`,
      )
      .join('')
  const form = (inner: string): string =>
    `<w:r><w:fldChar w:fldCharType="begin"><w:ffData>${inner}</w:ffData></w:fldChar></w:r><w:r><w:instrText>FORM</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>`
  const box = (inner: string): string => form(`<w:checkBox>${inner}</w:checkBox>`)
  const sign = (font: string, char: string): string => `<w:r><w:sym w:font="${font}" w:char="${char}"/></w:r>`
  const math = (words: string): string => `<m:r><m:t>${words}</m:t></m:r>`
  const operand = (words: string): string => `<m:e>${math(words)}</m:e>`
  const fraction = (above: string, below: string): string =>
    `<m:f><m:num>${math(above)}</m:num><m:den>${math(below)}</m:den></m:f>`
  const page = 'HYPERLINK "https://example.com/a"'
  const [struck, raised] = ['<w:strike/>', '<w:vertAlign w:val="superscript"/>']

  it.each([
    ['words struck through', run('Pay 100 EUR ', struck) + run('Pay 80 EUR'), '~~Pay 100 EUR~~ Pay 80 EUR'],
    [
      'words struck through in pieces',
      run('Pay ', struck) + run('1', struck) + run('00', '<w:dstrike/>') + run(' now'),
      '~~Pay~~ ~~100~~ now',
    ],
    ['words not struck through', run('a', '<w:strike w:val="0"/>') + run('b', '<w:dstrike w:val="false"/>'), 'ab'],
    ['words that were struck through', run('a', `<w:rPrChange><w:rPr>${struck}</w:rPr></w:rPrChange>`), 'a'],
    ['words struck through by a style', run('a', '<w:rStyle w:val="Gone"/>'), '~~a~~'],
    ['a power', run('10') + run('6', raised) + run(' or x') + run('n', raised), '10^6 or x^n'],
    ['a power in pieces', run('10') + run('-1', raised) + run('2', raised), '10^-12'],
    ['a power of several signs', run('x') + run('n+1', raised), 'x^(n+1)'],
    ['an ordinal', run('the 1') + run('st', raised) + run(' of May'), 'the 1st of May'],
    ['a raised note', `${run('a')}<w:r><w:rPr>${raised}</w:rPr><w:footnoteReference w:id="2"/></w:r>`, 'a[^2]'],
    ['a fraction', math('x=') + fraction('1', '2'), 'x=1/2'],
    ['a fraction of sums', fraction('a+b', '3y'), '(a+b)/(3y)'],
    ['a power in a formula', `<m:sSup>${operand('x')}<m:sup>${math('n+1')}</m:sup></m:sSup>`, 'x^(n+1)'],
    [
      'brackets in a formula',
      `<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val=")"/></m:dPr>${operand('0')}${operand('1')}</m:d>`,
      '[0|1)',
    ],
    ['a root', `<m:rad><m:deg>${math('3')}</m:deg>${operand('x+1')}</m:rad>`, '√[3](x+1)'],
    [
      'a sum',
      `<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>${math('i=1')}</m:sub><m:sup>${math('n')}</m:sup>${operand('i')}</m:nary>`,
      '∑_(i=1)^n i',
    ],
    [
      'a matrix',
      `<m:m><m:mr>${operand('1')}${operand('2')}</m:mr><m:mr>${operand('3')}${operand('4')}</m:mr></m:m>`,
      '1, 2; 3, 4',
    ],
    ['a box that is checked', box('<w:default w:val="0"/><w:checked/>') + run(' yes'), '☒ yes'],
    ['a box that is not checked', box('<w:default w:val="1"/><w:checked w:val="0"/>') + run(' yes'), '☐ yes'],
    ['a box as it came', box('<w:default w:val="1"/>') + run(' yes'), '☒ yes'],
    [
      'a choice of a form',
      form('<w:ddList><w:result w:val="1"/><w:listEntry w:val="Paris"/><w:listEntry w:val="Lyon"/></w:ddList>'),
      'Lyon',
    ],
    [
      'boxes as signs',
      sign('Wingdings', 'F0FE') + run(' yes ') + sign('Wingdings', 'F0A8') + run(' no ') + sign('Wingdings 2', '0053'),
      '☑ yes ☐ no ☒',
    ],
    [
      'other signs',
      run('x ') +
        sign('Symbol', 'F0A3') +
        run(' ') +
        sign('Symbol', 'F061') +
        sign('MS Gothic', '2612') +
        sign('Wingdings', 'F021'),
      'x ≤ α☒',
    ],
    ['signs as characters of a font', run('5 \uf0a3 6', '<w:rFonts w:ascii="Symbol"/>'), '5 ≤ 6'],
    ['a link as a field', field(page, run('the page')) + run('.'), 'the page (https://example.com/a).'],
    ['a link to a place of a page', field(`${page} \\l "top" \\o "tip"`, run('it')), 'it (https://example.com/a#top)'],
    ['a link to a place of the document', field('HYPERLINK \\l "_Toc1"', run('it')), 'it'],
    ['a link that says its address', field(page, run('https://example.com/a')), 'https://example.com/a'],
    ['a field in a link', field(page, run('page ') + field('PAGEREF a', run('7'))), 'page 7 (https://example.com/a)'],
    [
      'a link as a simple field',
      `<w:fldSimple w:instr='${page.replaceAll('"', '&quot;')}'>${run('it')}</w:fldSimple>`,
      'it (https://example.com/a)',
    ],
    ['another field', field('DATE', run('today')), 'today'],
  ])('shows what changes the meaning of its words: %s', async (_name, inner, text) => {
    const styles = `<w:styles xmlns:w="w"><w:style w:styleId="Gone"><w:rPr>${struck}</w:rPr></w:style></w:styles>`
    expect(await read(docx(`<w:p>${inner}</w:p>`, { styles }))).toMatchObject({ text })
  })
})

describe('a presentation with more than words', () => {
  const text = (inner: string): string => slide(`<p:sp><p:txBody><a:p>${inner}</a:p></p:txBody></p:sp>`)
  const words = (of: string, form = ''): string => `<a:r><a:rPr${form}/><a:t>${of}</a:t></a:r>`
  const formula = `<mc:AlternateContent xmlns:mc="m"><mc:Choice><a14:m xmlns:a14="o"><m:f xmlns:m="x"><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></a14:m></mc:Choice><mc:Fallback>${words('?')}</mc:Fallback></mc:AlternateContent>`
  it.each([
    ['struck through', words('100 EUR', ' strike="sngStrike"') + words(' 80 EUR'), '- ~~100 EUR~~ 80 EUR'],
    ['struck through twice', words('100', ' strike="dblStrike"'), '- ~~100~~'],
    ['not struck through', words('100', ' strike="noStrike"'), '- 100'],
    ['a power', words('10') + words('6', ' baseline="30000"') + words('2', ' baseline="-25000"'), '- 10^62'],
    ['a fraction', formula, '- 1/2'],
  ])('shows what changes their meaning: %s', async (_name, inner, line) => {
    expect(await read(pptx([{ slide: text(inner) }]))).toMatchObject({ text: `Slide 1:\n${line}` })
  })

  it('has the numbers of its items, each level and each list from its beginning', async () => {
    const p = (of: string, form: string, level = 0): string =>
      `<a:p><a:pPr lvl="${level}">${form}</a:pPr>${words(of)}</a:p>`
    const auto = (type: string, more = ''): string => `<a:buAutoNum type="${type}"${more}/>`
    const shapes = [
      p('one', auto('arabicPeriod')) + p('a', auto('alphaLcParenR'), 1) + p('b', auto('alphaLcParenR'), 1),
      p('two', auto('arabicPeriod')) + p('again a', auto('alphaLcParenR'), 1) + p('aside', '<a:buNone/>'),
      p('from four', auto('romanUcPeriod', ' startAt="4"')) + p('five', auto('romanUcPeriod')) + p('', ''),
    ].join('')
    const made = slide(`<p:sp><p:txBody>${shapes}</p:txBody></p:sp>`)
    expect((await read(pptx([{ slide: made }]))).text?.split('\n')).toEqual([
      ...['Slide 1:', '1. one', '  a) a', '  b) b', '2. two', '  a) again a', '- aside', 'IV. from four', 'V. five'],
    ])
  })

  it('has the words of a diagram behind those of its slide', async () => {
    const diagram = '<d:x xmlns:d="d" xmlns:a="a"><d:t><a:p><a:r><a:t>buy</a:t></a:r></a:p></d:t></d:x>'
    expect(await read(pptx([{ slide: text(words('Plan')), diagram }]))).toMatchObject({
      text: 'Slide 1:\n- Plan\n[diagram] buy',
    })
  })
})

describe('a document', () => {
  it('of OpenDocument has marks for what changes the meaning of words', async () => {
    const style = (name: string, properties: string, parent = ''): string =>
      `<style:style style:name="${name}" style:parent-style-name="${parent}">${properties && `<style:text-properties ${properties}/>`}</style:style>`
    const styles = [
      style('T1', 'style:text-line-through-style="solid"'),
      style('T2', 'style:text-position="super 58%"'),
      style('T3', 'style:text-line-through-style="none"'),
      style('T4', '', 'T1'),
    ].join('')
    const span = (name: string, words: string): string => `<text:span text:style-name="${name}">${words}</text:span>`
    const body = [
      `<text:p>Pay ${span('T1', '100')} 80, 10${span('T2', '6')}${span('T3', '!')}</text:p>`,
      `<text:p text:style-name="T4">all of it</text:p>`,
    ].join('')
    expect(await read(openDocument('text', body, '', styles))).toMatchObject({
      text: 'Pay ~~100~~ 80, 10^6!\n~~all of it~~',
    })
  })

  it('of OpenDocument has the numbers of its items, by the style of their list', async () => {
    const level = (no: number, form: string): string =>
      `<text:list-level-style-number text:level="${no}" ${form}></text:list-level-style-number>`
    const styles = [
      `<text:list-style style:name="L1">${level(1, 'style:num-format="1" style:num-suffix="."')}`,
      `${level(2, 'style:num-format="1" style:num-suffix="." text:display-levels="2"')}`,
      `${level(3, 'style:num-format="a" style:num-prefix="(" style:num-suffix=")"')}</text:list-style>`,
      '<text:list-style style:name="L2"><text:list-level-style-bullet text:level="1"/></text:list-style>',
    ].join('')
    const list = (items: string, form = ''): string => `<text:list${form}>${items}</text:list>`
    const item = (words: string, inner = '', form = ''): string =>
      `<text:list-item${form}><text:p>${words}</text:p>${inner}</text:list-item>`
    const body = [
      list(
        item('one', list(item('one one', list(item('deep'))) + item('one two'))) + item('two', '<text:p>more</text:p>'),
        ' text:style-name="L1"',
      ),
      list(item('dot'), ' text:style-name="L2"'),
      list(
        item('three') + item('nine', '', ' text:start-value="9"'),
        ' text:style-name="L1" text:continue-numbering="true"',
      ),
      list(item('anew'), ' text:style-name="L1"'),
    ].join('')
    expect((await read(openDocument('text', body, '', styles))).text?.split('\n')).toEqual([
      ...['1. one', '  1.1. one one', '    (a) deep', '  1.2. one two', '2. two', '  more', '- dot'],
      ...['3. three', '9. nine', '1. anew'],
    ])
  })

  it.each([
    [
      'words struck through',
      String.raw`Pay {\strike 100} 80 \strike a\strike0 b \striked1 c\plain d`,
      'Pay ~~100~~ 80 ~~a~~b ~~c~~d',
    ],
    ['a power', String.raw`10{\super 6} x\super 2\nosupersub 3`, '10^6 x^23'],
    ['a link', String.raw`{\field{\*\fldinst{HYPERLINK "https://x.y"}}{\fldrslt{\ul word}}}.`, 'word (https://x.y).'],
    [
      'a link that says its address',
      String.raw`{\field{\*\fldinst HYPERLINK "https://x.y"}{\fldrslt https://x.y}}.`,
      'https://x.y.',
    ],
    [
      'a box that is checked',
      String.raw`{\field{\*\fldinst{FORMCHECKBOX {\*\formfield{\fftype1\ffres1\ffdefres0}}}}{\fldrslt}} yes`,
      '☒ yes',
    ],
    [
      'a box as it came',
      String.raw`{\field{\*\fldinst{FORMCHECKBOX {\*\formfield{\fftype1\ffres25\ffdefres0}}}}{\fldrslt}} yes`,
      '☐ yes',
    ],
  ])('of RTF shows what changes the meaning of words: %s', async (_name, words, text) => {
    expect(await read(Buffer.from(`{\\rtf1\\ansi ${words}}`, 'latin1'))).toMatchObject({ text })
  })
})
