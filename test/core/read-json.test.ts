import { describe, expect, it } from 'vitest'
import { JsonMeter, measureJson, readJson } from '../../src/core/read-json.ts'

const bounds = { bytes: 1_000, depth: 5, values: 10 }
const codeOf = (read: () => unknown): unknown => {
  try {
    return read()
  } catch (error) {
    return (error as { code?: string }).code
  }
}

describe('readJson', () => {
  it('JSON within its bounds, as a text or as bytes: its value', () => {
    expect(readJson('{"a":[1,"é"]}', bounds)).toEqual({ a: [1, 'é'] })
    expect(readJson(Buffer.from('{"a":[1,"é"]}'), bounds)).toEqual({ a: [1, 'é'] })
    expect(readJson(new Uint8Array(Buffer.from('xx1')).subarray(2), bounds)).toBe(1)
  })

  it.each([
    ['more bytes', '"'.padEnd(1_001, 'x'), 'bytes'],
    ['more levels', '[[[[[[]]]]]]', 'levels'],
    ['more items', '[0,0,0,0,0,0,0,0,0,0,0]', 'values'],
    ['more members', JSON.stringify(Object.fromEntries(Array.from({ length: 11 }, (_, at) => [at, 0]))), 'values'],
    ['more empty lists', `[${Array.from({ length: 6 }, () => '[]').join()}]`, 'values'],
  ])('%s than the bound: too_long, in words about the bound', (_title, text, named) => {
    expect(codeOf(() => readJson(text, bounds))).toBe('too_long')
    expect(() => readJson(Buffer.from(text), bounds)).toThrow(named)
  })

  it('more than a megabyte of names with more than 64 bytes each: too_long; short names and values of any length pass', () => {
    const wide = { bytes: 20_971_520, values: 60_000 }
    const named = (count: number, length: number, value: string) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}`.padEnd(length, 'k'), value])))
    expect(() => readJson(named(28_000, 690, ''), wide)).toThrow('bytes of names')
    expect(codeOf(() => measureJson(named(1_100, 1_000, ''), wide))).toBe('too_long')
    expect(Object.keys(readJson(named(50_000, 64, ''), wide) as object)).toHaveLength(50_000)
    expect(Object.keys(readJson(named(5_000, 100, 'x'.repeat(1_000)), wide) as object)).toHaveLength(5_000)
  })

  it('brackets, commas and escaped quotes within a text count as its characters', () => {
    const value = { a: '[[[[[[,,,,,,,,,,,,"{{{{{{\\', b: '\\"' }
    expect(readJson(JSON.stringify(value), bounds)).toEqual(value)
  })

  it.each(['', '{', '{"a":1}}', "{'a':1}", 'undefined', '"', '"\\'])('%j: invalid', (text) => {
    expect(codeOf(() => readJson(text, bounds))).toBe('invalid')
  })

  it.each([
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['UTF-16 with its mark', Buffer.from('\ufeff{"a":1}', 'utf16le')],
    ['UTF-16 the other way', Buffer.from('\ufeff{"a":1}', 'utf16le').swap16()],
    ['UTF-16 without a mark', Buffer.from('{"a":"[[[[[[[[[["}', 'utf16le')],
    ['UTF-16 without a mark, the other way', Buffer.from('[]', 'utf16le').swap16()],
  ])('%s: invalid, in words that name UTF-8', (_title, bytes) => {
    expect(codeOf(() => readJson(bytes, bounds))).toBe('invalid')
    expect(() => readJson(bytes, bounds)).toThrow('UTF-8')
  })

  it('a mark of UTF-8 in front counts as absent, and with nothing behind it as no JSON', () => {
    expect(readJson(Buffer.from('\ufeff{"a":"\ufeff"}'), bounds)).toEqual({ a: '\ufeff' })
    expect(readJson('\ufeff[1]', bounds)).toEqual([1])
    for (const empty of ['', '\ufeff', ' \n'])
      for (const source of [empty, Buffer.from(empty)]) expect(() => readJson(source, bounds)).toThrow('it is empty')
    expect(codeOf(() => readJson('\ufeff\ufeff1', bounds))).toBe('invalid')
  })

  it('half a character, alone, behind a whole one, or before a backslash: U+FFFD, in names too; whole ones stay', () => {
    const text = String.raw`{"\udc00":["\ud83d","\uDE00x","\ud83d\ude00","\ud83d\\ude00","\\ud83d\ude00","😀\uD83D"],"b":{"c":1}}`
    const right = {
      '\ufffd': ['\ufffd', '\ufffdx', '😀', '\ufffd\\ude00', '\\ud83d\ufffd', '😀\ufffd'],
      b: { c: 1 },
    }
    for (const source of [text, Buffer.from(text)]) expect(readJson(source, { ...bounds, values: 20 })).toEqual(right)
    expect(readJson('["\ud83d"]', bounds)).toEqual(['\ufffd'])
    expect(readJson(String.raw`{"__proto__":"\ud83d"}`, bounds)).toEqual(JSON.parse('{"__proto__":"\ufffd"}'))
  })

  it('half a character where texts go on in the next one: kept', () => {
    expect(readJson(String.raw`"\ud83d"`, { ...bounds, halves: true })).toBe('\ud83d')
  })

  it('a text of too many values is left at the first that exceeds the bound', () => {
    let looked = 0
    const bytes = new Proxy(Buffer.from(`[${'0,'.repeat(100_000)}0]`), {
      get(target, name) {
        if (typeof name === 'string' && /^\d+$/.test(name)) looked++
        const value = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    expect(codeOf(() => measureJson(bytes, bounds))).toBe('too_long')
    expect(looked).toBeLessThan(50)
  })
})

describe('JsonMeter', () => {
  const text = JSON.stringify({ a: ['x\\"[,{', 'é\\', [1, 2]], b: { c: '\\\\"' } })

  it.each([1, 2, 3, 7, 1000])('a text in pieces of %i bytes: the size that it has in one', (length) => {
    const meter = new JsonMeter({ bytes: 1_000, values: 100 })
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += length) meter.add(bytes.subarray(at, at + length))
    expect(meter.size).toEqual(measureJson(text, { values: 100 }))
  })

  it('pieces that exceed a bound together: too_long with the first that does', () => {
    const meter = (more: object) => new JsonMeter({ ...bounds, ...more })
    const bytes = meter({ bytes: 3 })
    bytes.add(Buffer.from('"ab'))
    expect(codeOf(() => bytes.add(Buffer.from('c"')))).toBe('too_long')
    const values = meter({ values: 3 })
    values.add(Buffer.from('[1,'))
    expect(codeOf(() => values.add(Buffer.from('2,')))).toBe('too_long')
    const depth = meter({ depth: 2 })
    depth.add(Buffer.from('[['))
    expect(codeOf(() => depth.add(Buffer.from('[')))).toBe('too_long')
  })
})

describe('measureJson', () => {
  it('counts every value and the deepest level', () => {
    expect(measureJson('{"a":[1,2,[3]],"b":"x"}', { values: 100 })).toEqual({ depth: 3, values: 7 })
    expect(measureJson('1', { values: 100 })).toEqual({ depth: 0, values: 1 })
  })
})
