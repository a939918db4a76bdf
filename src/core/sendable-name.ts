import { cutText } from './cut-text.ts'

const LONGEST_NAME = 100
const NAMELESS = 'file'

/**
 * Returns a name as it may stand in the header of a form: no path, no quotes, no line break, which client libraries
 * write there as they are.
 */
export function sendableName(name: string): string {
  const last = name.replaceAll('\\', '/').split('/').at(-1) ?? ''
  const plain = last.replace(/[\p{Cc}\p{Cf}"]/gu, '').trim()
  if (plain === '' || /^\.+$/.test(plain)) return NAMELESS
  if (plain.length <= LONGEST_NAME) return plain
  const ending = /\.[\w-]{1,10}$/.exec(plain)?.[0] ?? ''
  return `${cutText(plain, LONGEST_NAME - ending.length)}${ending}`
}
