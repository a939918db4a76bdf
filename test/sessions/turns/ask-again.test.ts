import { expect, it } from 'vitest'
import type { Dispatch } from '../../../src/core/dispatch.ts'
import type { SessionEvent } from '../../../src/core/event.ts'
import type { InboxId, TurnId } from '../../../src/core/ids.ts'
import type { Session } from '../../../src/core/session.ts'
import { type AnswerAgainDeps, askAgain, createAnswerAgain } from '../../../src/sessions/turns/ask-again.ts'
import type { InboxRow } from '../../../src/store/inbox-port.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { inboxRow, sessionDraft } from '../../store/sample-rows.ts'

const row = inboxRow(1, 5) as unknown as InboxRow
const session = sessionDraft(1) as unknown as Session
const edited = (sender: string, text: string): SessionEvent => {
  const data = { messageId: '5', text, sender: { id: sender, kind: 'user' }, attachments: [] }
  return { type: 'message_edited', seq: 2, at: 0, data } as unknown as SessionEvent
}

/** Returns the text that is answered once more, after these changes. */
async function asked(changes: readonly SessionEvent[]): Promise<string | undefined> {
  let dispatch: Dispatch = row.dispatch
  const tx = {
    events: { latestOf: async () => changes, append: async () => 1 },
    inbox: {
      reopen: async () => {},
      replaceDispatch: async (_: InboxId, changed: Dispatch) => {
        dispatch = changed
      },
    },
  } as unknown as StoreWriter
  await askAgain(tx, session, 0, { turn: 'tr_1' as TurnId, rows: [row] })
  return 'text' in dispatch.event ? dispatch.event.text : undefined
}

it('C23: a message is answered again in the words of its own edit, and not in those of another sender’s message', async () => {
  expect(await asked([])).toBe('message 5')
  expect(await asked([edited('111', 'corrected')])).toBe('corrected')
  // In a chat that moved ids begin anew.
  expect(await asked([edited('444', 'of somebody else')])).toBe('message 5')
  expect(await asked([edited('111', 'corrected'), edited('444', 'of somebody else')])).toBe('corrected')
})

it('C23: a change from before the message was said, or of what was copied from another conversation, is none of it', async () => {
  const sender = { id: '111', kind: 'user' }
  const said = { type: 'user_message', data: { messageId: '5', text: 'message 5', sender, row: row.id } }
  const taken = { type: 'history_taken_over', data: {} }
  const [before, after] = [edited('111', 'of an older message'), edited('111', 'corrected')]
  const log = (...events: object[]) => asked(events as SessionEvent[])
  expect(await log(before, said)).toBe('message 5')
  expect(await log(before, said, after)).toBe('corrected')
  expect(await log(before, taken)).toBe('message 5')
  expect(await log(before, taken, after)).toBe('corrected')
})

it.each([
  ['while the daemon stops', { draining: true, busy: false }],
  ['while a turn is on its way that no row shows yet', { draining: false, busy: true }],
])('C23: nothing is answered again %s', async (_, { draining, busy }) => {
  const answer = createAnswerAgain({
    running: { draining },
    queue: { busy: () => busy, admit: () => expect.unreachable() },
  } as unknown as AnswerAgainDeps)
  await expect(answer({} as StoreWriter, session)).rejects.toMatchObject({ code: 'conflict' })
})
