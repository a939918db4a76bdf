import { expect, it } from 'vitest'
import type { SessionEvent } from '../../src/core/event.ts'
import type { SessionId } from '../../src/core/ids.ts'
import { workingNow } from '../../src/memory/working-now.ts'
import type { CheckpointPlace } from '../../src/store/memory-port.ts'

const LAST = { seq: 5, data: { working: 'Blue.', sources: [{ messageId: '5' }] } } as unknown as CheckpointPlace

/** Returns the working memory behind which so many other messages were deleted. */
async function behind(deleted: number): Promise<string | undefined> {
  const events = Array.from({ length: deleted }, (_, at): SessionEvent => {
    const seq = 6 + at
    return { ...{ seq, at: seq, type: 'message_deleted' }, data: { messageId: `other ${at}` } }
  })
  const latestOf = async (_session: unknown, _types: unknown, most: number) => events.slice(-most)
  return (await workingNow({ events: { latestOf } as never }, 'telegram:1' as SessionId, LAST))?.working
}

it('S39, C23: a working memory lasts while others are deleted, and ends where they are too many to look through', async () => {
  expect(await behind(0)).toBe('Blue.')
  expect(await behind(999)).toBe('Blue.')
  expect(await behind(1_000)).toBeUndefined()
})
