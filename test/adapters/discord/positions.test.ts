import { expect, test } from 'vitest'
import { Positions } from '../../../adapters/discord/inbound/positions.ts'
import { RecordingSink } from '../../contracts/recording-sink.ts'
import { writtenBytes } from '../written-bytes.ts'

const MOST = 5000
const never = () => false
/** Channel and message ids that grow with the time, as the platform's do. */
const id = (count: number) => String(1_000_000_000_000_000_000n + (BigInt(count) << 22n))
const direct = (count: number) => ({ id: id(count), after: id(count), person: id(count) })
const directs = (count: number) => Array.from({ length: count }, (_, index) => direct(index))

async function open(stored?: Map<string, string>) {
  const sink = new RecordingSink(stored)
  const positions = new Positions(sink.state)
  await positions.load()
  return { sink, positions }
}

test('a new chat costs as many bytes when it is the 2,000th as when it is the 10th', async () => {
  const { sink, positions } = await open()
  const written = writtenBytes(sink)
  for (const chat of directs(2000)) await positions.note([chat], never)
  const [tenth = 0, last = 0] = [written[9], written[1999]]
  expect(written).toHaveLength(2000)
  expect(last).toBeLessThan(3 * tenth)
  expect(Math.max(...written)).toBeLessThan(3 * tenth)
})

test('the chat longest without a message gives way to one too many, in memory and in the store', async () => {
  const { sink, positions } = await open()
  await positions.note(directs(MOST), never)
  await positions.pass(id(1), id(MOST))
  positions.met(id(0))
  await positions.note([direct(MOST)], never)
  expect(positions.isKnown(id(1))).toBe(false)
  expect(positions.isKnown(id(0))).toBe(true)
  expect(positions.directs()).toHaveLength(MOST)
  expect(sink.stored.has(`channel:${id(1)}`)).toBe(false)
  const rows = sink.stored.size
  for (let count = MOST + 1; count < MOST + 200; count++) await positions.note([direct(count)], never)
  expect(sink.stored.size).toBe(rows)
  const next = await open(sink.stored)
  expect(next.positions.directs()).toHaveLength(MOST)
})

test('a chat whose messages wait never gives way; where all do, the new one is not remembered', async () => {
  const { positions } = await open()
  await positions.note(directs(MOST), never)
  await positions.note([direct(MOST)], (chat) => chat !== id(3))
  expect(positions.isKnown(id(0))).toBe(true)
  expect(positions.isKnown(id(3))).toBe(false)
  await positions.note([direct(MOST + 1)], () => true)
  expect(positions.isKnown(id(MOST + 1))).toBe(false)
  await positions.pass(id(MOST + 1), id(MOST + 2))
  expect(await positions.read(id(MOST + 1))).toBeUndefined()
})

test('a restart keeps positions, and which chat is longest without a message', async () => {
  const first = await open()
  await first.positions.note(directs(MOST), never)
  await first.positions.pass(id(0), id(MOST + 1))
  const { positions } = await open(first.sink.stored)
  expect(await positions.read(id(0))).toBe(id(MOST + 1))
  expect(await positions.read(id(1))).toBe(id(1))
  expect(positions.personOf(id(2))).toBe(id(2))
  await positions.note([direct(MOST + 2)], never)
  expect([positions.isKnown(id(0)), positions.isKnown(id(1))]).toEqual([true, false])
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
  expect(positions.directs()).toHaveLength(MOST)
  expect(await positions.read(id(0))).toBe(id(MOST + 20))
  expect([positions.isKnown(id(10)), positions.isKnown(id(11))]).toEqual([false, true])
})

test('a dropped chat replays nothing: it begins where it is met again', async () => {
  const { sink, positions } = await open()
  await positions.note(directs(MOST), never)
  await positions.pass(id(0), id(10))
  await positions.note([direct(MOST)], never)
  // What a crash left of it before it was removed.
  sink.stored.set(`channel:${id(1)}`, id(10))
  await positions.note([direct(MOST + 1)], never)
  sink.stored.set(`channel:${id(1)}`, id(10))
  expect(await positions.read(id(1))).toBeUndefined()
  await positions.note([{ ...direct(1), after: id(MOST + 9) }], never)
  expect(await positions.read(id(1))).toBe(id(MOST + 9))
})

test('what could not be stored is stored with the next chat', async () => {
  const { sink } = await open()
  let fails = true
  const set = (key: string, value: string) =>
    fails ? Promise.reject(new Error('disk full')) : sink.state.set(key, value)
  const positions = new Positions({ ...sink.state, set })
  await positions.load()
  await expect(positions.note([direct(1)], never)).rejects.toThrow('disk full')
  expect(positions.met(id(1))).toBe(false)
  fails = false
  await positions.note([direct(1)], never)
  expect(positions.met(id(1))).toBe(true)
  const next = await open(sink.stored)
  expect(next.positions.isKnown(id(1))).toBe(true)
})
