/*
 * The parts of a database file that hold nothing, after the description of the file format (sqlite.org/fileformat2).
 * The engine leaves copies of rows there: when a page is split, the rows that move to another page stay behind it.
 */

/** The shape of a database file, from its first page. */
export interface FileShape {
  readonly pageSize: number
  /** The bytes of a page that the engine uses. */
  readonly usable: number
  readonly pages: number
  /** The first page of the list of free pages; 0: there is none. */
  readonly firstFree: number
  /** The file has pages that hold no rows and only say to what the others belong (pointer maps). */
  readonly autoVacuum: boolean
}

/** From the first byte to the byte after the last. */
export type ByteRange = readonly [from: number, to: number]

/** A text that continues in pages of its own. */
export interface Overflow {
  readonly firstPage: number
  readonly bytes: number
}

const MAGIC = 'SQLite format 3\0'
const LOCK_BYTE = 0x4000_0000
/**
 * Larger files are left alone: pages of long texts and of free pages begin with the number of a page, whose first byte
 * could look like the type of a page of rows.
 */
const MOST_PAGES = 0x0200_0000
const FIRST_PAGE_HEADER = 100

/** Returns the shape of a plain file of that size; undefined: it is encrypted, none of ours, or too large for this. */
export function shapeOf(start: Buffer, bytes: number): FileShape | undefined {
  if (start.length < FIRST_PAGE_HEADER || start.toString('latin1', 0, MAGIC.length) !== MAGIC) return undefined
  const size = start.readUInt16BE(16)
  const pageSize = size === 1 ? 65_536 : size
  if (pageSize < 512 || (pageSize & (pageSize - 1)) !== 0) return undefined
  const pages = Math.floor(bytes / pageSize)
  if (pages >= MOST_PAGES) return undefined
  const firstFree = start.readUInt32BE(32)
  return { pageSize, usable: pageSize - (start[20] ?? 0), pages, firstFree, autoVacuum: start.readUInt32BE(52) !== 0 }
}

/** Returns false for the pages that hold no rows by their place in the file. */
function mayHoldRows({ pageSize, usable, autoVacuum }: FileShape, no: number): boolean {
  const lockPage = LOCK_BYTE / pageSize + 1
  if (no === lockPage) return false
  if (!autoVacuum || no < 2) return true
  const span = Math.floor(usable / 5) + 1
  const map = Math.floor((no - 2) / span) * span + 2
  return no !== (map === lockPage ? map + 1 : map)
}

interface RowPage {
  readonly type: number
  readonly header: number
  readonly pointers: number
  readonly cells: number
  readonly content: number
}

const TABLE_LEAF = 13
const INDEX_LEAF = 10
const INDEX_INNER = 2
const TABLE_INNER = 5

/** Reads the head of a page of rows; undefined: it is another page. */
function rowPage(shape: FileShape, page: Buffer, no: number): RowPage | undefined {
  if (!mayHoldRows(shape, no)) return undefined
  const header = no === 1 ? FIRST_PAGE_HEADER : 0
  const type = page[header] ?? 0
  if (![TABLE_LEAF, INDEX_LEAF, INDEX_INNER, TABLE_INNER].includes(type)) return undefined
  const cells = page.readUInt16BE(header + 3)
  const content = page.readUInt16BE(header + 5) || 65_536
  const pointers = header + ((type & 8) === 0 ? 12 : 8)
  if (pointers + 2 * cells > content || content > shape.usable) return undefined
  return { type, header, pointers, cells, content }
}

/** Returns the bytes of a page of rows that hold nothing; none for any other page, and for one that looks damaged. */
export function unusedOf(shape: FileShape, page: Buffer, no: number): readonly ByteRange[] {
  const rows = rowPage(shape, page, no)
  if (rows === undefined) return []
  const ranges: ByteRange[] = [[rows.pointers + 2 * rows.cells, rows.content]]
  let least = rows.content
  for (let block = page.readUInt16BE(rows.header + 1); block !== 0; ) {
    if (block < least || block + 4 > shape.usable) return []
    const size = page.readUInt16BE(block + 2)
    if (size < 4 || block + size > shape.usable) return []
    ranges.push([block + 4, block + size])
    least = block + size
    block = page.readUInt16BE(block)
  }
  return ranges
}

/** Returns the texts of a page of rows that continue elsewhere. */
export function overflowsOf(shape: FileShape, page: Buffer, no: number): readonly Overflow[] {
  const rows = rowPage(shape, page, no)
  if (rows === undefined || rows.type === TABLE_INNER) return []
  const found: Overflow[] = []
  for (let cell = 0; cell < rows.cells; cell++) {
    const at = page.readUInt16BE(rows.pointers + 2 * cell)
    if (at < rows.content || at + 4 > shape.usable) return []
    const [size, start] = sizeOf(page, rows.type === INDEX_INNER ? at + 4 : at)
    const from = rows.type === TABLE_LEAF ? sizeOf(page, start)[1] : start
    const local = localBytes(shape.usable, rows.type, size)
    if (local === size) continue
    if (from + local + 4 > shape.usable) return []
    found.push({ firstPage: page.readUInt32BE(from + local), bytes: size - local })
  }
  return found
}

/** Reads a number of one to nine bytes; returns it and the place after it. */
function sizeOf(page: Buffer, at: number): readonly [size: number, next: number] {
  let size = 0
  for (let no = 0; no < 8; no++) {
    const byte = page[at + no] ?? 0
    size = size * 128 + (byte & 127)
    if (byte < 128) return [size, at + no + 1]
  }
  return [size * 256 + (page[at + 8] ?? 0), at + 9]
}

/** Returns how much of a row of that size lies on its own page. */
function localBytes(usable: number, type: number, size: number): number {
  const most = type === TABLE_LEAF ? usable - 35 : Math.floor(((usable - 12) * 64) / 255) - 23
  if (size <= most) return size
  const least = Math.floor(((usable - 12) * 32) / 255) - 23
  const rest = least + ((size - least) % (usable - 4))
  return rest <= most ? rest : least
}

/** Returns the bytes of the last page of a text that its end does not reach, and how many pages come before that. */
export function tailOf({ usable }: FileShape, bytes: number): { readonly before: number; readonly unused: ByteRange } {
  const before = Math.ceil(bytes / (usable - 4)) - 1
  return { before, unused: [4 + bytes - before * (usable - 4), usable] }
}

/** Returns the free pages that a page of their list names, and the next page of the list. */
export function freeListOf(
  shape: FileShape,
  page: Buffer,
): { readonly next: number; readonly free: readonly number[] } {
  const count = Math.min(page.readUInt32BE(4), Math.floor(shape.usable / 4) - 2)
  return { next: page.readUInt32BE(0), free: Array.from({ length: count }, (_, at) => page.readUInt32BE(8 + 4 * at)) }
}
