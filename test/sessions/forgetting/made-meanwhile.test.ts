import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { SessionEvent } from '../../../src/core/event.ts'
import { NO_PLAN, NOTHING_FORGOTTEN, refuseForgotten } from '../../../src/core/forgetting.ts'
import { mediaId, type TurnId, toAgentId, toSessionId } from '../../../src/core/ids.ts'
import { madeMeanwhile, rowsIn, withRows } from '../../../src/sessions/forgetting/made-meanwhile.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { InboxRow } from '../../../src/store/inbox-port.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { sessionDraft } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const [FORGOTTEN, LATER] = ['turn_forgotten', 'turn_later'] as readonly string[] as readonly [TurnId, TurnId]

it('S41: a turn that runs is being forgotten from the request on until that is done, and no other turn is', async () => {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const session = { id: toSessionId('telegram:2026-11-23-00000001'), empty: [1], cut: [], turns: [LATER] }
  const plan = { ...NO_PLAN, sessions: [session, { ...session, running: { turn: FORGOTTEN, empty: [2] } }] }
  const counts = NOTHING_FORGOTTEN
  const forgotten = () => Promise.all([FORGOTTEN, LATER].map((turn) => store.read.forgetting.isForgetting(turn)))
  expect(await forgotten()).toEqual([false, false])
  await store.write((tx) => tx.forgetting.begin({ id: 'one', state: 'running', plan, counts, askedAt: 1 }))
  expect(await forgotten()).toEqual([true, false])
  await expect(store.write((tx) => refuseForgotten(tx, FORGOTTEN))).rejects.toMatchObject({ code: 'forbidden' })
  await store.write((tx) => refuseForgotten(tx, LATER))
  await store.write((tx) => tx.forgetting.finish('one', { plan, counts }))
  expect(await forgotten()).toEqual([false, false])
})

it('S41: what a turn has made of it by then goes too: what it had remembered, and files', async () => {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const session = sessionDraft(1)
  const entry = { agentId: toAgentId('main'), sessionId: session.id, authors: [], by: 'agent', at: 5 } as const
  const media = mediaId('a'.repeat(64))
  const file = { type: 'file', media, name: 'a.png', mimeType: 'image/png', size: 1 }
  const events = [{ type: 'tool_result', seq: 1, at: 1, data: { callId: 'c', content: [file] } }]
  const made = await store.write(async (tx) => {
    await tx.sessions.create(session, 1)
    for (const turn of [FORGOTTEN, LATER])
      await tx.memory.add({ ...entry, request: `tool ${turn} call_1`, text: turn, sources: [] })
    return madeMeanwhile(tx, FORGOTTEN, events as unknown as readonly SessionEvent[])
  })
  expect(made).toEqual({ entries: [1], media: [media] })
})

it('S41: of the messages that one turn has answered those go whose events are emptied', () => {
  const said = (seq: number, data: object): SessionEvent =>
    ({ type: 'user_message', seq, at: seq, data: { text: 'hello', ...data } }) as SessionEvent
  const events = [said(1, { row: 'in_1' }), said(2, { row: 'in_2' }), said(3, { messageId: '7' })]
  const scope = { dimensions: ['chat'] }
  const row = (id: string, messageId: string) =>
    ({ id, dispatch: { event: { messageId } }, decision: { route: { scope } } }) as unknown as InboxRow
  // The third is of an older log, which names no rows.
  const asked = [row('in_1', '5'), row('in_2', '6'), row('in_3', '7')]
  expect(rowsIn(events, { seqs: [1], asked })).toEqual(['in_1'])
  expect(rowsIn(events, { seqs: [2, 3], asked })).toEqual(['in_2', 'in_3'])
})

it('S41: of the messages of one number in two chats of a session that one goes whose event is emptied', () => {
  const events = [{ type: 'user_message', seq: 1, at: 1, data: { messageId: '7', chat: 'telegram:group:-1' } }]
  const row = (id: string, chat: string) => {
    const event = { messageId: '7', address: { channel: 'telegram', account: 'default', chatType: 'group', chat } }
    return { id, dispatch: { event }, decision: { route: { scope: { dimensions: [] } } } } as unknown as InboxRow
  }
  const asked = [row('in_1', '-1'), row('in_2', '-2')]
  expect(rowsIn(events as unknown as readonly SessionEvent[], { seqs: [1], asked })).toEqual(['in_1'])
})

it('S41: the messages go later that the running turn took, and no others', () => {
  const session = { id: toSessionId('telegram:2026-11-23-00000001'), empty: [1], cut: [], turns: [LATER] }
  const meant = [
    { id: 'in_1', turnId: FORGOTTEN },
    { id: 'in_2', turnId: LATER },
    { id: 'in_3' },
  ] as unknown as Parameters<typeof withRows>[1]
  const running = { turn: FORGOTTEN, empty: [2] }
  expect(withRows({ ...session, running }, meant).running).toEqual({ ...running, rows: ['in_1'] })
  expect(withRows({ ...session, running }, meant.slice(1))).toEqual({ ...session, running })
  expect(withRows(session, meant)).toEqual(session)
})
