import { expect, test } from 'vitest'
import { createPositions } from '../../../adapters/slack/inbound/positions.ts'
import { RecordingSink } from '../../contracts/recording-sink.ts'
import { writtenBytes } from '../written-bytes.ts'

const MOST = 5000
const chat = (count: number) => `D${String(count).padStart(10, '0')}`
const ts = (count: number) => `${1_700_000_000 + count}.000100`

async function open(sink = new RecordingSink()) {
  const positions = createPositions(sink.state)
  await positions.load()
  /** A message as the account's door takes it. */
  const say = async (id: string, stamp: string) => {
    positions.received(id)
    positions.meet([{ id, chatType: 'direct' }], () => false)
    const cursor = positions.cursorFor(id, stamp)
    if (cursor !== undefined) sink.stored.set(cursor.key, cursor.value)
    positions.moved(id, stamp)
    await positions.write()
  }
  /** Where each conversation is read back from. */
  const fallBehind = () =>
    positions.holdAll().map(({ id, chatType }) => ({ chat: id, chatType, after: positions.of(id) }))
  const fill = async (count: number) => {
    for (let index = 0; index < count; index++) await say(chat(index), ts(index))
  }
  return { sink, positions, say, fill, fallBehind }
}

test('a new chat costs as many bytes when it is the 2,000th as when it is the 10th', async () => {
  const { sink, fill } = await open()
  const written = writtenBytes(sink)
  await fill(2000)
  const [tenth = 0, last = 0] = [written[9], written[1999]]
  expect(written).toHaveLength(2000)
  expect(last).toBeLessThan(3 * tenth)
  expect(Math.max(...written)).toBeLessThan(3 * tenth)
})

test('the chat longest without a message gives way to one too many, in memory and in the store', async () => {
  const { sink, say, fill, fallBehind } = await open()
  await fill(MOST)
  await say(chat(0), ts(MOST))
  const rows = sink.stored.size
  for (let count = MOST + 1; count < MOST + 200; count++) await say(chat(count), ts(count))
  expect(sink.stored.size).toBe(rows)
  expect(sink.stored.has(`read:${chat(1)}`)).toBe(false)
  const gaps = fallBehind()
  expect(gaps).toHaveLength(MOST)
  expect(gaps).toContainEqual({ chat: chat(0), chatType: 'direct', after: ts(MOST) })
})

test('a chat that is being read back never gives way; where all are, the new one is not remembered', async () => {
  const { sink, positions, say, fill, fallBehind } = await open()
  await fill(MOST)
  fallBehind()
  const rows = sink.stored.size
  await say(chat(MOST), ts(MOST))
  expect(sink.stored.size).toBe(rows)
  await positions.release(chat(3))
  await say(chat(MOST), ts(MOST + 1))
  const known = new Set((await open(new RecordingSink(sink.stored))).fallBehind().map((gap) => gap.chat))
  expect([known.has(chat(0)), known.has(chat(3)), known.has(chat(MOST))]).toEqual([true, false, true])
})

test('a restart keeps positions, and which chat is longest without a message', async () => {
  const first = await open()
  await first.fill(MOST)
  await first.say(chat(0), ts(MOST))
  const { fallBehind, say } = await open(new RecordingSink(first.sink.stored))
  await say(chat(MOST + 1), ts(MOST + 1))
  const gaps = fallBehind()
  expect(gaps).toHaveLength(MOST)
  expect(gaps).toContainEqual({ chat: chat(0), chatType: 'direct', after: ts(MOST) })
  expect(gaps.some((gap) => gap.chat === chat(1))).toBe(false)
})

test('the list of an earlier version is read once and stored anew, the oldest left out', async () => {
  const all = Array.from({ length: MOST + 10 }, (_, index) => index)
  const stored = new Map(all.map((count) => [`read:${chat(count)}`, ts(count)]))
  stored.set('chats', JSON.stringify(Object.fromEntries(all.map((count) => [chat(count), 'direct']))))
  await open(new RecordingSink(stored))
  expect(stored.has('chats')).toBe(false)
  expect([stored.has(`read:${chat(9)}`), stored.has(`read:${chat(10)}`)]).toEqual([false, true])
  const { fallBehind } = await open(new RecordingSink(stored))
  expect(fallBehind()).toHaveLength(MOST)
})

test('a dropped chat replays nothing: it begins where it is met again', async () => {
  const { sink, say, fill } = await open()
  await fill(MOST + 1)
  // What a crash left of it before it was removed.
  sink.stored.set(`read:${chat(0)}`, ts(0))
  const second = await open(new RecordingSink(sink.stored))
  expect(second.fallBehind().some((gap) => gap.chat === chat(0))).toBe(false)
  await say(chat(0), ts(MOST + 9))
  const third = await open(new RecordingSink(sink.stored))
  expect(third.fallBehind()).toContainEqual({ chat: chat(0), chatType: 'direct', after: ts(MOST + 9) })
})
