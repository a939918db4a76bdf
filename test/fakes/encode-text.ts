import { readText } from '../../src/core/read-text.ts'

/** Returns a text in an encoding that the engine only decodes: each of its characters is looked up. */
export function encodeIn(encoding: string, text: string): Uint8Array {
  const table = TABLES.get(encoding) ?? tableOf(encoding)
  TABLES.set(encoding, table)
  return Uint8Array.from(
    [...text].flatMap((character) => {
      const bytes = table.get(character)
      if (bytes === undefined) throw new Error(`${encoding} has no ${character}.`)
      return bytes
    }),
  )
}

const TABLES = new Map<string, ReadonlyMap<string, readonly number[]>>()

function tableOf(encoding: string): Map<string, readonly number[]> {
  const table = new Map<string, readonly number[]>()
  const add = (...bytes: number[]): void => {
    const { text, damaged } = readText(Uint8Array.from(bytes), [encoding])
    if (!damaged && [...text].length === 1 && !table.has(text)) table.set(text, bytes)
  }
  for (let first = 0; first < 0x100; first++) {
    add(first)
    for (let second = 0x40; first > 0x80 && second < 0xff; second++) add(first, second)
  }
  return table
}
