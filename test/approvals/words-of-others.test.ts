import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { inWords, newestOfOthers } from '../../src/approvals/words-of-others.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { UserMessageData } from '../../src/core/event.ts'
import type { InboxId, TurnId } from '../../src/core/ids.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import type { EventToAppend } from '../../src/store/event-port.ts'
import { sessionDraft } from '../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

const MARK = 'zq9canary-4711'

function said(messageId: string, text: string, more: Partial<UserMessageData> = {}): EventToAppend {
  const sender = { id: '444', kind: 'user', displayName: 'Bob' } as const
  return {
    type: 'user_message',
    data: { text, messageId, sender, owner: false, addressed: true, triggers: true, ...more },
  }
}

/** Returns what a card says of the words of others after these events, and forgets those with the mark if asked to. */
async function shown(events: readonly EventToAppend[], forgets: readonly number[] = []): Promise<string | undefined> {
  const store = await openSqliteStore({ path: join(tempFolder(), 'parley.db'), clock: systemClock })
  onTestFinished(() => store.close())
  const draft = sessionDraft(1)
  const { id } = draft
  await store.write(async (tx) => {
    await tx.sessions.create(draft, 1)
    for (const event of events) await tx.events.append(id, 1, [event])
    await tx.forgetting.empty(id, forgets, 'all')
  })
  const words = await newestOfOthers({ store, withWords: async (_session, kept) => kept }, id)
  return words && inWords(words, 1)
}

const TEA = '`tea` by `Bob` a moment ago'
const DELETED: EventToAppend = { type: 'message_deleted', data: { messageId: '2' } }

it('T32, C23: a card names whoever deleted their message, and shows none of its words', async () => {
  const gone = 'a message by `Bob` that was deleted, a moment ago'
  expect(await shown([said('1', 'tea'), said('2', MARK), DELETED])).toBe(gone)
  const edit = { ...said('2', `${MARK}!`), type: 'message_edited' } as EventToAppend
  expect(await shown([said('2', MARK), edit, DELETED])).toBe(gone)
  const thread = { messages: [said('2', MARK).data], leftOut: 0 } as never
  expect(await shown([{ type: 'thread_read', data: thread }, DELETED])).toBe(gone)
})

it('T32, C23: a card does not show the file of a message that was deleted', async () => {
  const file = { kind: 'document', ref: 'f1', fileName: MARK } as never
  const read = { type: 'files_read', data: { files: [{ ref: 'f1', text: MARK }] } } as EventToAppend
  expect(await shown([said('2', '', { attachments: [file] }), read])).toContain('the file')
  expect(await shown([said('2', '', { attachments: [file] }), read, DELETED])).toContain('that was deleted')
})

it('T32: a card shows a message as it was edited', async () => {
  const edit = { ...said('1', 'tea'), type: 'message_edited' } as EventToAppend
  expect(await shown([said('1', MARK), edit])).toBe(TEA)
})

it('T32, S41: a card shows nothing of what was taken back or forgotten', async () => {
  const taken = { turn: 'tr_1' as TurnId, messages: [{ messageId: '2' }], command: 'in_1' as InboxId }
  const back: EventToAppend = { type: 'exchange_taken_back', data: taken }
  expect(await shown([said('1', 'tea'), said('2', MARK), back])).toBe(TEA)
  expect(await shown([said('1', 'tea'), said('2', MARK)], [2])).toBe(TEA)
  expect(await shown([said('2', MARK)], [1])).toBeUndefined()
})
