import { expect, test } from 'vitest'
import { cost } from '../fakes/cost.ts'
import { sample } from '../sample.ts'
import { load, TELEGRAM } from './loading.ts'

const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => `${line(index)}\n`).join('')

const agents = (count: number): string => `agents:\n${lines(count, (index) => `  - id: a${index}`)}`

/** Each with the number of its items at which comparing all with all would take most of the time. */
const TABLE: readonly (readonly [items: string, least: number, yaml: (count: number) => string])[] = [
  ['references without end', 2_000, (count) => `${TELEGRAM}logging: { level: "${'${a:'.repeat(count)}" }\n`],
  ['colons before a password', 2_000, (count) => `${TELEGRAM}store: { url: "a://${':'.repeat(count)}" }\n`],
  [
    'accounts without their token',
    1_000,
    (count) =>
      `channels:\n  telegram:\n    accounts:\n${lines(count, (index) => `      a${index}: { token: "\${env:NOWHERE}" }`)}`,
  ],
  [
    'rules about people',
    600,
    (count) =>
      `${TELEGRAM}people:\n${lines(count, (index) => `  p${index}: {}`)}routing:\n  dispatch:\n${lines(count, (index) => `    - match: { sender: p${index} }`)}`,
  ],
  [
    'schedules of agents that do not exist',
    300,
    (count) =>
      `${TELEGRAM}${agents(count)}schedules:\n${lines(count, (index) => `  - { id: s${index}, agent: b${index}, cron: "@daily", prompt: x, deliverTo: "telegram:direct:7" }`)}`,
  ],
  [
    'tools for agents that do not exist',
    100,
    (count) =>
      `${TELEGRAM}${agents(count)}tools:\n  sessions:\n    agents:\n${lines(count, (index) => `      - b${index}`)}`,
  ],
]

test.each(sample(TABLE, 3))('a file with many %s takes time in proportion to their number', async (_, least, yaml) => {
  const [short, long] = [yaml(least), yaml(8 * least)]
  const read = (text: string) => load(text).catch(() => undefined)
  await read(short)

  const [few, many] = [await cost(() => read(short)), await cost(() => read(long))]

  expect(many / few).toBeLessThan(20)
})

test('a rule for an account that does not exist is told some of those that do', async () => {
  const accounts = lines(30, (index) => `      a${index}: { token: "5:A${index}" }`)
  const rule = 'routing: { dispatch: [{ match: { account: home } }] }\n'

  const { config } = await load(`channels:\n  telegram:\n    accounts:\n${accounts}${rule}`)

  expect(config.warnings.filter((one) => one.includes('match.account'))).toEqual([
    expect.stringMatching(/no account is called "home", so the rule matches nothing; there are a0, .*, a19, …$/),
  ])
})
