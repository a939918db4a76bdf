import { expect, it } from 'vitest'
import { OwnTexts } from '../../../src/sessions/forgetting/own-quotes.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { group } from '../../fakes/dispatch.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const AT = 100 * MINUTE

/** A text of ours goes: the fifth message of this chat, planned at `AT` and last begun to be sent a minute later. */
function textsIn(chat: string) {
  const own = new OwnTexts(CHANNELS)
  own.add({ address: group(chat), messageId: '5', at: AT, startedAt: AT + MINUTE })
  return own
}

it('S41: in a small group, where each bot counts by itself, a text of another bot is known by when it was sent', () => {
  const own = textsIn('-5')
  const isOne = (sentAt: number | undefined, at = 500 * MINUTE, chat = '-5'): boolean =>
    own.mayBeOneOf(group(chat), { messageId: '77', at, sentAt })
  expect([AT - 10 * MINUTE, AT, AT + 11 * MINUTE].map((sentAt) => isOne(sentAt))).toEqual([true, true, true])
  expect([AT - 11 * MINUTE, AT + 12 * MINUTE].map((sentAt) => isOne(sentAt))).toEqual([false, false])
  // An older log does not say when what is quoted was sent: it was before the quotation.
  expect([isOne(undefined), isOne(undefined, AT - 12 * MINUTE)]).toEqual([true, false])
  expect(isOne(AT, AT, '-6')).toBe(false)
})

it('S41: elsewhere it is known by its number, whenever it was sent', () => {
  const own = textsIn('-1001234567890')
  const isOne = (messageId: string, sentAt = AT): boolean =>
    own.mayBeOneOf(group('-1001234567890'), { messageId, at: 500 * MINUTE, sentAt })
  expect([isOne('5'), isOne('5', 400 * MINUTE), isOne('6')]).toEqual([true, true, false])
})

it('S41: in a small group an answer that goes may be quoted by another bot from around the time it was sent, and no other', () => {
  const texts = new OwnTexts(CHANNELS)
  const sent = [10, 10.1, 10.2, 15, 12].map((hour) => hour * HOUR)
  for (const at of sent) texts.add({ address: group('-5'), messageId: String(at), at })
  const mayBe = (hour: number, at = 0) =>
    texts.mayBeOneOf(group('-5'), { messageId: '1', sentAt: hour === 0 ? undefined : hour * HOUR, at })
  expect([10, 10.05, 10.25, 12, 15].map((hour) => mayBe(hour))).toEqual([true, true, true, true, true])
  expect([9, 11, 13, 14, 16].map((hour) => mayBe(hour))).toEqual([false, false, false, false, false])
  expect([mayBe(0, 9 * HOUR), mayBe(0, 10 * HOUR)]).toEqual([false, true])
})
