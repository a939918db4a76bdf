import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { DOORS } from '../../src/core/doors.ts'
import { wordsOf } from '../../src/hooks/call-words.ts'

const FORM = 'application/x-www-form-urlencoded'
const latin = (text: string) => Buffer.from(text, 'latin1')
const words = (body: string | Buffer, contentType?: string) => wordsOf({ body: Buffer.from(body), contentType })
const bigEndian = (text: string) => Buffer.from(text, 'utf16le').swap16()

describe('the words of a call in a form', () => {
  it('GitHub’s payload: the JSON as it was encoded', () => {
    const json = '{"zen":"Größe + ☕ = 100%","a":"x y"}'
    expect(words(`payload=${encodeURIComponent(json)}`, FORM)).toBe(json)
    expect(words(new URLSearchParams({ payload: json }).toString(), `${FORM}; charset=UTF-8`)).toBe(json)
    expect(words(`\ufeffpayload=${encodeURIComponent(json)}\r\n`, 'Application/X-WWW-Form-URLEncoded')).toBe(json)
  })

  it('a long payload is cut by the length that it has decoded', () => {
    const json = `{"a":"${'ü'.repeat(31_000)}"}`
    expect(words(`payload=${encodeURIComponent(json)}`, FORM)).toBe(json)
    expect(words(`payload=${encodeURIComponent('ü'.repeat(40_000))}`, FORM)).toBe(
      `${'ü'.repeat(32_000)}\n(cut: 32000 of 40000 characters)`,
    )
  })

  it.each([
    [
      'several fields',
      'From=%2B4930&Body=Caf%C3%A9+um+8%3F&NumMedia=0',
      FORM,
      'From: +4930\nBody: Café um 8?\nNumMedia: 0',
    ],
    ['a field without a value or a sign', 'on=&red&a%5Bb%5D=1', FORM, 'on: \nred: \na[b]: 1'],
    [
      'another charset, escaped and not',
      latin('a=%FCber&b=f\xfcr&c=%80'),
      `${FORM};charset=windows-1252`,
      'a: über\nb: für\nc: €',
    ],
    ['a percent sign by itself', 'a=50%&b=%zz%4', FORM, 'a: 50%\nb: %zz%4'],
    ['a payload beside other fields', 'payload=%7B%7D&sign=x', FORM, 'payload: {}\nsign: x'],
  ] as const)('%s: a line for each', (_title, body, type, shown) => {
    expect(words(Buffer.from(body as string | Buffer), type)).toBe(shown)
  })

  it.each([
    '{"red":"a=b&c=d"}',
    '[1]=2',
    'the build = red & green',
    '<a href="x?y=z">',
    'https://ci.example.org/run?id=7&x=1',
    'key=a value\nother=b',
    'no sign',
  ])('%s, which is no form although `curl -d` says so: as it is', (body) => {
    expect(words(body, FORM)).toBe(body)
  })

  it('more fields than platforms send: the first, and it says so', () => {
    const shown = words(Array.from({ length: 1_500 }, (_, at) => `f${at}=${at}`).join('&'), FORM)
    expect(shown).toContain('f999: 999\n(the first 1000 fields)')
    expect(shown).not.toContain('f1000')
  })
})

describe('the words of a call in an unknown charset', () => {
  it.each(['application/json; charset=utf-9', undefined])('%s: a short text with a few bad bytes is a text', (type) => {
    expect(words(latin('{"by":"J\xf6rg"}'), type)).toContain('{"by":"J\ufffdrg"}')
  })
})

describe('the words of a call in parts', () => {
  it('fields and files as a library sends them: texts are shown, what is none is named', async () => {
    const form = new FormData()
    form.set('subject', 'Größe')
    form.set('notes', 'one\r\ntwo')
    form.set('log', new Blob(['done ✓'], { type: 'text/plain' }), 'build log.txt')
    form.set('thumb', new Blob([Buffer.from('ffd8ffe000104a46494600010101', 'hex')], { type: 'image/jpeg' }), 'a.jpg')
    const sent = new Response(form)
    const type = sent.headers.get('content-type') ?? ''
    expect(words(Buffer.from(await sent.arrayBuffer()), type)).toBe(
      'subject: Größe\nnotes: one\r\ntwo\nlog (file build log.txt): done ✓\n' +
        'thumb (file a.jpg): (a body of 14 bytes that is no text: JPEG)',
    )
  })

  it('parts with bare line ends, unquoted names, a charset of their own and a boundary that no header names', () => {
    const body = latin(
      '--xx\nContent-Disposition: form-data; name=a\nContent-Type: text/plain; charset=iso-8859-1\n\nf\xfcr\n--xx--\n',
    )
    expect(words(body, 'multipart/form-data')).toBe('a: für')
    expect(words(body, 'multipart/form-data; boundary="xx"')).toBe('a: für')
  })

  it('a body that has no parts whatever its type says: as it is', () => {
    expect(words('{"a":1}', 'multipart/form-data; boundary=xx')).toBe('{"a":1}')
    expect(words('{"a":1}', 'multipart/form-data')).toBe('{"a":1}')
  })
})

describe('the words of a call in another encoding', () => {
  it.each([
    ['ISO-8859-1', latin('{"a":"Gr\xf6\xdfe"}'), 'application/json; charset=ISO-8859-1', '{"a":"Größe"}'],
    ['windows-1252', latin('\x84gut\x93 \x80 5'), 'text/plain;charset="Windows-1252"', '„gut“ € 5'],
    ['windows-1251', Buffer.from('cff0e8e2e5f2', 'hex'), 'text/plain; charset=cp1251', 'Привет'],
    ['Shift_JIS', Buffer.from('93fa967b', 'hex'), 'text/plain; charset=Shift_JIS', '日本'],
    ['ISO-8859-1 by name, UTF-8 by its bytes', Buffer.from('Größe'), 'text/plain; charset=ISO-8859-1', 'Größe'],
    ['UTF-16 with its mark', Buffer.from('\ufeff{"a":"ü"}', 'utf16le'), 'application/json', '{"a":"ü"}'],
    ['UTF-16 the other way', bigEndian('\ufeff{"a":"ü"}'), 'application/json; charset=utf-8', '{"a":"ü"}'],
    ['UTF-16 without a mark', Buffer.from('{"a":"ü"}', 'utf16le'), undefined, '{"a":"ü"}'],
    ['UTF-16 without a mark, the other way', bigEndian('{"a":"ü"}'), '', '{"a":"ü"}'],
    ['UTF-8 with its mark', Buffer.from('\ufeff{"a":"ü"}'), 'application/json', '{"a":"ü"}'],
    ['a charset that nobody knows', Buffer.from('ü'), 'text/plain; charset=klingon', 'ü'],
    [
      'XML that names its own',
      latin('<?xml version="1.0" encoding="ISO-8859-1"?><a>\xfc</a>'),
      'text/xml',
      /<a>ü<\/a>$/,
    ],
    ['JSON that has the name of another in its words', Buffer.from('{"t":"charset=latin1","a":"ü"}'), '', /"ü"}$/],
    ['the zero of a program in C behind it', Buffer.from('{"a":1}\0'), '', '{"a":1}'],
    ['nothing', Buffer.alloc(0), undefined, '(no content)'],
    ['a mark and nothing else', Buffer.from('\ufeff'), 'application/json', '(no content)'],
  ] as const)('%s: the right letters', (_title, body, type, shown) => {
    if (typeof shown === 'string') expect(words(body, type)).toBe(shown)
    else expect(words(body, type)).toMatch(shown)
  })

  it('bytes that the encoding does not have: U+FFFD, and one line says so; zeros are dropped', () => {
    expect(words(latin('{"a":"sch\xf6n, and some words"}'), 'application/json')).toBe(
      '(some bytes are no UTF-8 and are shown as \ufffd)\n{"a":"sch\ufffdn, and some words"}',
    )
    expect(words(`${'words '.repeat(10)}\0.`)).toBe(`${'words '.repeat(10)}.`)
  })
})

describe('a call that is no text', () => {
  const json = JSON.stringify({ text: Array.from({ length: 99 }, (_, at) => `word ${at * 7919}`) })
  it.each([
    ['gzip', gzipSync(json), 'application/json'],
    ['zip', Buffer.from('504b0304140000000800', 'hex'), 'application/octet-stream'],
    ['PNG', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), 'image/png'],
    ['GIF', Buffer.from('4749463839610100010080', 'hex'), FORM],
  ])('%s: named with its length', (kind, body, type) => {
    expect(words(body, type)).toBe(`(a body of ${body.length} bytes that is no text: ${kind})`)
  })

  it('zeros and random bytes: named by their length', () => {
    expect(words(Buffer.alloc(64, 'a\0\u0001'))).toBe('(a body of 64 bytes that is no text)')
    expect(words(Buffer.from(Array.from({ length: 256 }, (_, at) => at)), 'text/plain')).toContain('that is no text')
  })

  it.each(['GIF89 is a format', '%PDF- begins a PDF', 'PK and BZh1', 'x^2 = 4'])('%s: a text', (text) => {
    expect(words(text)).toBe(text)
  })
})

describe('door hook: the worst that its limit allows', () => {
  const { bytes } = DOORS.hook
  it.each([
    ['escapes', `payload=${'%7b'.repeat(bytes / 3)}`, FORM],
    ['ampersands', `a=b${'&'.repeat(bytes)}`, FORM],
    ['names without an end', '%'.repeat(bytes), FORM],
    ['parts', '--x\n'.repeat(bytes / 4), 'multipart/form-data; boundary=x'],
    ['empty lines', `--x\n${'\n'.repeat(bytes)}`, 'multipart/form-data; boundary=x'],
    ['spaces', ' '.repeat(bytes), FORM],
    ['spaces before a letter', `${' '.repeat(500_000)}x`, FORM],
    ['zeros before a letter', `${'\0'.repeat(500_000)}x`, FORM],
    ['line ends before a letter', `a=${'\n'.repeat(500_000)}x`, FORM],
    ['a charset behind spaces', 'x', `text/plain; charset=${' '.repeat(100_000)}`],
    ['no characters', Buffer.alloc(bytes, 0xff), 'text/plain; charset=gb18030'],
  ] as const)('%s: no more words than the model is shown', (_title, body, type) => {
    expect(words(Buffer.from(body as string | Buffer), type).length).toBeLessThan(32_100)
  })

  it('a body of megabytes: its beginning is decoded, whole characters alone, and the rest counted as more', () => {
    const body = `a${'ü'.repeat(3_000_000)}`
    const shown = words(body)
    expect(shown).toBe(`a${'ü'.repeat(31_999)}\n(cut: 32000 of more than 524288 characters)`)
    expect(words(`payload=${encodeURIComponent(body)}`, FORM)).toContain('(cut: 32000 of more than ')
  })

  it('a character in two halves at the cut is left out whole', () => {
    expect(words(`${'a'.repeat(31_999)}😀`)).toBe(`${'a'.repeat(31_999)}\n(cut: 31999 of 32001 characters)`)
  })
})
