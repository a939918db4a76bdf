import { expect, test } from 'vitest'
import {
  type FileShape,
  freeListOf,
  overflowsOf,
  shapeOf,
  tailOf,
  unusedOf,
} from '../../src/store/engines/unused-bytes.ts'

const SIZE = 4_096
const SHAPE: FileShape = { pageSize: SIZE, usable: SIZE, pages: 500_000, firstFree: 0, autoVacuum: true }
const TABLE_LEAF = 13

/** A page of a table with one row at its end, and free blocks as a chain of places, each with its size. */
function leaf(content: number, blocks: readonly (readonly [at: number, size: number])[] = []): Buffer {
  const page = Buffer.alloc(SIZE)
  page[0] = TABLE_LEAF
  page.writeUInt16BE(1, 3)
  page.writeUInt16BE(content, 5)
  let from = 1
  for (const [at, size] of blocks) {
    page.writeUInt16BE(at, from)
    page.writeUInt16BE(size, at + 2)
    from = at
  }
  return page
}

function start(changes: (header: Buffer) => void = () => {}): Buffer {
  const header = Buffer.alloc(512)
  header.write('SQLite format 3\0', 0, 'latin1')
  header.writeUInt16BE(SIZE, 16)
  changes(header)
  return header
}

test('S41: unused are the gap behind the pointers and the free blocks without their heads', () => {
  expect(unusedOf(SHAPE, leaf(3_000), 4)).toEqual([[10, 3_000]])
  const blocks = [
    [3_100, 20],
    [3_200, 4],
  ] as const
  expect(unusedOf(SHAPE, leaf(3_000, blocks), 4)).toEqual([
    [10, 3_000],
    [3_104, 3_120],
    [3_204, 3_204],
  ])
})

test('S41: of a page that holds no rows, or looks damaged, nothing is unused', () => {
  const lockPage = 0x4000_0000 / SIZE + 1
  const span = Math.floor(SIZE / 5) + 1
  for (const map of [2, 2 + span, 2 + 2 * span]) {
    expect(unusedOf(SHAPE, leaf(3_000), map)).toEqual([])
    expect(unusedOf({ ...SHAPE, autoVacuum: false }, leaf(3_000), map)).toEqual([[10, 3_000]])
    expect(unusedOf(SHAPE, leaf(3_000), map + 1)).toEqual([[10, 3_000]])
  }
  expect(unusedOf(SHAPE, leaf(3_000), lockPage)).toEqual([])
  expect(unusedOf(SHAPE, Buffer.alloc(SIZE, 7), 4)).toEqual([])
  expect(unusedOf(SHAPE, leaf(8), 4)).toEqual([])
  expect(unusedOf(SHAPE, leaf(SIZE + 1), 4)).toEqual([])
})

test('S41: of a page whose free blocks overlap, go backwards or leave it nothing is unused', () => {
  const twisted: readonly (readonly [number, number])[][] = [
    [[2_900, 20]],
    [[3_100, 3]],
    [[3_100, 2_000]],
    [[SIZE - 4, 5]],
    [
      [3_200, 50],
      [3_220, 20],
    ],
    [
      [3_200, 50],
      [3_100, 20],
    ],
  ]
  for (const blocks of twisted) expect(unusedOf(SHAPE, leaf(3_000, blocks), 4)).toEqual([])
  const beyond = leaf(3_000)
  beyond.writeUInt16BE(SIZE - 2, 1)
  expect(unusedOf(SHAPE, beyond, 4)).toEqual([])
})

test('S41: nothing is unused in a file that is encrypted, of another form, or so large that pages look alike', () => {
  expect(shapeOf(start(), 8 * SIZE)).toEqual({
    pageSize: SIZE,
    usable: SIZE,
    pages: 8,
    firstFree: 0,
    autoVacuum: false,
  })
  expect(shapeOf(Buffer.alloc(512, 7), 8 * SIZE)).toBeUndefined()
  expect(shapeOf(start().subarray(0, 90), 90)).toBeUndefined()
  expect(
    shapeOf(
      start((header) => header.writeUInt16BE(1_000, 16)),
      8 * SIZE,
    ),
  ).toBeUndefined()
  expect(shapeOf(start(), 0x0200_0000 * SIZE)).toBeUndefined()
  expect(shapeOf(start(), 0x0200_0000 * SIZE - 1)).toMatchObject({ pages: 0x01ff_ffff })
})

test('S41: the end of a long text is found by its length, and a list of free pages is read within its page', () => {
  const page = leaf(3_000)
  page.writeUInt16BE(3_000, 8)
  // 5,000 bytes in row 1: as much as fits lies here, the rest on the page that is named behind it.
  page.set([0xa7, 0x08, 1], 3_000)
  const local = 39 + ((5_000 - 489) % (SIZE - 4)) + 450
  page.writeUInt32BE(77, 3_003 + local)
  expect(overflowsOf(SHAPE, page, 4)).toEqual([{ firstPage: 77, bytes: 5_000 - local }])
  expect(tailOf(SHAPE, 5_000 - local)).toEqual({ before: 0, unused: [4 + 5_000 - local, SIZE] })
  expect(tailOf(SHAPE, 2 * (SIZE - 4))).toEqual({ before: 1, unused: [SIZE, SIZE] })
  expect(tailOf(SHAPE, 2 * (SIZE - 4) + 1)).toEqual({ before: 2, unused: [5, SIZE] })
  const list = Buffer.alloc(SIZE)
  list.writeUInt32BE(9, 0)
  list.writeUInt32BE(2, 4)
  list.writeUInt32BE(31, 8)
  list.writeUInt32BE(32, 12)
  expect(freeListOf(SHAPE, list)).toEqual({ next: 9, free: [31, 32] })
  list.writeUInt32BE(0xffff_ffff, 4)
  expect(freeListOf(SHAPE, list).free).toHaveLength(SIZE / 4 - 2)
})
