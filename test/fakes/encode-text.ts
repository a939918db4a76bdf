import { decodeWestern } from '../../src/core/read-text.ts'

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
    try {
      const text = decode(encoding, Uint8Array.from(bytes))
      if ([...text].length === 1 && !table.has(text)) table.set(text, bytes)
    } catch {
      // They are no character of it.
    }
  }
  for (let first = 0; first < 0x100; first++) {
    add(first)
    for (let second = 0x40; first > 0x80 && second < 0xff; second++) add(first, second)
  }
  return table
}

function decode(encoding: string, bytes: Uint8Array): string {
  return encoding === 'windows-1252' ? decodeWestern(bytes) : new TextDecoder(encoding, { fatal: true }).decode(bytes)
}
