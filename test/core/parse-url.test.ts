import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseUrl } from '../../src/core/parse-url.ts'

it.each([
  ['https://bücher.de/ä', undefined, 'https://xn--bcher-kva.de/%C3%A4'],
  ['/ä', 'https://bücher.de', 'https://xn--bcher-kva.de/%C3%A4'],
  ['https://例え.jp', undefined, 'https://xn--r8jz45g.jp/'],
  ['https://e.org', undefined, 'https://e.org/'],
  ['a', 'https://e.org/b', 'https://e.org/a'],
  ['a', undefined, undefined],
  ['https://[ä', undefined, undefined],
  ['', undefined, undefined],
])('%j from %j, also in code that has run so often that it was compiled', (text, base, href) => {
  const answers = new Set(Array.from({ length: 20_000 }, () => parseUrl(text, base)?.href))
  expect([...answers]).toEqual([href])
})

it('nothing else asks whether an address can be parsed: the engine errs', () => {
  const root = new URL('../../', import.meta.url).pathname
  const asking = ['src', 'adapters'].flatMap((folder) =>
    readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name}`)
      .filter((name) => name.endsWith('.ts') && readFileSync(root + name, 'utf8').includes('URL.canParse(')),
  )
  expect(asking).toEqual(['src/core/parse-url.ts'])
})
