import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createReadArrived } from '../../src/media/read-arrived.ts'
import * as document from '../../src/media/read-document.ts'
import { docx, openDocument, pptx, xlsx, zip } from '../fakes/files.ts'
import { mediaStoreIn } from '../fakes/media.ts'
import { item, paragraph, read, run, slide } from './office-pieces.ts'

function arrive(bytes: Uint8Array, longest = 20_000) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-office-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const reader = createReadArrived({
    media: mediaStoreIn(join(folder, 'media')),
    clock: systemClock,
    logger: silentLogger,
  })
  return reader({ bytes, name: 'a', kind: 'document' }, longest, new AbortController().signal)
}

const cell = (...paragraphs: readonly string[]): string => `<w:tc>${paragraphs.join('')}</w:tc>`

const STYLES = `<w:styles xmlns:w="w"><w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>
  <w:style w:styleId="Titel"><w:name w:val="Title"/></w:style></w:styles>`
const LISTS = `<w:numbering xmlns:w="w">
  <w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="·"/></w:lvl></w:abstractNum>
  <w:abstractNum w:abstractNumId="1">
    <w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
    <w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1%2)"/></w:lvl>
  </w:abstractNum>
  <w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num></w:numbering>`

const TRACKED = 'it has tracked changes, which are shown as accepted'

describe('a Word document', () => {
  it('is shown with its headings, by whatever names their styles have, its lists and the rows of its tables', async () => {
    const body = [
      paragraph('Report', '<w:pStyle w:val="Titel"/>'),
      paragraph('Costs', '<w:pStyle w:val="berschrift2"/>'),
      ...[item('milk', 1), item('first', 2), item('second', 2), item('part', 2, 1), item('third', 2)],
      `<w:tbl><w:tr>${cell(paragraph('Name'))}${cell(paragraph('Age'))}</w:tr>`,
      `<w:tr>${cell(paragraph('Ada'), paragraph('Lovelace'))}${cell(paragraph('36'))}</w:tr></w:tbl>`,
      paragraph('The end.'),
    ].join('')
    const { text, media } = await arrive(docx(body, { styles: STYLES, numbering: LISTS }))
    expect(text).toBe(
      [
        ...['# Report', '## Costs', '- milk', '1. first', '2. second', '  2a) part', '3. third', ''],
        ...['Name | Age', 'Ada Lovelace | 36', '', 'The end.'],
      ].join('\n'),
    )
    expect(media?.mime).toContain('wordprocessingml')
  })

  it('is shown as a person sees it: with breaks and addresses, without deleted, moved and hidden words', async () => {
    const box = '<mc:Choice><w:p><w:r><w:t>in a box</w:t></w:r></w:p></mc:Choice>'
    const second = '<mc:Fallback><w:p><w:r><w:t>in a box</w:t></w:r></w:p></mc:Fallback>'
    const body = [
      `<w:p>${run('one')}<w:r><w:tab/><w:t>two</w:t><w:br/><w:t>three</w:t></w:r></w:p>`,
      `<w:p><w:hyperlink r:id="link1">${run('the page')}</w:hyperlink>${run(' and ')}${run('secret', '<w:vanish/>')}more</w:p>`,
      `<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:moveFrom>${run('old place')}</w:moveFrom>${run('stays')}</w:p>`,
      `<w:p>${run('with a box')}<w:r><mc:AlternateContent xmlns:mc="m">${box}${second}</mc:AlternateContent></w:r></w:p>`,
      `<w:p>${run('noted')}<w:r><w:footnoteReference w:id="2"/></w:r></w:p>`,
    ].join('')
    const further = {
      footnotes: `<w:footnotes xmlns:w="w"><w:footnote w:id="2">${paragraph('see there')}</w:footnote></w:footnotes>`,
      comments: `<w:comments xmlns:w="w"><w:comment w:author="Bo" w:id="0">${paragraph('why?')}</w:comment></w:comments>`,
      header: `<w:hdr xmlns:w="w">${paragraph('Acme Inc.')}</w:hdr>`,
    }
    const { text } = await read(docx(body, further, ['https://example.com/a']))
    expect(text?.split('\n')).toEqual([
      ...['one\ttwo', 'three', 'the page (https://example.com/a) and', 'stays', 'in a box', 'with a box', 'noted[^2]'],
      ...['[^2]: see there', '[comment of Bo] why?', '', '[on each page] Acme Inc.'],
    ])
  })

  const paragraphs = (inner: string): string => `<w:p>${run('Rent is 900 ')}${inner}</w:p>`
  it.each([
    ['words put in', paragraphs(`<w:ins w:author="Ada">${run('dollars')}</w:ins>`), 'Rent is 900 dollars'],
    ['words taken out', paragraphs('<w:del><w:r><w:delText>euro</w:delText></w:r></w:del>'), 'Rent is 900'],
    ['words moved away', paragraphs(`<w:moveFrom>${run('monthly')}</w:moveFrom>`), 'Rent is 900'],
    ['words moved there', paragraphs(`<w:moveTo>${run('monthly')}</w:moveTo>`), 'Rent is 900 monthly'],
    ['a new paragraph', paragraph('Rent is 900', '<w:rPr><w:ins w:author="Ada"/></w:rPr>'), 'Rent is 900'],
    [
      'a new row',
      `<w:tbl><w:tr><w:trPr><w:ins/></w:trPr>${cell(paragraph('Rent'))}${cell(paragraph('900'))}</w:tr></w:tbl>`,
      'Rent | 900',
    ],
  ])('with tracked changes is shown as accepted and says so: %s', async (_name, body, text) => {
    expect(await read(docx(body))).toMatchObject({ text, note: TRACKED })
    expect(await read(docx(paragraphs(run('euro'))))).not.toHaveProperty('note')
  })

  const drawing = (...words: readonly string[]): string =>
    `<x xmlns:a="a" xmlns:d="d">${words.map((one) => `<d:t><a:p><a:r><a:t>${one}</a:t></a:r></a:p></d:t>`).join('')}</x>`
  it('has the words of its diagrams and charts behind its own', async () => {
    const parts = { diagramData: drawing('buy', 'sell'), chart: drawing('Sales') }
    expect(await read(docx(paragraph('Plan'), parts))).toMatchObject({
      text: 'Plan\n[diagram] buy / sell\n[chart] Sales',
    })
  })

  it('whose first paragraph is not come to its end in time is named so', async () => {
    const reading = { clock: systemClock, signal: new AbortController().signal, longest: 1_000, pagesMs: 0 }
    const unread = 'a document that took too long to read'
    expect(await document.readOffice(docx(paragraph('words'.repeat(50_000))), reading)).toEqual({ unread })
  })

  it('that is longer than wanted is cut, and says so', async () => {
    const reading = await arrive(docx(paragraph('0123456789').repeat(500)), 100)
    expect(reading).toMatchObject({ cut: 'the end', text: expect.stringMatching(/^(0123456789\n){9}0$/) })
  })

  it('without words is named so', async () => {
    expect(await arrive(docx('<w:p/>'))).toMatchObject({ unread: 'a document without text' })
  })

  it('that ends in the middle is shown up to there', async () => {
    const torn = docx(`${paragraph('words')}<w:p><w:r>`.replace('<w:p><w:r>', '<w:p></w:r>'))
    expect(await read(torn)).toMatchObject({ text: 'words', cut: 'the end' })
  })
})

const row = (...cells: readonly string[]): string => `<row>${cells.join('')}</row>`
const number = (place: string, value: number | string, style = 0): string =>
  `<c r="${place}" s="${style}"><v>${value}</v></c>`
const shared = (place: string, index: number): string => `<c r="${place}" t="s"><v>${index}</v></c>`

describe('a workbook', () => {
  it('is shown sheet by sheet, each row with what its cells show', async () => {
    const book = xlsx({
      formats: ['General', 'dd/mm/yyyy', '0.0%', '#,##0.00 &quot;€&quot;'],
      strings: ['<t>Name</t>', '<r><t>Ada </t></r><r><t>L.</t></r><rPh><t>read so</t></rPh>', '<t>two\nlines</t>'],
      sheets: {
        Costs: [
          row(shared('A1', 0), shared('B1', 2), '<c r="D1" t="inlineStr"><is><t>inline</t></is></c>'),
          row(shared('A2', 1), number('B2', 45292, 1), number('C2', 0.125, 2), number('D2', 1234.5, 3)),
          row('<c r="A3"><v></v></c>'),
          row(
            '<c r="A4" t="b"><v>1</v></c>',
            '<c r="B4" t="e"><v>#DIV/0!</v></c>',
            number('C4', '0.30000000000000004'),
          ),
          row(
            '<c r="A5" t="str"><f>A1&amp;"!"</f><v>Name!</v></c>',
            '<c r="B5"><f>SUM(B1:B4)</f></c>',
            shared('XFD5', 0),
          ),
        ].join(''),
        Empty: '',
      },
    })
    const { text } = await read(book)
    expect(text?.split('\n')).toEqual([
      'Sheet “Costs”:',
      'Name | two / lines |  | inline',
      'Ada L. | 2024-01-01 | 12.5% | 1,234.50 €',
      'row 4: TRUE | #DIV/0! | 0.3',
      'Name! | =SUM(B1:B4) | XFD5: Name',
      '',
      'Sheet “Empty”:',
    ])
  })

  it('has the characters that its XML cannot hold', async () => {
    const strings = ['<t>Line one_x000D_\nLine two</t>', '<t>a_x005F_x000D_b_x0041__x0007_</t>', '<t>a_x00_b</t>']
    const inline = '<c r="D1" t="inlineStr"><is><t>one_x000a_two</t></is></c>'
    const formula = '<c r="E1" t="str"><v>x_x0020_y</v></c>'
    const cells = [shared('A1', 0), shared('B1', 1), shared('C1', 2), inline, formula]
    expect(await read(xlsx({ strings, sheets: { A: row(...cells) } }))).toMatchObject({
      text: 'Sheet “A”:\nLine one / Line two | a_x000D_bA | a_x00_b | one / two | x y',
    })
  })

  const numbered = (no: number, more = ''): string => `<row r="${no}"${more}>${number(`A${no}`, no * 100)}</row>`
  it.each([
    ['an empty one', `${numbered(1)}<row r="2"/>${numbered(3)}${numbered(4)}`, '100\nrow 3: 300\n400'],
    ['none', numbered(1) + numbered(50), '100\nrow 50: 5000'],
    ['none at the top', numbered(3), 'row 3: 300'],
    ['a hidden one', numbered(1) + numbered(2, ' hidden="1"') + numbered(3), '100\nrow 2 (hidden): 200\n300'],
    ['one without its number', `${row('<c><v>1</v></c>')}<row/>${row('<c><v>3</v></c>')}`, '1\nrow 3: 3'],
  ])('names a row by its number where it is not the next one that is seen: %s', async (_name, rows, text) => {
    expect(await read(xlsx({ sheets: { A: rows } }))).toMatchObject({ text: `Sheet “A”:\n${text}` })
  })

  it('has the addresses behind its cells, and the notes on them', async () => {
    const link = '<hyperlinks><hyperlink ref="A1" r:id="l1"/><hyperlink ref="B1" location="C!A1"/></hyperlinks>'
    const comment = (ref: string, words: string): string =>
      `<comment ref="${ref}" authorId="0"><text><r><t>${words}</t></r></text></comment>`
    const book = xlsx({
      strings: ['<t>site</t>', '<t>inside</t>'],
      sheets: { A: row(shared('A1', 0), shared('B1', 1), '<c r="D1"/>') },
      links: { A: ['https://example.com/a', link] },
      notes: {
        A: `<comments><commentList>${comment('D1', 'ask\nBo')}${comment('B7', 'later')}</commentList></comments>`,
      },
    })
    expect((await read(book)).text?.split('\n')).toEqual([
      'Sheet “A”:',
      'site (https://example.com/a) | inside |  | (note: ask / Bo)',
      'B7: (note: later)',
    ])
  })

  it('has marks for what is struck through, in a cell or in a part of its words', async () => {
    const strings = [`<t>done</t>`, `<r><rPr><strike/></rPr><t>100</t></r><r><t xml:space="preserve"> 80</t></r>`]
    const cells = [`<c r="A1" t="s" s="1"><v>0</v></c>`, shared('B1', 1), number('C1', 5, 1)]
    const book = xlsx({ strings, formats: ['General', '0.0'], struck: [1], sheets: { A: row(...cells) } })
    expect(await read(book)).toMatchObject({ text: 'Sheet “A”:\n~~done~~ | ~~100~~ 80 | ~~5.0~~' })
  })

  it('has the words of text boxes and charts behind its cells', async () => {
    const words = (of: string): string => `<x xmlns:a="a"><a:p><a:r><a:t>${of}</a:t></a:r></a:p></x>`
    const book = xlsx({ sheets: { A: row(number('A1', 1)) }, drawn: { A: [words('Ask Bo'), words('Sales')] } })
    expect(await read(book)).toMatchObject({ text: 'Sheet “A”:\n1\n[text box] Ask Bo\n[chart] Sales' })
  })

  it('whose days begin in 1904 shows the same dates', async () => {
    const book = xlsx({ formats: ['yyyy-mm-dd'], from1904: true, sheets: { A: row(number('A1', 43830)) } })
    expect(await read(book)).toMatchObject({ text: 'Sheet “A”:\n2024-01-01' })
  })

  it('of a million rows is read as far as is wanted, in little time', async () => {
    const rows = `<row>${Array.from({ length: 100 }, (_, at) => `<c><v>${at}</v></c>`).join('')}</row>`
    const book = xlsx({ sheets: { Big: rows.repeat(20_000) } })
    const began = performance.now()
    expect(await arrive(book)).toMatchObject({ cut: 'the end', text: expect.stringContaining('0 | 1 | 2 | 3') })
    expect(performance.now() - began).toBeLessThan(15_000)
  })

  it('whose cells all show one long text costs no more than is wanted of it', async () => {
    const cells = Array.from({ length: 16_000 }, () => '<c t="s"><v>0</v></c>').join('')
    const book = xlsx({
      strings: [`<t>${'long'.repeat(250_000)}</t>`],
      sheets: { A: `<row>${cells}</row>`.repeat(20) },
    })
    expect(await arrive(book, 1_000)).toMatchObject({
      text: expect.stringMatching(/^Sheet “A”:\n(long)+/),
      cut: 'the end',
    })
  })
})

const shape = (type: string, ...lines: readonly string[]): string =>
  `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${type}"/></p:nvPr></p:nvSpPr><p:txBody>${lines
    .map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`)
    .join('')}</p:txBody></p:sp>`

describe('a presentation', () => {
  it('is shown slide by slide in its order, with titles, tables and notes', async () => {
    const table = ['a', 'b'].map(
      (words) => `<a:tc><a:txBody><a:p><a:r><a:t>${words}</a:t></a:r></a:p></a:txBody></a:tc>`,
    )
    const { text } = await read(
      pptx([
        { slide: slide(`${shape('title', 'Last')}<a:tbl><a:tr>${table.join('')}</a:tr></a:tbl>`, ' show="0"') },
        {
          slide: slide(shape('ctrTitle', 'First') + shape('body', 'one', 'two') + shape('sldNum', '1')),
          notes: `<p:notes xmlns:p="p" xmlns:a="a">${shape('body', 'say hello')}${shape('sldNum', '1')}</p:notes>`,
        },
      ]),
    )
    expect(text?.split('\n')).toEqual([
      ...['Slide 1:', '# First', '- one', '- two', 'Notes: say hello', '', 'Slide 2 (hidden):', '# Last', 'a | b'],
    ])
  })
})

describe('a document in another format', () => {
  it('of OpenDocument is shown with headings, lists and rows', async () => {
    const body = `<text:h text:outline-level="2">Costs</text:h><text:p>one<text:s/><text:tab/>two <text:a xlink:href="https://example.com">page</text:a></text:p>
      <text:list><text:list-item><text:p>milk</text:p></text:list-item></text:list>
      <text:p>noted<text:note><text:note-citation>1</text:note-citation></text:note><office:annotation><text:p>aside</text:p></office:annotation></text:p>`
    expect((await read(openDocument('text', body))).text?.split('\n')).toEqual([
      ...['## Costs', 'one two page (https://example.com)', '- milk', 'noted[1]'],
    ])
  })

  it('of OpenDocument with tracked changes is shown as accepted and says so', async () => {
    const gone = '<text:deletion><text:p>euro</text:p></text:deletion>'
    const changes = `<text:tracked-changes><text:changed-region>${gone}</text:changed-region></text:tracked-changes>`
    const words = '<text:p>Rent is <text:change-start/>900<text:change-end/></text:p>'
    expect(await read(openDocument('text', changes + words))).toMatchObject({ text: 'Rent is 900', note: TRACKED })
    const none = await read(openDocument('text', `<text:tracked-changes/>${words}`))
    expect(none).not.toHaveProperty('note')
  })

  it('of OpenDocument’s sheets is shown with its rows, those that only fill it left out', async () => {
    const shownCell = (words: string): string => `<table:table-cell><text:p>${words}</text:p></table:table-cell>`
    const empty = '<table:table-cell table:number-columns-repeated="16000"/>'
    const body = `<table:table table:name="A"><table:table-row>${shownCell('x')}<table:table-cell/>${shownCell('2024-01-01')}${empty}</table:table-row>
      <table:table-row table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>`
    expect(await read(openDocument('spreadsheet', body))).toMatchObject({ text: 'Sheet “A”:\nx |  | 2024-01-01' })
  })

  it('of OpenDocument’s slides is shown with their numbers and notes', async () => {
    const page =
      '<draw:page><draw:frame><text:p>hello</text:p></draw:frame><presentation:notes><text:p>aside</text:p></presentation:notes></draw:page>'
    expect(await read(openDocument('presentation', page))).toMatchObject({ text: 'Slide 1:\nhello\nNotes: aside' })
  })

  it('of RTF is shown without its marks, in the characters of its fonts', async () => {
    const rtf = [
      String.raw`{\rtf1\ansi\ansicpg1251\deff0{\fonttbl{\f0\fswiss\fcharset204 Arial;}{\f1\fnil\fcharset0 Arial;}}`,
      String.raw`{\*\generator Riched20;}{\info{\author nobody}}\f0 \'cf\'f0\'e8\'e2\'e5\'f2\par`,
      String.raw`\f1 Gr\'fc\'dfe \u8364? \uc1\u-10179?\u-8704? \{x\}\par a\cell b\cell\row}`,
    ].join('\n')
    const { text } = await read(Buffer.from(rtf, 'latin1'))
    expect(text?.split('\n')).toEqual(['Привет', 'Grüße € 😀 {x}', 'a | b'])
  })

  it('of an e-book is shown chapter by chapter', async () => {
    const book = zip({
      mimetype: 'application/epub+zip',
      'META-INF/container.xml': '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
      'OPS/book.opf':
        '<package><manifest><item id="b" href="b.xhtml"/><item id="a" href="text/a%20b.xhtml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>',
      'OPS/b.xhtml': '<html><head><title>no</title></head><body><h1>Two</h1><ul><li>x &amp; y</li></ul></body></html>',
      'OPS/text/a b.xhtml': '<html><body><h2>One</h2><p>Hello&nbsp;<b>you</b>,<br/>there</p></body></html>',
    })
    expect((await read(book)).text?.split('\n')).toEqual(['## One', 'Hello you,', 'there', '# Two', '- x & y'])
  })

  it.each([
    ['Word document (.doc): saved as .docx', 'WordDocument', /^an old Word document \(\.doc\), .*\.docx or PDF/],
    ['workbook', 'Workbook', /^an old workbook \(\.xls\), .*\.xlsx/],
    ['presentation', 'PowerPoint Document', /^an old presentation \(\.ppt\), .*\.pptx/],
    ['locked document', 'EncryptedPackage', /^a document that only a password opens$/],
  ])('that is old or locked is named with what to send instead: %s', async (_what, stream, why) => {
    const begin = Buffer.from('d0cf11e0a1b11ae1', 'hex')
    const file = Buffer.concat([
      begin,
      Buffer.alloc(600),
      Buffer.from(`Root Entry\0${stream}\0`, 'utf16le'),
      Buffer.alloc(600),
    ])
    expect((await arrive(file)).unread).toMatch(why)
  })

  it('that only a password opens is named so', async () => {
    const locked = '<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>'
    const why = 'a document that only a password opens'
    expect(await arrive(openDocument('text', '<text:p>x</text:p>', locked))).toMatchObject({ unread: why })
  })

  it('that is damaged is named so', async () => {
    const whole = docx(paragraph('hello'))
    expect(await arrive(whole.subarray(0, -30))).toMatchObject({ unread: 'a document that cannot be read' })
  })
})

describe('an archive', () => {
  it('is not opened: the names in it are shown, quoted like any text', async () => {
    const names = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`folder/${at}.txt`, 'x']))
    const { text, note, cut } = await arrive(zip(names))
    expect(text?.split('\n').slice(0, 2)).toEqual(['folder/0.txt', 'folder/1.txt'])
    expect({ note, cut }).toEqual({ note: 'an archive that is not opened: the names in it', cut: '10 more names' })
  })

  it('whose text unpacks to far more than is wanted is read within its bounds', async () => {
    const bomb = docx(`<w:p><w:r><w:t>${'a'.repeat(150_000_000)}</w:t></w:r></w:p>`)
    expect(bomb.length).toBeLessThan(1_000_000)
    const reading = await arrive(bomb)
    expect(reading.unread ?? reading.cut).toBeDefined()
  })

  it('with entities that stand for each other is not expanded', async () => {
    const laughs = '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
    const body = docx(paragraph('&b;')).toString('latin1')
    expect(body.length).toBeGreaterThan(0)
    const bomb = zip({
      '_rels/.rels':
        '<Relationships><Relationship Id="a" Type="x/officeDocument" Target="word/document.xml"/></Relationships>',
      'word/document.xml': `${laughs}<w:document xmlns:w="w">${paragraph('before')}${paragraph('&b;&b;')}</w:document>`,
    })
    const { text = '' } = await arrive(bomb)
    expect(text).not.toContain('haha')
  })
})
