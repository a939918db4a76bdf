import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { MediaStore } from '../../src/core/media.ts'
import type { FileKind } from '../../src/core/message.ts'
import { createReadArrived } from '../../src/media/read-arrived.ts'
import { readPdf } from '../../src/media/read-document.ts'
import { convertPage } from '../../src/web/convert-page.ts'
import { pdf, pdfForm, pdfForms, pdfInParts, pdfNaming, pdfOf } from '../fakes/files.ts'
import { mediaStoreIn } from '../fakes/media.ts'
import { countingClock } from './counting-clock.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'parley-media-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

function reader(media: Pick<MediaStore, 'keep'>, kind: FileKind = 'document', clock: Clock = systemClock) {
  const read = createReadArrived({ media, clock, logger: silentLogger })
  return (bytes: Uint8Array, longest = 1_000, signal = new AbortController().signal) =>
    read({ bytes, name: 'a.txt', kind }, longest, signal)
}

describe('a file that arrived', () => {
  it('F-G07: for which the disk has no room is named with that reason', async () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    const read = reader({ keep: () => Promise.reject(full) })
    expect(await read(Buffer.from('hello'))).toEqual({ unread: 'there is no room left for files here' })
  })

  it('F-G07: that cannot be kept, the folder being none, is named', async () => {
    const path = join(folder(), 'media')
    writeFileSync(path, 'no folder')
    expect(await reader(mediaStoreIn(path))(Buffer.from('hello'))).toEqual({ unread: 'it could not be kept' })
  })

  it('R9: is kept as it came and its text cut between characters', async () => {
    const store = mediaStoreIn(join(folder(), 'media'))
    const bytes = Buffer.from(`${'a'.repeat(9)}😀 and more`)
    const reading = await reader(store)(bytes, 10)
    expect(reading).toMatchObject({ text: 'a'.repeat(9), cut: '11 more characters' })
    if (reading.media) expect(Buffer.from(await store.read(reading.media.media))).toEqual(bytes)
    expect.assertions(2)
  })

  it.each(['', ' \n\t '])('F-G07: of %j it is said that there is nothing in it', async (text) => {
    const read = reader(mediaStoreIn(join(folder(), 'media')))
    expect(await read(Buffer.from(text))).toEqual({ media: expect.anything(), unread: 'there is nothing in it' })
    expect(await read(Buffer.from(`${' '.repeat(20)}a`), 10)).toMatchObject({ text: ' '.repeat(10) })
  })

  it('F-G07: of a text whose beginning alone was looked at it is not said that there is nothing in it', async () => {
    const read = reader(mediaStoreIn(join(folder(), 'media')))
    const words = Buffer.from(`${' '.repeat(1_000_000)}words`)
    expect(await read(words)).toMatchObject({ text: ' '.repeat(1_000), cut: 'the rest of 1.0 MB' })
  })

  it('F-G07: a long text is not decoded to its end: only its beginning is looked at, in any encoding', async () => {
    const read = reader(mediaStoreIn(join(folder(), 'media')))
    const long = (unit: string, encoding: BufferEncoding) => Buffer.alloc(5_000_000, Buffer.from(unit, encoding))
    const shown = { text: expect.stringMatching(/^(grüße )+gr?ü?ß?e?$/), cut: 'the rest of 5.0 MB' }
    const decoded: number[] = []
    const { decode } = TextDecoder.prototype
    onTestFinished(() => void Object.assign(TextDecoder.prototype, { decode }))
    TextDecoder.prototype.decode = function (this: InstanceType<typeof TextDecoder>, bytes, options) {
      decoded.push(bytes?.byteLength ?? 0)
      return decode.call(this, bytes, options)
    }
    expect(await read(long('grüße ', 'utf8'))).toMatchObject(shown)
    expect(await read(long('grüße ', 'latin1'))).toMatchObject(shown)
    expect(await read(Buffer.concat([Buffer.from([0xff, 0xfe]), long('grüße ', 'utf16le')]))).toMatchObject(shown)
    expect(Math.max(...decoded)).toBeLessThanOrEqual(1_000_000)
  })

  it('R9: a character that is cut in two where the look at a long text ends is left out, whatever its encoding', async () => {
    const read = reader(mediaStoreIn(join(folder(), 'media')))
    // The millionth byte is in the middle of one.
    const long = Buffer.concat([Buffer.from('g'), Buffer.alloc(1_500_000, 'ü')])
    expect(await read(long, 600_000)).toMatchObject({ text: expect.stringMatching(/^gü+$/) })
  })

  it('a sticker that moves is named so, in whatever format', async () => {
    const read = reader(mediaStoreIn(join(folder(), 'media')), 'sticker')
    expect(await read(gzipSync('{"v":"5.5.2"}'))).toMatchObject({ unread: 'it moves' })
    expect(await read(Uint8Array.of(0, 1, 2, 255))).toMatchObject({ unread: 'it moves' })
  })

  it('F-G07: no more than two PDFs are read at a time, whoever sends them', async () => {
    const clock = countingClock()
    const read = reader(mediaStoreIn(join(folder(), 'media')), 'document', clock)
    const readings = await Promise.all(['one', 'two', 'three', 'four'].map((text) => read(pdf(text))))
    expect(readings).toMatchObject([{ text: 'one' }, { text: 'two' }, { text: 'three' }, { text: 'four' }])
    expect(clock.most).toBe(2)
  })

  it('F-G07: a PDF that unpacks to more than a process may hold is not read, whatever its heap is', async () => {
    const read = reader(mediaStoreIn(join(folder(), 'media')))
    const bomb = deflateSync(Buffer.alloc(300 * 1024 * 1024, '['), { level: 9 })
    expect(bomb.length).toBeLessThan(1_000_000)
    expect(await read(pdfOf(bomb))).toMatchObject({ unread: 'a PDF that cannot be read' })
  })

  it('F-G07: a PDF whose words fill the heap ends the process that reads it, and no other', async () => {
    const read = reader(mediaStoreIn(join(folder(), 'media')))
    const bomb = deflateSync(Buffer.from(`BT /F1 12 Tf [${'(a)'.repeat(15_000_000)}] TJ`))
    expect(bomb.length).toBeLessThan(50_000)
    expect(await read(pdfOf(bomb))).toMatchObject({ unread: 'a PDF that cannot be read' })
  })

  it('F-G07: a long text of a PDF comes whole, whatever its characters', async () => {
    const read = reader(mediaStoreIn(join(folder(), 'media')))
    // The byte of an é is an Ø in the encoding of the fonts that every reader has.
    const pages = Array.from({ length: 250 }, (_, no) => `page ${no} ${'é'.repeat(15)}`)
    const text = pages.join('\n\n').replaceAll('é', 'Ø')
    expect(await read(pdf(...pages), 50_000)).toEqual({ media: expect.anything(), text })
    expect(await read(pdf(...pages), 5_000)).toMatchObject({ text: text.slice(0, 5_000) })
  })

  it('F-G07: of a PDF whose pages take too long the first ones are read', async () => {
    const reading = { clock: systemClock, signal: new AbortController().signal, longest: 1_000, pagesMs: 0 }
    expect(await readPdf(pdf('one', 'two'), reading)).toMatchObject({ text: 'one', read: 1, pages: 2, damaged: [] })
  })

  const on = (name: string): string => `/AP<</N<</${name} null/Off null>>>>`
  const forms: readonly (readonly [string, readonly string[], string])[] = [
    ['a text', ['/FT/Tx/T(surname)/V(Smith)'], 'surname: Smith'],
    ['a text with a label', ['/FT/Tx/T(f1[0])/TU(Your name)/V(Smith)'], 'f1[0] (Your name): Smith'],
    ['a text of two lines', ['/FT/Tx/Ff 4096/T(address)/V(1 Road\\rTown)'], 'address: 1 Road / Town'],
    ['a text that is empty', ['/FT/Tx/T(surname)'], 'surname: (empty)'],
    ['a box that is checked', [`/FT/Btn/T(married)/V/Yes/AS/Yes${on('Yes')}`], 'married: checked'],
    ['a box with a value', [`/FT/Btn/T(pays)/V/cash/AS/cash${on('cash')}`], 'pays: checked (cash)'],
    ['a box that is not checked', [`/FT/Btn/T(married)/V/Off/AS/Off${on('Yes')}`], 'married: not checked'],
    ['a box without a look', ['/FT/Btn/T(owner)/V/Yes'], 'owner: checked'],
    [
      'radio buttons',
      [
        `/FT/Btn/Ff 32768/T(size)/V/large/AS/Off${on('small')}`,
        `/FT/Btn/Ff 32768/T(size)/V/large/AS/large${on('large')}`,
      ],
      'size: large',
    ],
    [
      'radio buttons with numbers',
      [`/FT/Btn/Ff 32768/T(size)/V/1/AS/Off${on('0')}`, `/FT/Btn/Ff 32768/T(size)/V/1/AS/1${on('1')}`],
      'size: 1 (choice 2 of 2)',
    ],
    ['radio buttons of which none is chosen', [`/FT/Btn/Ff 32768/T(size)/V/Off${on('small')}`], 'size: (none chosen)'],
    ['a choice', ['/FT/Ch/Ff 131072/T(city)/Opt[[(p)(Paris)][(l)(Lyon)]]/V(l)'], 'city: Lyon'],
    ['several choices', ['/FT/Ch/Ff 2097152/T(city)/Opt[(Paris)(Lyon)(Nice)]/V[(Paris)(Nice)]'], 'city: Paris, Nice'],
  ]
  it('a PDF form has its fields behind the text, or alone where there is none', async () => {
    const read = reader(mediaStoreIn(join(folder(), 'media')))
    const of = (text: string) => pdfForms(...forms.map(([, fields]) => [text, fields] as const))
    const lines = forms.map(([name, , line]) => [name, `[field] ${line}`])
    const named = (text = '') => text.split('\n\n').map((page, at) => [forms[at]?.[0], page])
    expect(named((await read(of('Name: ____'), 5_000)).text)).toEqual(
      lines.map(([name, line]) => [name, `Name: ____\n${line}`]),
    )
    expect(named((await read(of(''), 5_000)).text)).toEqual(lines)
  })

  it('a PDF form has no fields that nobody sees, and its many fields are bounded as any text', async () => {
    const read = reader(mediaStoreIn(join(folder(), 'media')))
    const unseen = [
      '/FT/Tx/F 2/T(secret)/V(evil)',
      '/FT/Tx/F 32/T(secret)/V(evil)',
      '/FT/Tx/Ff 8192/T(password)/V(evil)',
      '/FT/Btn/Ff 65536/T(send)',
      '/FT/Sig/T(signed)',
    ]
    expect(await read(pdfForm('Name', ...unseen))).toEqual({ media: expect.anything(), text: 'Name' })
    const long = await read(pdfForm('', `/FT/Tx/T(a)/V(${'x'.repeat(6_000)})`, '/FT/Tx/T(b)/V(c)'), 10_000)
    expect(long.text).toBe(`[field] a: ${'x'.repeat(5_000)}\n[field] b: c`)
    const many = Array.from({ length: 300 }, (_, no) => `/FT/Tx/T(f${no})/V(${'x'.repeat(50)})`)
    const reading = await read(pdfForm('Name', ...many), 1_000)
    expect(reading).toMatchObject({ cut: 'the end' })
    expect(reading.text).toHaveLength(1_000)
  })

  const inFonts = 'words are in Chinese, Japanese or Korean fonts that cannot be read here'
  it.each([
    ['UniJIS-UCS2-H', 'Japan1'],
    ['90ms-RKSJ-H', 'Japan1'],
    ['GBK-EUC-H', 'GB1'],
    ['Identity-H', 'Korea1'],
  ])(
    'a PDF with words in a font by the table %s says that they are missing, and never that it is a picture',
    async (table, ordering) => {
      const read = reader(mediaStoreIn(join(folder(), 'media')))
      const note = expect.stringContaining(`some ${inFonts}`)
      expect(await read(pdfNaming(table, ordering, 'Invoice 15'))).toMatchObject({ text: 'Invoice 15', note })
      expect(await read(pdfNaming(table, ordering, ''))).toMatchObject({ unread: expect.stringContaining(inFonts) })
    },
  )

  /** The objects of pages from this one on are no pages any more. */
  const damaged = (bytes: Uint8Array, from: number, to = from): Buffer => {
    let no = 0
    const spoilt = (page: string, inner: string): string => (++no >= from && no <= to ? `obj[${inner}]endobj` : page)
    return Buffer.from(
      Buffer.from(bytes)
        .toString('latin1')
        .replace(/obj<<(\/Type\/Page\/.*)>>endobj/g, spoilt),
      'latin1',
    )
  }

  it('F-G07: of a PDF with a damaged page those that can be read are', async () => {
    const read = reader(mediaStoreIn(join(folder(), 'media')))
    const inParts = await read(damaged(pdfInParts('one', 'two', 'three'), 2))
    expect(inParts).toMatchObject({ text: 'one\n\nthree', cut: 'the damaged pages 2' })
    const inARow = await read(damaged(pdf('one', 'two', 'three'), 2))
    expect(inARow).toMatchObject({ text: 'one', cut: 'the damaged pages 2, and what comes after them' })
  })

  it('F-G07: of many damaged pages the first ten are named', async () => {
    const read = reader(mediaStoreIn(join(folder(), 'media')))
    const lost = Array.from({ length: 12 }, () => 'lost')
    const cut = 'the damaged pages 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, and others'
    expect(await read(damaged(pdfInParts('one', ...lost, 'end'), 2, 13))).toMatchObject({ text: 'one\n\nend', cut })
  })

  it('F-G07: a PDF that only a password opens is named so', async () => {
    const read = reader(mediaStoreIn(join(folder(), 'media')))
    const locked = new URL('../fixtures/locked.pdf', import.meta.url)
    expect(await read(readFileSync(locked))).toMatchObject({ unread: 'a PDF that only a password opens' })
  })

  it('F-G07: a PDF that is no longer wanted is given up, and its process ends with it', async () => {
    const stopped = new AbortController()
    const reading = reader(mediaStoreIn(join(folder(), 'media')))(pdf('hello'), 1_000, stopped.signal)
    stopped.abort()
    expect(await reading).toMatchObject({ unread: 'a PDF that cannot be read' })
  })
})

describe('a page that arrived as a file', () => {
  const style = `<style>${'.a { color: #000000; margin: 0 auto }\n'.repeat(1_000)}</style>`
  const page = (words = '<h1>Receipt</h1><p>Total: 42 €</p>', title = '') =>
    `<!doctype html><html><head>${title}${style}</head><body>${words}</body></html>`
  const note = 'a page as people read it, without its code'
  const readPage = (source: string | Uint8Array, { name = 'a.html', longest = 1_000 } = {}) => {
    const media = mediaStoreIn(join(folder(), 'media'))
    const read = createReadArrived({ media, clock: systemClock, logger: silentLogger, convertPage })
    const file = { bytes: typeof source === 'string' ? Buffer.from(source) : source, name, kind: 'document' } as const
    return read(file, longest, new AbortController().signal)
  }

  it('R9: whose styles are longer than is shown is shown as its words', async () => {
    const media = expect.anything()
    expect(await readPage(page())).toEqual({ media, text: '# Receipt\n\nTotal: 42 €', note })
    const titled = await readPage(page('<p>Total: 42 €</p>', '<title>Receipt 7</title>'))
    expect(titled).toEqual({ media, text: 'Receipt 7\n\nTotal: 42 €', note })
  })

  it.each([
    ['a name that says nothing', page(), 'download'],
    ['a prologue of XML and a comment', `<?xml version="1.0"?>\n<!-- saved -->\n${page()}`, 'a.xhtml'],
    ['no beginning of a page, and its name', `${style}<p>Total: 42 €</p>`, 'receipt.HTM'],
  ])('R9: with %s is shown as its words', async (_, source, name) => {
    expect(await readPage(source, { name })).toMatchObject({ text: expect.stringMatching(/Total: 42 €$/), note })
  })

  it('R9: is read in the encoding that it names, and its words are cut as those of a text', async () => {
    const meta = '<meta charset="windows-1251">'
    const [before = '', after = ''] = page('@', meta).split('@')
    const words = Uint8Array.of(0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2)
    const bytes = Buffer.concat([Buffer.from(before), words, Buffer.from(` ${'x'.repeat(2_000)}${after}`)])
    expect(await readPage(bytes)).toMatchObject({
      text: `Привет ${'x'.repeat(993)}`,
      cut: '1007 more characters',
      note,
    })
  })

  it('R9: is shown as its source where that is shown whole, or where it has no words', async () => {
    const source = '<!doctype html><script>let a = 1</script><p>x</p>'
    expect(await readPage(source)).toEqual({ media: expect.anything(), text: source })
    const empty = await readPage(page(''))
    expect(empty).toMatchObject({ text: expect.stringMatching(/^<!doctype html>/), cut: expect.anything() })
  })

  it.each(['README.md', 'notes.txt', 'a.svg'])('R9: a text called %s that begins with a tag is none', async (name) => {
    const source = `<p align="center">A title</p>\n\n${'* a point\n'.repeat(500)}`
    expect(await readPage(source, { name })).toMatchObject({ text: source.slice(0, 1_000) })
  })
})
