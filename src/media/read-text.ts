const UTF_8 = new TextDecoder('utf-8', { fatal: true })
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what no text has
const NO_TEXT = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f]/

/**
 * Returns bytes as text: UTF-16 with its mark, UTF-8, else the western code page. Undefined for bytes that are no text,
 * known by characters that no text has.
 */
export function readText(bytes: Uint8Array): string | undefined {
  const text = decoded(bytes)
  return text === undefined || NO_TEXT.test(text) ? undefined : text
}

/** Returns true for bytes that begin with the mark of UTF-16. */
export function isUtf16([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
}

function decoded(bytes: Uint8Array): string | undefined {
  if (isUtf16(bytes)) return new TextDecoder(bytes[0] === 0xff ? 'utf-16le' : 'utf-16be').decode(bytes)
  if (bytes.includes(0)) return undefined
  try {
    return UTF_8.decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
