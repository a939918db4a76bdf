import { describe, expect, test } from 'vitest'
import { discordAccountSchema } from '../../../adapters/discord/config.ts'

describe('the account block', () => {
  test('needs a token and nothing else', () => {
    expect(discordAccountSchema.parse({ token: ' abc\n' })).toEqual({
      token: 'abc',
      streaming: true,
      limits: { perSecond: 45, perChatPerSecond: 1, perGroupPerMinute: 60 },
    })
  })

  test.each([
    ['no token', {}],
    ['an empty token', { token: ' ' }],
    ['a key that is none', { token: 'a', botToken: 'b' }],
    ['an address without http', { token: 'a', apiRoot: 'discord.example.org' }],
    ['a limit of nothing', { token: 'a', limits: { perSecond: 0 } }],
    ['a limit that lets nothing through', { token: 'a', limits: { perChatPerSecond: 1e-300 } }],
  ])('is refused with %s', (_, block) => {
    expect(discordAccountSchema.safeParse(block).success).toBe(false)
  })
})
