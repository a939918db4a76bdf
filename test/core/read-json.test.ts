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

  it('brackets, commas and escaped quotes within a text count as its characters', () => {
    const value = { a: '[[[[[[,,,,,,,,,,,,"{{{{{{\\', b: '\\"' }
    expect(readJson(JSON.stringify(value), bounds)).toEqual(value)
  })

  it.each(['', '{', '{"a":1}}', "{'a':1}", 'undefined', '"', '"\\'])('%j: invalid', (text) => {
    expect(codeOf(() => readJson(text, bounds))).toBe('invalid')
  })

  it('bytes that are no UTF-8: invalid', () => {
    expect(codeOf(() => readJson(Buffer.from([0x22, 0xff, 0x22]), bounds))).toBe('invalid')
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
