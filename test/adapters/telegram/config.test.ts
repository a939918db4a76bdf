import { describe, expect, test } from 'vitest'
import { catalogue } from '../../../adapters/index.ts'

const { configSchema } = catalogue.telegram

describe('the Telegram account block', () => {
  test('needs a token only', () => {
    expect(configSchema.parse({ token: ' 5:abc\n' })).toEqual({
      token: '5:abc',
      mode: 'polling',
      listen: { host: '127.0.0.1', port: 7277, path: '/telegram/webhook' },
      streaming: true,
      limits: { perSecond: 30, perChatPerSecond: 1, perGroupPerMinute: 20 },
    })
  })

  test('takes single limits', () => {
    expect(configSchema.parse({ token: '5:a', limits: { perSecond: 1000 } }).limits).toEqual({
      perSecond: 1000,
      perChatPerSecond: 1,
      perGroupPerMinute: 20,
    })
  })

  test.each([
    ['no token', {}, 'token'],
    ['an empty token', { token: ' ' }, '@BotFather'],
    ['an unknown key', { token: '5:a', tokn: 'x' }, 'tokn'],
    ['an unknown limit', { token: '5:a', limits: { perHour: 1 } }, 'perHour'],
    ['a limit that lets nothing through', { token: '5:a', limits: { perSecond: 1e-300 } }, 'perSecond'],
    ['an apiRoot that is no URL', { token: '5:a', apiRoot: 'localhost:80' }, 'apiRoot'],
  ])('refuses %s', (_, block, said) => {
    const result = configSchema.safeParse(block)

    expect(result.success).toBe(false)
    expect(JSON.stringify(result.error?.issues)).toContain(said)
  })

  const webhook = {
    token: '5:canary-token',
    mode: 'webhook',
    webhookUrl: 'https://bot.test/telegram/webhook',
    webhookSecret: '3f9d1c0a7be2',
  }

  test.each([
    ['over TLS', webhook],
    ['on another port of the platform', { ...webhook, webhookUrl: 'https://bot.test:8443/in' }],
    ['to this machine itself', { ...webhook, webhookUrl: 'http://127.0.0.1:7277/in' }],
    [
      'to any port, from an own server',
      { ...webhook, apiRoot: 'http://10.0.0.1:8081', webhookUrl: 'https://bot.test:7/' },
    ],
    ['with the longest secret', { ...webhook, webhookSecret: 'aB3_-'.repeat(51) }],
  ])('takes a webhook %s', (_, block) => {
    expect(configSchema.safeParse(block)).toMatchObject({ success: true, data: { mode: 'webhook' } })
  })

  test.each([
    ['without an address', { webhookUrl: undefined }, 'webhookUrl', 'is needed for mode "webhook"'],
    ['without a secret', { webhookSecret: undefined }, 'webhookSecret', 'is needed for mode "webhook"'],
    ['with an empty secret', { webhookSecret: ' ' }, 'webhookSecret', 'must be 1 to 256 of'],
    ['with an odd secret', { webhookSecret: 'grüße' }, 'webhookSecret', 'must be 1 to 256 of'],
    ['with a long secret', { webhookSecret: 'aB3_-'.repeat(52) }, 'webhookSecret', 'must be 1 to 256 of'],
    ['with a secret of an example', { webhookSecret: 'your-secret-here' }, 'webhookSecret', 'is a placeholder'],
    ['with a secret nobody changed', { webhookSecret: 'changeme' }, 'webhookSecret', 'is a placeholder'],
    ['with a secret of one letter', { webhookSecret: 'xxxxxxxx' }, 'webhookSecret', 'is a placeholder'],
    ['without TLS', { webhookUrl: 'http://bot.test/in' }, 'webhookUrl', 'must begin with https://'],
    ['without TLS in the same net', { webhookUrl: 'http://192.168.0.2/in' }, 'webhookUrl', 'must begin with https://'],
    ['without TLS, with a name like ours', { webhookUrl: 'http://127.0.0.1.bot.test/' }, 'webhookUrl', 'https://'],
    ['with no address', { webhookUrl: 'bot.test/in' }, 'webhookUrl', 'https://'],
    ['at an odd port', { webhookUrl: 'https://bot.test:7277/in' }, 'webhookUrl', '443, 80, 88 and 8443'],
    ['with a password', { webhookUrl: 'https://a:b@bot.test/in' }, 'webhookUrl', 'no user name or password'],
    [
      'with the token in its path',
      { webhookUrl: 'https://bot.test/5:canary-token' },
      'webhookUrl',
      'neither the token',
    ],
    ['with the secret in its path', { listen: { path: '/3f9d1c0a7be2' } }, 'webhookUrl', 'neither the token'],
  ])('refuses a webhook %s', (_, fields, path, said) => {
    const result = configSchema.safeParse(JSON.parse(JSON.stringify({ ...webhook, ...fields })))

    expect(result.error?.issues).toMatchObject([{ path: [path], message: expect.stringContaining(said) }])
  })

  test('names its format without loading the client', async () => {
    const format = await catalogue.telegram.loadFormat()

    expect(format.split('**hi**')).toMatchObject([{ text: '<b>hi</b>', plain: 'hi' }])
  })
})
