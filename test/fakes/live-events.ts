import { ParleyError } from '../../src/core/errors.ts'
import type { LiveEvents, StreamReader } from '../../src/core/operate-events.ts'

/** Streams that hold nothing and end at once. */
export function fakeLive(asked: unknown[], session: string): LiveEvents {
  const start = (reader: StreamReader): void => reader.end({ reason: 'stopping' })
  return {
    async follow(name, { after }) {
      asked.push({ follow: name, ...(after ? { after } : {}) })
      if (name !== session) throw new ParleyError('not_found', `There is no session "${name}"`)
      return { session: name, after: after?.seq ?? 2, place: '2', start, close() {} }
    },
    async followAll({ after }) {
      asked.push({ followAll: true, ...(after ? { after } : {}) })
      return { named: true, start, close() {} }
    },
  }
}
