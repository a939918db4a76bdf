import { describe, expect, test } from 'vitest'
import { configError } from '../../src/config/mistake.ts'
import { readYaml } from '../../src/config/read-yaml.ts'
import { cost } from '../fakes/cost.ts'
import { refusal, TELEGRAM } from './loading.ts'

const many = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n')

/** Returns blocks of `size` keys each, `count` keys in all. */
const blocks = (size: number, count: number): string =>
  many(count, (index) => `${index % size === 0 ? `b${index}:\n` : ''}  k${index}: 1`)

describe('a file takes time in proportion to its length', () => {
  test('however many aliases it has', async () => {
    const list = (item: string): string => `a: &a 1\nz: *a\nb:\n${many(10_000, () => `  - ${item}`)}`

    const [aliases, numbers] = [await cost(() => readYaml(list('*a'))), await cost(() => readYaml(list('1')))]

    expect(aliases / numbers).toBeLessThan(6)
    expect(readYaml(list('*a')).tree).toEqual(readYaml(list('1')).tree)
  })

  test('however many keys one block has', async () => {
    const [one, small] = [
      await cost(() => readYaml(blocks(20_000, 20_000))),
      await cost(() => readYaml(blocks(10, 20_000))),
    ]

    expect(one / small).toBeLessThan(4)
  })

  test('however many lines are asked for', async () => {
    const lookUp = (size: number): (() => unknown) => {
      const paths = Array.from({ length: 10_000 }, (_, index) => [`b${index - (index % size)}`, `k${index}`])
      const file = readYaml(blocks(size, 10_000))
      expect(file.lineOf(paths[9_999] ?? [])).toBe(10_000 + 10_000 / size)
      return () => paths.map(file.lineOf)
    }

    const [one, small] = [await cost(lookUp(10_000)), await cost(lookUp(10))]

    expect(one / small).toBeLessThan(8)
  })

  test('however many of its keys are unknown: the first ten are listed', async () => {
    const lines = (await refusal(many(5_000, (index) => `k${index}: 1`))).split('\n')

    expect(lines).toHaveLength(11)
    expect(lines.at(-1)).toBe('and 4990 more in parley.yaml')
  })

  test('a mistake that is not listed is not put into words', () => {
    let read = 0
    const mistakes = Array.from({ length: 1_000 }, (_, line) => ({
      line,
      get message() {
        read++
        return 'is wrong'
      },
    }))

    configError('parley.yaml', mistakes, ({ line }) => line)

    expect(read).toBe(10)
  })
})

describe('aliases', () => {
  test('stand for the last value of their name', () => {
    const yaml = 'a: &x 1\nb: &b [*x]\nc: &x 2\nd: *b\ne: *x\n'

    expect(readYaml(yaml).tree).toEqual({ a: 1, b: [1], c: 2, d: [1], e: 2 })
  })

  test('may be as many as one likes', () => {
    const { tree, mistakes } = readYaml(`a: &a x\nb: [${Array(1_000).fill('*a').join(', ')}]\n`)

    expect(mistakes).toEqual([])
    expect(tree).toEqual({ a: 'x', b: Array(1_000).fill('x') })
  })

  const KILOBYTE = 'x'.repeat(1_000)

  test.each([
    [
      'inside what it names',
      'people: &all\n  ada: *all\n',
      ':2: an alias ("*name") stands inside of the value it names; write the value out',
    ],
    [
      'that multiply',
      multiplying(),
      ':6: with this alias ("*name") the aliases stand for more than 1 MB of text; write less, or fewer of them',
    ],
    ['of a long text', `a: &a ${KILOBYTE}\nb:\n${many(1_100, () => '  - *a')}\n`, 'parley.yaml:1051: with this alias'],
    ['of something below', 'a: *b\nb: &b 1\n', ':1: a text that begins with "*" has to be in quotes'],
  ])('%s are refused once, with the line', async (_, yaml, message) => {
    const told = await refusal(yaml)

    expect(told).toContain(message)
    expect(told.split('\n')).toHaveLength(1)
  })

  test('add to the depth of a file', async () => {
    const deep = (inner: string): string => '['.repeat(60) + inner + ']'.repeat(60)

    expect(await refusal(`a: &a ${deep('1')}\nb: ${deep('*a')}\n`)).toBe(
      'parley.yaml:2: nests more than 100 levels deep, which is no configuration',
    )
  })
})

describe('keys and values that are none', () => {
  test.each([
    [
      'a list as a key',
      '? [a, b]\n: 1\n',
      '2: a list or a block stands here as a key; a key is one text: put it in quotes',
    ],
    ['a block as a key', 'people:\n  ? { a: 1 }\n  : {}\n', '3: a list or a block stands here as a key'],
    [
      'a reference without quotes',
      'people: { ada: { ids: [{{ id }}] } }\n',
      '2: a list or a block stands here as a key',
    ],
    ['no key', ': 1\n', '2: a key is empty here (or null, or ~); write its name, in quotes if it is one of these'],
    ['a key that is null', 'people:\n  null: {}\n', '3: a key is empty here'],
    ['a key without letters', '"": 1\n', '2: a key is empty here'],
    ['a key written as a text and as a number', 'people: { 1: {}, "1": {} }\n', '2: the same key stands here twice'],
    ['a tag of YAML', 'agents: !!set { a, b }\n', '2: a text that begins with "!" has to be in quotes'],
    ['a deep nest', `agents: ${'['.repeat(20_000)}\n`, '2: nests more than 100 levels deep'],
    ['no number', 'session: { answerParts: .nan }\n', '2: session.answerParts: must be a finite number'],
    ['an infinite number', 'store: { keepRefusedDays: -.inf }\n', '2: store.keepRefusedDays: must be a finite number'],
    ['a number beyond all', 'store: { keepRefusedDays: 1e400 }\n', '2: store.keepRefusedDays: must be a finite number'],
    [
      'a number of 26 digits',
      'session: { answerParts: 99999999999999999999999999 }\n',
      '2: session.answerParts: is too large a number',
    ],
    ['a fraction', 'session: { answerParts: 1.5 }\n', '2: session.answerParts: must be a whole number, not a fraction'],
  ])('%s', async (_, yaml, message) => {
    expect(await refusal(`${TELEGRAM}${yaml}`)).toContain(`parley.yaml:${message}`)
  })
})

describe('a text that begins with what YAML keeps for itself is refused once, with its line and the remedy', () => {
  test.each([
    ['schedules:\n  - cron: ', '*/5 * * * *', 3],
    ['schedules:\n  - cron: ', '* * * * *', 3],
    ['schedules: [{ id: a, cron: ', '*/5 * * * * }]', 2],
    ['people:\n  ada:\n    ids: [telegram:7, ', '*.example.com]', 4],
    ['people:\n  ada:\n    ids:\n      - ', '@ada', 5],
    ['people:\n  ada:\n    name: ', '!important', 4],
    ['people:\n  ada:\n    name: ', '! done', 4],
    ['models:\n  openai:\n    apiKey: ', '&canary of the key', 4],
    ['models:\n  openai:\n    apiKey: ', '%canary', 4],
    ['agents:\n  - prompt: ', '`canary`', 3],
    ['agents:\n  - prompt: ', '| canary', 3],
    ['routing:\n  ', '*.canary: 1', 3],
  ])('%s%s', async (above, text, line) => {
    const told = await refusal(`${TELEGRAM}${above}${text}\n`)
    expect(told).toContain(`parley.yaml:${line}: a text that begins with "${text.charAt(0)}" has to be in quotes`)
    expect(told.split('\n')).toHaveLength(1)
    expect(told).not.toContain('canary')
  })
})

/** A few lines that stand for millions of values. */
function multiplying(): string {
  const above = (depth: number): string =>
    Array(8)
      .fill(depth === 0 ? 'x' : `*a${depth - 1}`)
      .join(', ')
  return `${many(9, (depth) => `a${depth}: &a${depth} [${above(depth)}]`)}\n`
}
