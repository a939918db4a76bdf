import { describe, expect, it } from 'vitest'
import { readDeclared } from '../../src/core/read-text.ts'
import { cost } from '../fakes/cost.ts'

type Part = string | readonly number[]

const bytes = (...parts: Part[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))))

const JAPAN_SJIS = [0x93, 0xfa, 0x96, 0x7b]
const JAPAN_EUC = [0xc6, 0xfc, 0xcb, 0xdc]
const CHINA_GBK = [0xd6, 0xd0, 0xb9, 0xfa]
const KOREA_EUC = [0xc7, 0xd1, 0xb1, 0xb9]
const HELLO_1251 = [0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]
const HELLO_KOI8 = [0xf0, 0xd2, 0xc9, 0xd7, 0xc5, 0xd4]
const UTF_8 = [...Buffer.from('日本')]

const page = (header: string, ...parts: Part[]) => readDeclared(bytes(...parts), { header, kind: 'page' })

describe('the encoding of a page', () => {
  it.each([
    ['a mark before the header', 'text/html; charset=shift_jis', [[0xef, 0xbb, 0xbf], UTF_8], '日本'],
    ['the header before the page', 'text/html;charset=x-sjis', ['<meta charset=utf-8>', JAPAN_SJIS], '日本'],
    ['a quoted header', `text/html; charset="EUC-KR"`, [KOREA_EUC], '한국'],
    ['an attribute in single quotes', 'text/html', [`<meta charset='x-sjis'>`, JAPAN_SJIS], '日本'],
    ['an attribute between spaces', '', ['<META   CHARSET = "euc-jp" />', JAPAN_EUC], '日本'],
    ['an attribute behind another', '', ['<meta data-x="a>b" charset=gb2312>', CHINA_GBK], '中国'],
    ['an attribute without a space before its slash', '', ['<meta/charset=windows-1251>', HELLO_1251], 'Привет'],
    [
      'the older element',
      '',
      [`<meta content="text/html; charset=koi8-r" http-equiv="Content-Type">`, HELLO_KOI8],
      'Привет',
    ],
    [
      'the older element with quotes within',
      '',
      [`<meta http-equiv=content-type content='text/html; charset = "windows-1251"'>`, HELLO_1251],
      'Привет',
    ],
    ['utf-16 that is said in ASCII: it is UTF-8', '', ['<meta charset="utf-16">', UTF_8], '日本'],
    ['x-user-defined, which means windows-1252', '', ['<meta charset=x-user-defined>', [0x80]], '€'],
    ['iso-8859-1, which means windows-1252', 'text/html; charset=ISO-8859-1', [[0x93, 0x80, 0x94]], '“€”'],
    ['the prologue of XHTML', '', ['<?xml version="1.0" encoding="Shift_JIS"?><html>', JAPAN_SJIS], '日本'],
    [
      'the second element, where the first names none there is',
      '',
      ['<meta charset=klingon><meta charset=gbk>', CHINA_GBK],
      '中国',
    ],
    ['nothing, as UTF-8', 'text/html', ['<p>', UTF_8], '日本'],
    [
      'the page, where its bytes are not in the encoding of the header',
      'text/html; charset=utf-8',
      ['<meta charset=euc-kr>', KOREA_EUC],
      '한국',
    ],
  ] as const)('is that of %s', (_name, header, parts, expected) => {
    const read = page(header, ...parts)
    expect(read.text).toContain(expected)
    expect(read).toMatchObject({ damaged: false })
    expect(read.guessed).toBeUndefined()
  })

  it.each([
    ['in a comment', ['<!-- <meta charset=shift_jis> -->', UTF_8]],
    ['in an attribute', [`<body title='<meta charset=shift_jis>'>`, UTF_8]],
    ['in the text', ['charset=shift_jis ', UTF_8]],
    ['in a description', [`<meta name=description content="text/html; charset=shift_jis">`, UTF_8]],
    ['in another attribute', ['<meta data-charset=shift_jis>', UTF_8]],
    ['far behind the beginning', ['<p>'.repeat(5_000), '<meta charset=shift_jis>', UTF_8]],
  ] as const)('is not what stands %s', (_name, parts) => {
    expect(page('text/html', ...parts)).toMatchObject({ encoding: 'utf-8', damaged: false })
  })

  it('is guessed, and said to be, where nothing names one and the bytes are no UTF-8', () => {
    expect(page('text/html', '<p>na\xefve')).toMatchObject({
      text: '<p>naïve',
      encoding: 'windows-1252',
      guessed: true,
    })
    expect(page('text/html; charset=utf-8', '<p>na\xefve')).toMatchObject({ encoding: 'utf-8', damaged: true })
  })

  it('is UTF-16 without a mark where the first characters of XML say so, and by its header', () => {
    const wide = (text: string) => Buffer.from(text, 'utf16le')
    expect(readDeclared(wide('<?xml version="1.0"?><a>日本'), { header: '', kind: 'xml' }).text).toContain('日本')
    expect(readDeclared(wide('<!doctype html><p>日本').swap16(), { header: '', kind: 'page' }).text).toContain('日本')
    expect(readDeclared(wide('日本'), { header: 'charset=utf-16le', kind: 'text' }).text).toBe('日本')
  })

  it('of a feed is that of its prologue, and of a text that of its header alone', () => {
    const feed = bytes(`<?xml version='1.0' encoding='windows-1251' ?><rss>`, HELLO_1251)
    expect(readDeclared(feed, { header: 'text/xml', kind: 'xml' }).text).toContain('Привет')
    expect(readDeclared(bytes('encoding="shift_jis" ', UTF_8), { header: '', kind: 'text' }).text).toContain('日本')
  })

  it('of a beginning leaves out the character that is cut in two', () => {
    const cut = Buffer.from('日本').subarray(0, 5)
    expect(readDeclared(cut, { header: '', kind: 'text', stream: true })).toMatchObject({ text: '日', damaged: false })
  })

  it('is found in one pass', async () => {
    const hostile = [
      '<meta '.repeat(2_000),
      '<!--'.repeat(3_000),
      `<a ${'b '.repeat(5_000)}`,
      '<meta content="charset=',
    ]
    const microseconds = await cost(() => hostile.map((text) => page('', text)))
    expect(microseconds).toBeLessThan(300_000)
  })
})
