import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toAddress, toApiId, toApiTarget, toChatType, toIdText } from '../../../adapters/telegram/address.ts'
import { formatAddress, parseAddress } from '../../../src/core/address.ts'
import { toAccountId } from '../../../src/core/ids.ts'

const account = toAccountId('default')

describe('the Telegram address codec', () => {
  test('K10: platform ids survive the way to an address, to text, and back', () => {
    const topic = fc.option(fc.integer({ min: 1, max: 2 ** 31 - 1 }), { nil: undefined })
    fc.assert(
      fc.property(fc.maxSafeInteger(), topic, (chat, thread) => {
        const place = { chatType: 'group', chat: String(toIdText(chat)) } as const
        const address = toAddress(account, { ...place, ...(thread === undefined ? {} : { topic: String(thread) }) })
        const target = toApiTarget(parseAddress(formatAddress(address)))

        expect(target?.chat_id).toBe(String(chat))
        expect(target?.message_thread_id).toBe(thread)
      }),
    )
  })

  test('a public channel is a target by its name', () => {
    expect(toApiTarget(parseAddress('telegram:channel:@announce_here'))).toEqual({ chat_id: '@announce_here' })
  })

  test.each(['slack:channel:5', 'telegram:group:x', 'telegram:group:5/x', 'telegram:group:1e5', 'telegram:group:5/-1'])(
    '%s is no target',
    (address) => {
      expect(toApiTarget(parseAddress(address))).toBeNull()
    },
  )

  test('F-G04: an id that would lose digits is no id', () => {
    expect(toApiId('9007199254740993')).toBeNull()
    expect(toIdText(2 ** 53)).toBeUndefined()
    expect(toIdText(-(2 ** 52))).toBe('-4503599627370496')
    expect(toIdText('5')).toBeUndefined()
  })

  test('chat types are the four the platform has', () => {
    expect(['private', 'group', 'supergroup', 'channel', 'toString', undefined].map(toChatType)).toEqual([
      'direct',
      'group',
      'group',
      'channel',
      undefined,
      undefined,
    ])
  })
})
