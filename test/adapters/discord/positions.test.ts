import { expect, test } from 'vitest'
import { createPositions, directsOf, type KnownChannel } from '../../../adapters/discord/inbound/positions.ts'
import type { ChannelState } from '../../../src/channels/adapter.ts'
import { RecordingSink } from '../../contracts/recording-sink.ts'
import { writtenBytes } from '../written-bytes.ts'

const MOST = 5000
const never = () => false
/** Channel and message ids that grow with the time, as the platform's do. */
const id = (count: number) => String(1_000_000_000_000_000_000n + (BigInt(count) << 22n))
const direct = (count: number) => ({ id: id(count), after: id(count), person: id(count) })
const directs = (count: number) => Array.from({ length: count }, (_, index) => direct(index))

/** Meets channels and stores them, as the receiver does. */
function noting(positions: ReturnType<typeof createPositions>) {
  return async (channels: readonly KnownChannel[], waits: (id: string) => boolean) => {
    positions.meet(channels, waits)
    await positions.write()
  }
}

async function load(state: ChannelState) {
  const positions = createPositions(state)
  await positions.load()
  return { positions, note: noting(positions) }
}

async function open(stored?: Map<string, string>) {
  const sink = new RecordingSink(stored)
  return { sink, ...(await load(sink.state)) }
}

test('a new chat costs as many bytes when it is the 2,000th as when it is the 10th', async () => {
  const { sink, note } = await open()
  const written = writtenBytes(sink)
  for (const chat of directs(2000)) await note([chat], never)
  const [tenth = 0, last = 0] = [written[9], written[1999]]
  expect(written).toHaveLength(2000)
  expect(last).toBeLessThan(3 * tenth)
  expect(Math.max(...written)).toBeLessThan(3 * tenth)
})

test('the chat longest without a message gives way to one too many, in memory and in the store', async () => {
  const { sink, positions, note } = await open()
  await note(directs(MOST), never)
  await positions.pass(id(1), id(MOST))
  positions.received(id(0))
  await note([direct(MOST)], never)
  expect(positions.get(id(1)) !== undefined).toBe(false)
  expect(positions.get(id(0)) !== undefined).toBe(true)
  expect(directsOf(positions)).toHaveLength(MOST)
  expect(sink.stored.has(`channel:${id(1)}`)).toBe(false)
  const rows = sink.stored.size
  for (let count = MOST + 1; count < MOST + 200; count++) await note([direct(count)], never)
  expect(sink.stored.size).toBe(rows)
  const next = await open(sink.stored)
  expect(directsOf(next.positions)).toHaveLength(MOST)
})

test('a chat whose messages wait never gives way; where all do, the new one is not remembered', async () => {
  const { positions, note } = await open()
  await note(directs(MOST), never)
  await note([direct(MOST)], (chat) => chat !== id(3))
  expect(positions.get(id(0)) !== undefined).toBe(true)
  expect(positions.get(id(3)) !== undefined).toBe(false)
  await note([direct(MOST + 1)], () => true)
  expect(positions.get(id(MOST + 1)) !== undefined).toBe(false)
  await positions.pass(id(MOST + 1), id(MOST + 2))
  expect(positions.of(id(MOST + 1))).toBeUndefined()
})

test('a restart keeps positions, and which chat is longest without a message', async () => {
  const first = await open()
  await first.note(directs(MOST), never)
  await first.positions.pass(id(0), id(MOST + 1))
  const { positions, note } = await open(first.sink.stored)
  expect(positions.of(id(0))).toBe(id(MOST + 1))
  expect(positions.of(id(1))).toBe(id(1))
  expect(positions.get(id(2))?.person).toBe(id(2))
  await note([direct(MOST + 2)], never)
  expect([positions.get(id(0)) !== undefined, positions.get(id(1)) !== undefined]).toEqual([true, false])
})

test('the list of an earlier version is read once and stored anew, the oldest left out', async () => {
  const all = directs(MOST + 10)
  const stored = new Map([
    ['channels', JSON.stringify(all)],
    [`channel:${id(0)}`, id(MOST + 20)],
    [`channel:${id(1)}`, id(2)],
  ])
  await open(stored)
  expect(stored.has('channels')).toBe(false)
  expect(stored.has(`channel:${id(1)}`)).toBe(false)
  const { positions } = await open(stored)
  expect(directsOf(positions)).toHaveLength(MOST)
  expect(positions.of(id(0))).toBe(id(MOST + 20))
  expect([positions.get(id(10)) !== undefined, positions.get(id(11)) !== undefined]).toEqual([false, true])
})

test('a dropped chat replays nothing: it begins where it is met again', async () => {
  const { sink, positions, note } = await open()
  await note(directs(MOST), never)
  await positions.pass(id(0), id(10))
  await note([direct(MOST)], never)
  // What a crash left of it before it was removed.
  sink.stored.set(`channel:${id(1)}`, id(10))
  await note([direct(MOST + 1)], never)
  sink.stored.set(`channel:${id(1)}`, id(10))
  expect(positions.of(id(1))).toBeUndefined()
  await note([{ ...direct(1), after: id(MOST + 9) }], never)
  expect(positions.of(id(1))).toBe(id(MOST + 9))
})

test('what could not be stored is stored with the next chat', async () => {
  const { sink } = await open()
  let fails = true
  const set = (key: string, value: string) =>
    fails ? Promise.reject(new Error('disk full')) : sink.state.set(key, value)
  const { positions, note } = await load({ ...sink.state, set })
  await expect(note([direct(1)], never)).rejects.toThrow('disk full')
  expect(positions.received(id(1))).toBe(false)
  fails = false
  await note([direct(1)], never)
  expect(positions.received(id(1))).toBe(true)
  const next = await open(sink.stored)
  expect(next.positions.get(id(1)) !== undefined).toBe(true)
})
