import { expect, it } from 'vitest'
import type { Address } from '../../../src/core/address.ts'
import { toAccountId } from '../../../src/core/ids.ts'
import { isOneMessage, isQuoteOf } from '../../../src/sessions/forgetting/same-message.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { dispatchOf, group, message, user } from '../../fakes/dispatch.ts'

const chats = { channels: CHANNELS, moves: [], now: (address: Address): Address => address }
const beside = (chat: string): Address => group(chat, { account: toAccountId('second') })

it.each([
  ['a small group, by its writer and the second in which it was sent', '-5', { messageId: '70' }],
  ['another group, by its writer and its number', '-1001234567890', { sentAt: 9_000 }],
])('S41: what another bot has received is known where it is quoted: in %s', (_, chat, differs) => {
  const said = message({ address: beside(chat), sender: user('444'), sentAt: 5_000, messageId: '7' })
  const quoted = { messageId: '7', own: false, text: 'hello', sentAt: 5_000, sender: user('444'), ...differs }
  const isOne = (more: object = {}): boolean =>
    isQuoteOf([{ dispatch: dispatchOf(said) }], { ...quoted, ...more }, group(chat), chats)
  expect(isOne()).toBe(true)
  expect(isOne({ sender: user('555') })).toBe(false)
  expect(isOne({ sentAt: 6_000, messageId: '8' })).toBe(false)
})

it('S41: what this bot has received is known by its number alone', () => {
  const said = message({ address: group('-5'), sender: user('444'), sentAt: 5_000, messageId: '7' })
  const isOne = (messageId: string): boolean =>
    isQuoteOf(
      [{ dispatch: dispatchOf(said) }],
      { messageId, own: false, sentAt: 5_000, sender: user('444') },
      group('-5'),
      chats,
    )
  expect([isOne('7'), isOne('70')]).toEqual([true, false])
})

it.each([
  ['a bot that left its writer alone: it may be any of its second', 'refused: stranger', [true, true]],
  ['a bot that was asked to forget one', 'forgotten', [false, false]],
  ['a bot that keeps its messages for a shorter time: it may be any if it is named there', 'aged', [false, true]],
] as const)('S41: in a small group one is without words at %s', (_, outcome, expected) => {
  const said = message({ address: beside('-5'), sentAt: 5_000, messageId: '7' })
  const left = message({ address: group('-5'), sentAt: 5_000, messageId: '70', text: '' })
  const one = { dispatch: dispatchOf(said) }
  const wordless = { dispatch: dispatchOf(left), outcome }
  expect([isOneMessage(one, wordless, chats), isOneMessage(wordless, one, chats)]).toEqual(expected)
})
