import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { type ForgetPlan, NO_PLAN } from '../../../src/core/forgetting.ts'
import type { RequestId } from '../../../src/core/keyed-request.ts'
import { beginApplying, pieces } from '../../../src/sessions/forgetting/apply.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { commandOf, dispatchOf, inboxRow, messageOf, sessionDraft, userMessage } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const PORTS = { dropSchedule: async () => {}, dropView: () => {} }

async function rig() {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const session = sessionDraft(1)
  await store.write((tx) => tx.sessions.create(session, 1))
  return { store, session }
}

it('S41: a message that waits and is forgotten is answered no more; a command that waits is carried out', async () => {
  const { store, session } = await rig()
  const message = inboxRow(1, 5, { sessionId: session.id })
  const command = inboxRow(1, 6, { decision: commandOf(1) })
  const inbox = [message.id, command.id]
  await store.write(async (tx) => {
    for (const row of [message, command]) await tx.inbox.add(row)
  })
  const states = async () => Promise.all(inbox.map(async (id) => (await store.read.inbox.get(id))?.state))
  const plan = { ...NO_PLAN, inbox }
  await store.write((tx) => beginApplying(tx, 'forget 1', plan, PORTS))
  expect(await states()).toEqual(['done', 'waiting'])
  expect(await store.read.inbox.waiting(session.id, 5)).toEqual([])
  for (const piece of pieces(plan)) await store.write(async (tx) => void (await piece(tx)))
  expect(await states()).toEqual(['done', 'waiting'])
  expect(JSON.stringify(await store.read.inbox.get(message.id))).not.toContain('message 5')
})

it('S41: what lists show of a session stays where nothing of it goes', async () => {
  const { store, session } = await rig()
  await store.write((tx) => tx.events.append(session.id, 1, [userMessage('the words of Bob')]))
  const begin = (empty: readonly number[]) => {
    const sessions: ForgetPlan['sessions'] = [{ id: session.id, empty, cut: [], turns: [], unnamed: 'preview' }]
    return store.write((tx) => beginApplying(tx, 'forget 1', { ...NO_PLAN, sessions }, PORTS))
  }
  await begin([])
  expect(await store.read.sessions.get(session.id)).toMatchObject({ preview: 'the words of Bob' })
  await begin([1])
  expect(await store.read.sessions.get(session.id)).toMatchObject({ preview: '' })
})

it('S41: a message that owed no answer is forgotten as well; the reply that asks for it counts as no quotation', async () => {
  const { store, session } = await rig()
  const quoted = { messageId: '5', text: 'the words of Bob', own: false }
  const quoting = (no: number) => ({ ...dispatchOf(1, no), event: { ...messageOf(1, no), quoted } })
  const command = { ...quoting(7), event: { ...quoting(7).event, kind: 'command', name: 'forget', args: '' } as const }
  const [heard, reply, asking] = [
    inboxRow(1, 5, { state: 'done', outcome: 'context' }),
    inboxRow(1, 6, { dispatch: quoting(6), sessionId: session.id }),
    inboxRow(1, 7, { dispatch: command, decision: commandOf(1) }),
  ]
  await store.write(async (tx) => {
    for (const row of [heard, reply, asking]) await tx.inbox.add(row)
  })
  const plan = { ...NO_PLAN, inbox: [heard.id], quoting: [reply.id, asking.id] }
  let quotes = 0
  for (const piece of pieces(plan)) quotes += (await store.write((tx) => piece(tx))).quotes ?? 0
  expect(quotes).toBe(1)
  expect(await store.read.inbox.get(heard.id)).toMatchObject({ outcome: 'forgotten' })
  for (const { id } of [reply, asking]) expect(JSON.stringify(await store.read.inbox.get(id))).not.toContain('of Bob')
})

it('S41: what goes for its age is known from what somebody has asked for, which stays so', async () => {
  const { store } = await rig()
  const [asked, aged] = [5, 6].map((no) => inboxRow(1, no, { state: 'done', outcome: 'context' }))
  if (asked === undefined || aged === undefined) throw new Error('Two rows were made.')
  const apply = async (plan: ForgetPlan) => {
    for (const piece of pieces(plan)) await store.write((tx) => piece(tx))
  }
  await store.write(async (tx) => void [await tx.inbox.add(asked), await tx.inbox.add(aged)])
  await apply({ ...NO_PLAN, inbox: [asked.id] })
  await apply({ ...NO_PLAN, inbox: [asked.id, aged.id], aged: true })
  const outcomes = async () => [await store.read.inbox.get(asked.id), await store.read.inbox.get(aged.id)]
  expect(await outcomes()).toMatchObject([{ outcome: 'forgotten' }, { outcome: 'aged' }])
  await apply({ ...NO_PLAN, inbox: [aged.id] })
  expect(await outcomes()).toMatchObject([{ outcome: 'forgotten' }, { outcome: 'forgotten' }])
})

it('S41: the kept answers of keyed requests go with the first commit', async () => {
  const { store } = await rig()
  const request = { key: 'k', id: 'r1' as RequestId, holder: 'operator', content: 'c', begunAt: 5 }
  await store.write(async (tx) => {
    await tx.keyedRequests.begin(request, { requests: 9, bodies: 9 })
    await tx.keyedRequests.answered(request.id, 200, 'the words of Bob')
  })
  await store.write((tx) => beginApplying(tx, 'forget 1', NO_PLAN, PORTS))
  expect(await store.read.keyedRequests.get('k')).toEqual({ ...request, answer: { status: 200 } })
})
