import { createHash, randomUUID } from 'node:crypto'

/** The ids of calls that every server takes: of OpenAI's length and of Anthropic's characters. */
const PORTABLE = /^[a-zA-Z0-9_-]{1,40}$/

/** Returns an id of a call that every server takes: the id itself, or the same one each time in its place. */
export function portableId(id: string): string {
  return PORTABLE.test(id) ? id : `call_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`
}

/** Returns the id by which we know a call that a server has made: its own, or one of ours that every server takes. */
export function ownId(given: unknown): string {
  return typeof given === 'string' && PORTABLE.test(given) ? given : `call_${randomUUID().replaceAll('-', '')}`
}
