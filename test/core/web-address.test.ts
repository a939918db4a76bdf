import { describe, expect, it } from 'vitest'
import { addressesIn, addressKey, hasAddress, isAllowedHost } from '../../src/core/web-address.ts'
import { cost } from '../fakes/cost.ts'

describe('the addresses in a text', () => {
  it.each([
    ['https://e.org/a', 'e.org/a'],
    ['HTTPS://E.ORG', 'e.org/'],
    ['see https://e.org/a, please', 'e.org/a'],
    ['see (https://e.org/a_(b)).', 'e.org/a_(b)'],
    ['[here](https://e.org/a)', 'e.org/a'],
    ['<https://e.org/a|words>', 'e.org/a'],
    ['„https://e.org/a“', 'e.org/a'],
    ['*https://e.org/a*', 'e.org/a'],
    ['https://e.org/a?b=c&d=e#f', 'e.org/a?b=c&d=e'],
    ['http://e.org:80/', 'e.org/'],
    ['http://e.org:8080/', 'e.org:8080/'],
    ['e.org', 'e.org/'],
    ['is it e.org/a?', 'e.org/a'],
    ['(www.e.org:8080/a)', 'www.e.org:8080/a'],
    ['https://bücher.de/ä', 'xn--bcher-kva.de/%C3%A4'],
    ['bücher.de', 'xn--bcher-kva.de/'],
  ])('%s', (text, key) => {
    expect([...addressesIn(text)]).toContain(key)
    expect(hasAddress(text, key, { words: 1_000 })).toBe(true)
  })

  it('are looked for in no more words than are left, and in those alone that may be it', () => {
    const left = { words: 10 }
    const others = 'hello https://f.org/a '.repeat(50)
    expect(hasAddress(`${others} https://e.org/a`, 'e.org/a', left)).toBe(true)
    expect(left.words).toBe(9)
    expect(hasAddress(`${'http://é.org/x '.repeat(9)} https://e.org/a`, 'e.org/a', left)).toBe(false)
    expect(left.words).toBe(0)
    expect(hasAddress('https://e.org/a', 'e.org/a', left)).toBe(false)
  })

  it.each(['', 'hello.', 'me@e.org', 'a/b', 'https://', 'http://[', 'ftp://e.org/', '1.5', 'e.', 'x..', 'https:e.org'])(
    'none in %j',
    (text) => expect([...addressesIn(text)]).toEqual([]),
  )

  it('costs no more than its length, whatever stands in it', async () => {
    const text = `${'a.'.repeat(100_000)} ${'https://'.repeat(50_000)} ${'.'.repeat(200_000)} ${'-'.repeat(200_000)}`
    expect(await cost(() => [...addressesIn(text)])).toBeLessThan(2_000_000)
  })

  it('are compared without scheme and fragment', () =>
    expect(addressKey(new URL('http://e.org/a?b#c'))).toBe(addressKey(new URL('https://E.org/a?b'))))
})

it('a pattern allows one host, or all below it', () => {
  const allows = (hostname: string) => isAllowedHost(['e.org', '*.f.org'], { hostname })
  expect(['e.org', 'a.f.org', 'a.b.f.org'].filter((one) => !allows(one))).toEqual([])
  expect(['a.e.org', 'f.org', 'evilf.org', 'e.org.net', ''].filter(allows)).toEqual([])
})
