import { expect, it } from 'vitest'
import type { Address } from '../../../src/core/address.ts'
import { toAccountId } from '../../../src/core/ids.ts'
import { isQuoteOf } from '../../../src/sessions/forgetting/same-message.ts'
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
