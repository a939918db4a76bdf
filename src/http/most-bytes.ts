import { MOST_CHAT_BYTES } from '../core/operate-chat.ts'
import { MOST_BODY_BYTES } from '../core/operator.ts'

const CHAT = '/v1/chat/completions'

/** Returns the longest body of a request there: pictures come inside of a chat completion. */
export function mostBytesOf(path: string): number {
  return path === CHAT ? MOST_CHAT_BYTES : MOST_BODY_BYTES
}
