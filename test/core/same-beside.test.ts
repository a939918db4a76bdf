import { expect, it } from 'vitest'
import { toAccountId } from '../../src/core/ids.ts'
import { sameBeside } from '../../src/core/same-beside.ts'
import { CHANNELS } from '../fakes/channels.ts'
import { group, message, slackChannel, user } from '../fakes/dispatch.ts'

const [SMALL, BIG, OTHER, MOVED_AT] = ['-5', '-1001234567890', '-1009876543210', 9_000]
const chats = { channels: CHANNELS, moves: [{ channel: 'telegram', from: SMALL, to: BIG, at: MOVED_AT }] }
const second = { account: toAccountId('second') }

/** Compares what one bot has received as number 7 with what the second bot has. */
const compare = (chat: string, changes: object = {}, at: { chat?: string; sentAt?: number } = {}) => {
  const said = { sentAt: at.sentAt ?? 5_000, messageId: '7' }
  const other = message({ ...said, address: group(at.chat ?? chat, second), ...changes })
  return sameBeside(message({ ...said, address: group(chat) }), other, chats)
}

it('S41: in a group with one number for all bots, one message is that of the number, the writer and the second', () => {
  expect(compare(OTHER)).toBe('same')
  for (const changes of [{ messageId: '8' }, { sender: user('444') }, { sentAt: 6_000 }])
    expect(compare(OTHER, changes)).toBe('another')
})

it('S41: where each bot counts messages by itself, it is perhaps any of the writer and the second', () => {
  expect([compare(SMALL), compare(SMALL, { messageId: '8' })]).toEqual(['perhaps', 'perhaps'])
  for (const changes of [{ sender: user('444') }, { sentAt: 6_000 }]) expect(compare(SMALL, changes)).toBe('another')
})

it('S41: what was sent before such a group became a supergroup may have another number by its new id', () => {
  const late = { messageId: '8' }
  expect([compare(BIG, late), compare(SMALL, late, { chat: BIG })]).toEqual(['perhaps', 'perhaps'])
  expect(compare(BIG)).toBe('same')
  expect(compare(BIG, late, { sentAt: MOVED_AT + 1 })).toBe('another')
})

it('S41: a bot has each message once, and another group or a direct chat is apart', () => {
  for (const address of [group(SMALL), group('-6', second), group(SMALL, { ...second, chatType: 'direct' })])
    expect(compare(SMALL, { address })).toBe('another')
})

it('S41: on a platform where a number is of one message, it alone says which', () => {
  const said = message({ address: slackChannel() })
  const beside = (changes: object) => message({ address: slackChannel('C1', second), sentAt: 1, ...changes })
  expect(sameBeside(said, beside({}), chats)).toBe('same')
  expect(sameBeside(said, beside({ messageId: 'm2' }), chats)).toBe('another')
})
