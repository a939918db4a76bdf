import { describe, expect, test } from 'vitest'
import { catalogue } from '../../../adapters/index.ts'

const { configSchema } = catalogue.telegram

describe('the Telegram account block', () => {
  test('needs a token only', () => {
    expect(configSchema.parse({ token: ' 5:abc\n' })).toEqual({
      token: '5:abc',
      mode: 'polling',
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
    ['an apiRoot that is no URL', { token: '5:a', apiRoot: 'localhost:80' }, 'apiRoot'],
    ['webhook mode', { token: '5:a', mode: 'webhook' }, 'webhook mode is not available yet'],
  ])('refuses %s', (_, block, said) => {
    const result = configSchema.safeParse(block)

    expect(result.success).toBe(false)
    expect(JSON.stringify(result.error?.issues)).toContain(said)
  })

  test('names its format without loading the client', async () => {
    const format = await catalogue.telegram.loadFormat()

    expect(format.split('**hi**')).toMatchObject([{ text: '<b>hi</b>', plain: 'hi' }])
  })
})
