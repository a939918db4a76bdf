import { ParleyError } from '../../core/errors.ts'

const TITLE = 80
/** Characters that nobody sees, or that turn what follows around. */
const HIDDEN = /[\p{Cc}\p{Cs}\p{Bidi_Control}\s]+/gu

/** Returns a title without what nobody sees. Throws `invalid` for none, and for more than 80 characters. */
export function readTitle(title: string): string {
  const read = title.replace(HIDDEN, ' ').trim()
  if (read === '' || [...read].length > TITLE)
    throw new ParleyError('invalid', `A session is named by 1 to ${TITLE} characters.`)
  return read
}
