import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { slackAccountSchema } from '../../../adapters/slack/config.ts'

const tokens = { botToken: 'xoxb-1', appToken: 'xapp-1' }

test('two tokens are enough, and the numbers are the platform’s own', () => {
  expect(slackAccountSchema.parse({ ...tokens, botToken: 'xoxb-1\n' })).toEqual({
    ...tokens,
    mode: 'socket',
    listen: { host: '127.0.0.1', port: 7276, path: '/slack/events' },
    streaming: true,
    limits: { perSecond: 5, perChatPerSecond: 1, perGroupPerMinute: 60 },
  })
})

test.each([
  ['a missing app-level token', { botToken: 'xoxb-1' }, 'appToken'],
  ['a missing signing secret', { ...tokens, mode: 'http' }, 'signingSecret'],
  ['tokens mixed up', { botToken: 'xapp-1', appToken: 'xapp-1' }, 'botToken'],
  ['an address that is none', { ...tokens, apiRoot: 'slack' }, 'apiRoot'],
  ['an unknown key', { ...tokens, token: 'x' }, undefined],
])('%s is refused', (_, settings, path) => {
  const result = slackAccountSchema.safeParse(settings)
  expect(result.success).toBe(false)
  expect(result.error?.issues[0]?.path[0]).toBe(path)
})

test('what the example shows is valid once its references are filled in', () => {
  const example = readFileSync(new URL('../../../config/parley.example.yaml', import.meta.url), 'utf8')
  const block = /^ {2}#slack:\n(?: {2}#.*\n)+/m.exec(example)?.[0] ?? ''
  const yaml = block.replace(/^ {2}#/gm, '')
  const filled = yaml.replace(/\$\{env:SLACK_BOT_TOKEN\}/, 'xoxb-1').replace(/\$\{env:SLACK_APP_TOKEN\}/, 'xapp-1')

  expect(slackAccountSchema.safeParse(parse(filled).slack.accounts.default).error).toBeUndefined()
})
