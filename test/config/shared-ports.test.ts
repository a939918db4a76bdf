import { describe, expect, test } from 'vitest'
import { load, refusal } from './loading.ts'

const hook = (listen: string, mode = 'webhook') =>
  `{ token: "\${env:TOKEN}", mode: ${mode}, webhookUrl: https://bot.test/in, webhookSecret: "\${env:SECRET}", listen: ${listen} }`
const slack = (listen: string, mode = 'http') =>
  `{ botToken: xoxb-1, appToken: xapp-1, signingSecret: "\${env:SECRET}", mode: ${mode}, listen: ${listen} }`
const file = (one: string, other: string) =>
  `channels:\n  telegram:\n    accounts:\n      default: ${one}\n  slack:\n    accounts:\n      default: ${other}\n`
const env = { SECRET: '3f9d1c0a7be2' }

describe('two accounts that take requests at one port', () => {
  test.each([
    ['at one address', '{ port: 7300 }', '{ port: 7300 }'],
    ['one of them at every address', '{ port: 7300 }', '{ host: 0.0.0.0, port: 7300 }'],
  ])('%s are refused, with the line of the second', async (_, one, other) => {
    expect(await refusal(file(hook(one), slack(other)), env)).toBe(
      'parley.yaml:7: channels.slack.accounts.default.listen: channels.telegram.accounts.default.listen has port 7300 already; give each account a port of its own',
    )
  })

  test.each([
    ['at ports of their own', hook('{}'), slack('{}')],
    ['at addresses of their own', hook('{ host: 127.0.0.2, port: 7300 }'), slack('{ port: 7300 }')],
    ['where one of them takes none', hook('{ port: 7300 }', 'polling'), slack('{ port: 7300 }')],
    ['where none of them takes any', hook('{ port: 7300 }', 'polling'), slack('{ port: 7300 }', 'socket')],
  ])('%s are fine', async (_, one, other) => {
    const { config } = await load(file(one, other), env)
    expect(Object.keys(config.channels)).toEqual(['telegram', 'slack'])
  })
})
