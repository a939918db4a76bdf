import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { kindOf } from '../../src/media/media-kind.ts'
import { createReadArrived } from '../../src/media/read-arrived.ts'
import { encodeIn } from '../fakes/encode-text.ts'
import { gif, jpegHeader, ogg, pdf, png } from '../fakes/files.ts'
import { mediaStoreIn } from '../fakes/media.ts'

function read(bytes: Uint8Array) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-kinds-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const media = mediaStoreIn(join(folder, 'media'))
  const reader = createReadArrived({ media, clock: systemClock, logger: silentLogger })
  return reader({ bytes, name: 'a', kind: 'document' }, 1_000, new AbortController().signal)
}

/** Every signature of the library that is written with characters a text may begin with. */
const SIGNATURES = [
  ...['BM', 'MZ', 'GIF', 'ID3', 'MP+', 'CWS', 'FWS', 'FLIF', '8BPS', 'MPCK', 'FORM', 'icns', 'PK', 'OggS', 'MThd'],
  ...['wOFF', 'wOF2', 'DSD ', 'LZIP', 'fLaC', 'wvpk', '%PDF', 'II', 'MM', 'II*', 'MM*', 'MAC ', 'SQLi', 'Cr24', 'MSCF'],
  ...['ISc(', 'PAR1', 'PARE', 'ttcf', 'regf', '$FL2', '$FL3', 'OTTO', '#!AMR', '{\\rtf', 'FLV', 'IMPM', 'ITSF', '.RMF'],
  ...[
    'DRACO',
    '7z',
    'Rar!',
    'solid ',
    'AC',
    '070707',
    'BLENDER',
    '!<arch>',
    'RIFF',
    'gimp xcf ',
    'REGEDIT4\r\n',
    'BZh',
  ],
  ...[
    '%!',
    '%!PS',
    'Obj',
    'SIMPLE',
    'glTF',
    'ARROW1',
    'IIRO',
    'AS-01',
    '-lh5-',
    'x-lh5-',
    'abcdftyp',
    'ftypheic',
    'RIFF1234WEBP',
  ],
  ...[
    'RIFF1234WAVE',
    'RIFF1234AVI ',
    'FORM1234AIFF',
    'WEBVTTX',
    'BEGIN:',
    'LP',
    'JVM',
    'GRIB',
    'ADIF',
    'EGG!',
    'ID3v2',
  ],
]

describe('a text that begins as another format does', () => {
  it.each(SIGNATURES)('%j is a text', async (begin) => {
    const text = `${begin} notes = [1, 2]\nGrüße\n`
    expect(await read(Buffer.from(text))).toEqual({ media: expect.objectContaining({ type: 'file' }), text })
  })

  it.each([
    ['GIFTS = ["kite"]\n', 'utf-8'],
    ['BM25 — это функция ранжирования документов\n', 'windows-1251'],
    ['PK Москва: список документов\n', 'windows-1251'],
    ['яблоки;10\nгруши;20\n', 'windows-1251'],
    ['%PDF is a format. %PDF-1.7 is its header.', 'utf-8'],
    ['%PDF-1.7 begins a file', 'utf-8'],
    ['{\\rtf is a mark', 'utf-8'],
  ])('%j in %s is a text, whatever its encoding', async (text, encoding) => {
    const bytes = encoding === 'utf-8' ? Buffer.from(text) : encodeIn(encoding, text)
    expect((await read(bytes)).text).toBe(text)
  })

  it('which an old program has ended with its mark is read without that', async () => {
    expect((await read(Buffer.from('name;age\r\nada;36\r\n\x1a'))).text).toBe('name;age\r\nada;36\r\n')
  })

  it.each([
    ['a text of a calendar', 'BEGIN:VCALENDAR\nVERSION:2.0\n', 'text/calendar'],
    ['XML', '<?xml version="1.0"?><a/>', 'application/xml'],
    ['PostScript', '%!PS-Adobe-3.0\n1 2 add', 'application/postscript'],
    ['RTF', '{\\rtf1 hello}', 'application/rtf'],
    ['a PDF of text alone', Buffer.from(pdf('hello')).toString('latin1'), 'application/pdf'],
  ])('%s is what its complete first line says', async (_what, text, mime) => {
    expect(await kindOf(Buffer.from(text, 'latin1'))).toEqual({ type: 'file', mime })
  })

  it.each([
    ['a PNG', png(2, 2), 'image/png'],
    ['a GIF', gif(1), 'image/gif'],
    ['a JPEG', jpegHeader(2, 2), 'image/jpeg'],
    ['a recording', ogg(), 'audio/ogg'],
    ['what is packed', gzipSync('text'), 'application/gzip'],
    ['a picture of two bytes a colour', Buffer.concat([Buffer.from('BM'), Buffer.alloc(60)]), 'image/bmp'],
  ])('%s is no text', async (_what, bytes, mime) => {
    expect((await kindOf(bytes)).mime).toBe(mime)
  })
})

describe('a text with characters that no text has', () => {
  const log = (line: string) =>
    Buffer.from(`2026-01-01 10:00:00 INFO it began\n${line}\n2026-01-01 10:00:09 INFO it ended\n`)
  it.each([
    ['a zero within', log('a line\0 of it'), /a line of it/],
    [
      'zeros that a crash left',
      Buffer.concat([log('one'), Buffer.alloc(4_096), log('two')]),
      /one\n.*ended\n2026.*two/s,
    ],
    [
      'zeros that a crash left in another encoding',
      Buffer.concat([encodeIn('windows-1251', 'Запуск службы\n'.repeat(40)), Buffer.alloc(512)]),
      /^Запуск службы\n/,
    ],
    ['a zero at its end', Buffer.from('{"name":"Ada"}\0'), /^{"name":"Ada"}$/],
    ['a short word and a zero', Buffer.from('short\0text'), /^shorttext$/],
    ['backspaces', log('done 10 %\b\b\b\b20 %\b\b\b\b30 %'), /done 10 %....20 %/],
    ['a bell', log('Größe \x07'), /Größe/],
  ])('%s is one', async (_what, bytes, text) => {
    const shown = await read(bytes)
    expect(shown).toMatchObject({ media: { mime: 'text/plain' }, text: expect.stringMatching(text) })
    expect(shown.text).not.toContain('\0')
  })

  const noise = Buffer.from(Array.from({ length: 3_000 }, (_, at) => (at * at * 31 + at * 7) % 251))
  it.each([
    ['noise', noise],
    ['zeros alone', Buffer.alloc(5_000)],
    [
      'records of a program',
      Buffer.from(Array.from({ length: 50 }, (_, at) => `\x03\0\0\0name${at}\x01\0\0\0value`).join('')),
    ],
    ['a text that is packed in another file', Buffer.concat([Buffer.from('words of a header\n'.repeat(9)), noise])],
    ['a few bytes', Uint8Array.of(3, 0, 0, 0, 65, 66)],
  ])('%s is none', async (_what, bytes) => {
    expect((await read(bytes)).unread).toBe('of no known type')
  })
})

describe('a PDF behind something else', () => {
  const whole = Buffer.from(pdf('hello'))
  const mark = Buffer.from('\ufeff')
  it.each([
    ['line ends', '\r\n\n'],
    ['a mark', mark],
    ['a mark and a line end', Buffer.concat([mark, Buffer.from('\n')])],
    ['the head of a message', 'Content-Type: application/pdf\r\nContent-Length: 900\r\n\r\n'],
    ['a kilobyte of spaces', ' '.repeat(1_000)],
  ])('is one: %s', async (_what, begin) => {
    const { media, text } = await read(Buffer.concat([Buffer.from(begin), whole]))
    expect({ mime: media?.mime, text }).toEqual({ mime: 'application/pdf', text: 'hello' })
  })

  it('with packed parts is one', async () => {
    const bytes = Buffer.concat([Buffer.from('junk '), whole, gzipSync(Buffer.from(SIGNATURES.join('\n')))])
    expect((await kindOf(bytes)).mime).toBe('application/pdf')
  })

  it.each([
    ['words about its header', 'A file begins so:\n%PDF-1.7\nand then come objects.'],
    ['a whole one that is shown as code', `# The form of a file\n\n\`\`\`\n${whole.toString('latin1')}\n\`\`\`\n`],
    ['words before its header', `${'word '.repeat(300)}\n%PDF-1.7\n`],
  ])('is a text: %s', async (_what, text) => {
    expect((await kindOf(Buffer.from(text))).mime).toBe('text/plain')
  })
})

it('a text whose encoding is a guess is shown with a word about that', async () => {
  const { text, note } = await read(encodeIn('windows-1250', 'Imię;Miasto\nŻaneta;Łódź\n'))
  expect({ text, note }).toEqual({
    text: 'Imię;Miasto\nŻaneta;Łódź\n',
    note: 'read as windows-1250, which is a guess',
  })
})

it.each([
  ['a page', '<html><head><meta charset="iso-8859-7"></head><body>Άνοιξη</body></html>', 'iso-8859-7'],
  ['XML', '<?xml version="1.0" encoding="windows-1251"?><a>Счёт</a>', 'windows-1251'],
  ['a text that speaks of one', 'Write <meta charset="iso-8859-7"> at the top: Grüße an alle von uns', 'windows-1252'],
])('%s is read in the encoding that it names for itself', async (_what, text, encoding) => {
  const reading = await read(encodeIn(encoding, text))
  expect(reading.text).toBe(text)
  if (text.startsWith('<')) expect(reading).not.toHaveProperty('note')
})
