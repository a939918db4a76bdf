import { expect, test } from 'vitest'
import { Positions } from '../../../adapters/shared/positions.ts'
import { type MessagePage, readBack, reportUnread } from '../../../adapters/shared/read-back.ts'
import { RecordingSink } from '../../contracts/recording-sink.ts'

/** A conversation of messages `1` to `count`, in pages of at most three. */
function conversation(count: number) {
  const asked: string[] = []
  const read = async (after: string, limit: number): Promise<MessagePage<string>> => {
    asked.push(after)
    const left = Array.from({ length: count - Number(after) }, (_, index) => String(Number(after) + index + 1))
    const messages = left.slice(0, Math.min(3, limit)).map((id) => ({ id, message: `text ${id}` }))
    return { messages, further: messages.length < left.length ? 'more' : 'none' }
  }
  return { asked, reader: { read } }
}
const ids = (messages: readonly { readonly id: string }[]) => messages.map(({ id }) => id)

test('what was missed is read page by page, in order, to its end', async () => {
  const { asked, reader } = conversation(8)
  const missed = await readBack(reader, '1', { most: 200, budget: { left: 200 } })
  expect(ids(missed.messages)).toEqual(['2', '3', '4', '5', '6', '7', '8'])
  expect(missed.left).toBeUndefined()
  expect(asked).toEqual(['1', '4', '7'])
})

test('no more is read than the bound of the conversation, nor than is left for all of them', async () => {
  const bounded = await readBack(conversation(8).reader, '0', { most: 4, budget: { left: 200 } })
  expect([ids(bounded.messages), bounded.left]).toEqual([['1', '2', '3', '4'], 'bounded'])
  const budget = { left: 5 }
  const first = await readBack(conversation(3).reader, '0', { most: 200, budget })
  expect([first.messages.length, first.left, budget.left]).toEqual([3, undefined, 2])
  const second = await readBack(conversation(3).reader, '0', { most: 200, budget })
  expect([ids(second.messages), second.left]).toEqual([['1', '2'], 'bounded'])
})

test('a conversation that may not be read is refused; one that cannot be read to its end is bounded', async () => {
  const bound = { most: 200, budget: { left: 200 } }
  expect(await readBack({ read: async () => 'refused' }, '0', bound)).toEqual({ messages: [], left: 'refused' })
  const read = async (): Promise<MessagePage<string>> => ({ messages: [{ id: '9', message: 'last' }], further: 'cut' })
  expect((await readBack({ read }, '0', bound)).left).toBe('bounded')
})

test('what lies beyond the bound is counted and told to the owners; what may not be read is counted', () => {
  const sink = new RecordingSink()
  const what = { platform: 'Discord', most: 200 }
  reportUnread(sink, { ...what, left: undefined })
  reportUnread(sink, { ...what, left: 'refused' })
  expect(sink.notices).toEqual([])
  reportUnread(sink, { ...what, left: 'bounded' })
  expect(sink.dropped).toEqual(['back_fill:refused', 'back_fill:bounded'])
  expect(sink.notices).toEqual([{ about: 'read_back', text: expect.stringContaining('200 messages') }])
})

async function positionsOf(sink: RecordingSink) {
  const positions = new Positions<{ readonly id: string; readonly after?: string }>(sink.state, {
    listKey: 'chats',
    positionKey: (id) => `read:${id}`,
    isMessageId: (value): value is string => typeof value === 'string',
    isNewer: (id, than) => Number(id) > Number(than),
    timeOf: Number,
    read: (stored) => (typeof stored === 'string' ? { id: stored } : undefined),
    write: ({ id }) => id,
  })
  await positions.load()
  positions.meet([{ id: 'a' }], () => false)
  await positions.write()
  return positions
}

test('a position is committed with the message that moves it, and never goes back', async () => {
  const positions = await positionsOf(new RecordingSink())
  expect(positions.of('a')).toBeUndefined()
  expect(positions.cursorFor('a', '10')).toEqual({ key: 'read:a', value: '10' })
  positions.moved('a', '10')
  expect(positions.cursorFor('a', '9')).toBeUndefined()
  positions.moved('a', '9')
  expect(positions.of('a')).toBe('10')
  expect(positions.cursorFor('unknown', '11')).toBeUndefined()
})

test('a held conversation is read back from where it was, and moves over everything once it is released', async () => {
  const sink = new RecordingSink()
  const positions = await positionsOf(sink)
  await positions.pass('a', '10')
  expect(positions.holdAll()).toEqual([{ id: 'a' }])
  expect(positions.cursorFor('a', '20')).toBeUndefined()
  positions.moved('a', '20')
  await positions.pass('a', '30')
  positions.hold('a')
  expect([positions.of('a'), sink.stored.get('read:a')]).toEqual(['10', '10'])
  await positions.release('a')
  expect([positions.of('a'), sink.stored.get('read:a')]).toEqual(['20', '20'])
  const next = await positionsOf(new RecordingSink(sink.stored))
  expect(next.of('a')).toBe('20')
})
