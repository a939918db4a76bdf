import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Address, conversationOf, formatAddress, parseAddress } from '../../src/core/address.ts'
import { toAccountId } from '../../src/core/ids.ts'
import { CHANNELS } from '../fakes/channels.ts'

const telegram: Address = { channel: 'telegram', account: toAccountId(''), chatType: 'group', chat: '-100123' }

describe('addresses', () => {
  it.each([
    [telegram, 'telegram:group:-100123'],
    [{ ...telegram, topic: '42' }, 'telegram:group:-100123/42'],
    [{ ...telegram, account: toAccountId('second') }, 'telegram@second:group:-100123'],
  ])('%o is written and read as %s', (address, text) => {
    expect(formatAddress(address)).toBe(text)
    expect(parseAddress(text)).toEqual(address)
  })

  it('the space is not part of the text', () => {
    expect(formatAddress({ ...telegram, space: { type: 'guild', id: '9' } })).toBe('telegram:group:-100123')
  })

  it('every address without a space reads back as it was', () => {
    const text = fc.stringMatching(/^[A-Za-z0-9_.:@-]{1,12}$/)
    const addresses = fc.record({
      channel: fc.constantFrom(...CHANNELS.ids, 'matrix'),
      account: text.map(toAccountId),
      chatType: fc.constantFrom('direct', 'group', 'channel'),
      chat: text,
      topic: fc.option(fc.stringMatching(/^[A-Za-z0-9_./:@-]{1,12}$/), { nil: undefined }),
    })
    fc.assert(
      fc.property(addresses, ({ topic, ...rest }) => {
        const address: Address = topic === undefined ? rest : { ...rest, topic }
        expect(parseAddress(formatAddress(address))).toEqual(address)
      }),
    )
  })

  it.each([
    '',
    'telegram',
    'telegram:group:',
    'Telegram:group:1',
    '1telegram:group:1',
    'telegram:room:1',
    'telegram:group:/4',
    'telegram:group:1/',
  ])('%j is refused, naming the form', (text) => {
    expect(() => parseAddress(text)).toThrow(
      expect.objectContaining({
        code: 'invalid',
        message: expect.stringContaining('<channel>:<direct|group|channel>'),
      }),
    )
  })

  it('topics of one chat are conversations of their own', () => {
    const topics = [undefined, '1', '2'].map((topic) => conversationOf(topic ? { ...telegram, topic } : telegram))
    expect(new Set(topics).size).toBe(3)
  })
})
