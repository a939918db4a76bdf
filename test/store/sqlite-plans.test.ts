import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Address } from '../../src/core/address.ts'
import type { Namespace } from '../../src/core/caller.ts'
import { systemClock } from '../../src/core/clock.ts'
import {
  mediaId,
  type NoticeId,
  type PersonId,
  type TraceId,
  type TurnId,
  toAccountId,
  toAgentId,
  toScheduleId,
} from '../../src/core/ids.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { CronDefinition } from '../../src/core/schedule.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { openConnection } from '../../src/store/engines/sqlite-connection.ts'
import { KnownSessions } from '../../src/store/known-sessions.ts'
import { RepositoryWriter, storeReader } from '../../src/store/repositories.ts'
import type { SqlValue, TransactionSql } from '../../src/store/sql.ts'
import type { StoreReader, StoreWriter } from '../../src/store/store.ts'
import {
  deliveryOf,
  dispatchOf,
  ids,
  inboxRow,
  NOBODYS_ID,
  scopeKeyOf,
  sessionDraft,
  turnOf,
  userMessage,
} from './sample-rows.ts'
import { removeTempFolders, tempFolder } from './temp-database.ts'
import { useKeyedRequests } from './use-keyed-requests.ts'
import { listAnswer, readLists, useLists } from './use-lists.ts'
import { WHOLE } from './whole-reads.ts'

removeTempFolders()
const ACCOUNT = toAccountId('default')
const [SESSION, SCHEDULE] = [sessionDraft(1).id, toScheduleId('morning')]
const BUDGET = { payer: 'chat:1', period: '2026-11' }

it('every statement goes through an index, and every index has a statement', async () => {
  const path = join(tempFolder(), 'store.db')
  await (await openSqliteStore({ path, clock: systemClock })).close()
  const statements = await everyStatement()
  const connection = openConnection(path)
  const plans = [...statements].map(([text, params]) => {
    const steps = connection.all(`EXPLAIN QUERY PLAN ${text}`, params)
    return { text, steps: steps.map((row) => String(row.detail)) }
  })
  const scans = plans.filter(({ text, steps }) => !WHOLE.some((whole) => whole.test(text)) && steps.some(isScan))
  expect(scans).toEqual([])
  const used = plans.flatMap(({ steps }) => steps).join('\n')
  const indices = connection.all("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL", [])
  expect(indices.filter(({ name }) => !used.includes(String(name)))).toEqual([])
  connection.close()
})

/**
 * Walks rows instead of seeking them. Fine are the newest rows in key order, which end soon, and an index of running
 * turns.
 */
function isScan(step: string): boolean {
  return (
    step.startsWith('SCAN') &&
    !/^SCAN (\(subquery-\d+\)$|inbox$|outbox$|turns USING INDEX turns_running|search_words VIRTUAL TABLE INDEX \d+:(=|M)|json_each VIRTUAL|memory_entries$|checkpoints USING INDEX|(sessions|activity) USING INDEX|sessions USING COVERING INDEX sessions_joined$|admissions USING INDEX admissions_untold)/.test(
      step,
    )
  )
}

/** All the statements there are with parameters, from calling everything once. */
async function everyStatement(): Promise<ReadonlyMap<string, readonly SqlValue[]>> {
  const statements = new Map<string, readonly SqlValue[]>()
  const answered = /^(UPDATE|INSERT INTO (person|sessions|scopes)|SELECT 1 AS asked)/
  const answer = {
    no: 1,
    id: SESSION,
    last_seq: 1,
    last_activity_at: 1,
    shelf: 1,
    sessions: 0,
    by_span: 1,
    message_count: 1,
    turn_count: 1,
    preview: '',
    description: '',
    attempt: 1,
    total: 1,
    person_id: 'ada',
    scope_key: 'sk',
  }
  const answering =
    (answerTo: (text: string, params: readonly SqlValue[]) => unknown) =>
    async (text: string, params: readonly SqlValue[]) => {
      statements.set(text, params)
      return answerTo(text, params)
    }
  const sql = {
    all: answering(() => []),
    get: answering((text, params) => listAnswer(text, params) ?? (answered.test(text) ? answer : undefined)),
    run: answering(() => 1),
    afterCommit() {},
    afterUndo() {},
  } as TransactionSql
  const ground = { sql, logger: silentLogger, epoch: 2, caseSensitive: [] }
  await readAll(storeReader(ground))
  await writeAll(new RepositoryWriter({ ...ground, known: new KnownSessions() }))
  return statements
}

async function readAll(reader: StoreReader): Promise<void> {
  const { sessions, aliases, chatMoves, events, inbox, turns, outbox, people, channelState, schedules, mutes } = reader
  const { approvals, participants, questions, tokens } = reader
  await reader.ageing.agedOut()
  await reader.ageing.newest()
  await sessions.resolve('name')
  for (const inactive of [true, false]) await sessions.list({ limit: 1, offset: 0, inactive })
  await sessions.list({ limit: 1, offset: 0, inactive: false, activeSince: 1, participants: ['telegram:1'] })
  for (const of of [{ namespace: 'web:alice' as Namespace }, { parents: 'none' }, { parents: [SESSION] }] as const)
    await sessions.list({ limit: 1, offset: 0, inactive: true, ...of })
  await readLists(reader)
  await sessions.overridden()
  await sessions.deleted(1)
  await participants.of(SESSION)
  await participants.inAnyTeam('slack', 'u1')
  await tokens.get('tok_1')
  await approvals.get('aaaaa')
  await approvals.ofCall('turn_1' as TurnId, 'call')
  await approvals.open(1)
  await approvals.owed(1)
  await questions.get('aaaaa')
  await questions.ofCall('turn_1' as TurnId, 'call', 0)
  await questions.open(1)
  await questions.owed(1)
  await reader.cards.of('approval:aaaaa')
  await reader.cards.subjects()
  await reader.forgetting.open()
  await reader.forgetting.copiesOf(SESSION)
  await reader.standingRules.all()
  await tokens.all()
  await sessions.under('telegram:group:-1', 1)
  await sessions.ofScope(sessionDraft(1), 1)
  await aliases.of(scopeKeyOf(1))
  await aliases.carriers('name')
  await chatMoves.all()
  await events.since(SESSION, 1, 1)
  await events.latest(SESSION, 1)
  await events.latestSummary(SESSION)
  await events.spent(SESSION)
  await events.latestOf(SESSION, ['turn_completed'], 1)
  await inbox.get(NOBODYS_ID)
  await inbox.waiting(SESSION, 1)
  await inbox.sessionsWaiting()
  await inbox.commandsWaiting()
  await inbox.ofTurn(ids.turn())
  await inbox.byKey('telegram', ACCOUNT, 'e1')
  await inbox.saidAt('telegram', 1)
  await inbox.piecesOf('telegram', '1', 1)
  await inbox.find('name')
  await inbox.inSession(SESSION, '1')
  await inbox.waitingTexts('telegram', '1')
  await inbox.recent(1)
  await turns.get(ids.turn())
  await turns.interrupted()
  await turns.running()
  await turns.spentSince(1)
  await reader.media.used([mediaId('0'.repeat(64))])
  await reader.media.ofSession(SESSION)
  await reader.transcripts.of(mediaId('0'.repeat(64)))
  await outbox.get(ids.delivery())
  await outbox.ofSource(ids.turn())
  await outbox.plannedFor({ channel: 'telegram', chat: '1' }, { from: 1, to: 2, begunSince: 1 })
  await outbox.unfinished()
  await outbox.counts()
  await outbox.recent(['rejected'], 1)
  await outbox.recent(['sent'], 1)
  await people.all()
  await people.linkCode('hash')
  await people.changes(1)
  await people.directChats()
  await readAdmissions(reader.admissions)
  await channelState.get('telegram', ACCOUNT, 'key')
  await schedules.get(SCHEDULE)
  await schedules.all()
  await schedules.claimed()
  await schedules.recent(SCHEDULE, 1)
  await schedules.lastDone(SCHEDULE)
  await mutes.all()
  await readMemory(reader)
  await reader.budgets.counts([BUDGET])
  await Promise.all([reader.budgets.payersIn(BUDGET.period, 1), reader.budgets.payersNamed('chat:')])
}

async function readMemory({ memory, checkpoints, search, events }: StoreReader): Promise<void> {
  await memory.get(1)
  await memory.newest([SESSION], 1)
  await memory.sessions(toAgentId('main'))
  await memory.sessions(toAgentId('main'), scopeKeyOf(1))
  await memory.all(1)
  await checkpoints.owed()
  await checkpoints.unread(1, 1)
  await events.latestCheckpoint(SESSION)
  for (const of of ['entries', 'messages'] as const) {
    await search.find({ words: 'several words', of, limit: 1 })
    await search.find({ words: 'ab', of, sessions: [SESSION], limit: 1 })
  }
  await search.indexedTo(SESSION)
  await search.behind(1, 1)
}

async function writeMemory({ memory, checkpoints, search }: StoreWriter): Promise<void> {
  const rest = { authors: [], by: 'person', at: 1, sources: [{ messageId: '1' }] } as const
  await memory.add({ ...rest, agentId: toAgentId('main'), sessionId: SESSION, request: 'a', text: 'x' }).catch(() => {})
  await memory.change(1, { ...rest, text: 'y' })
  await memory.remove(1)
  await memory.removeOf(SESSION, { messageId: '1' })
  await memory.removeAll(SESSION)
  await checkpoints.owe(SESSION, 'idle', 1)
  await checkpoints.putOff(SESSION, 1)
  await checkpoints.settle(SESSION)
  await search.index(SESSION, 1, { added: [{ seq: 1, words: 'x' }], gone: [{ messageId: '1' }], copied: true })
}

async function readAdmissions(admissions: StoreReader['admissions']): Promise<void> {
  await admissions.all()
  await admissions.find('name')
  await admissions.unnotified(1)
  await admissions.refusals('key', 1, 1)
  await admissions.unhandled()
}

async function writeAll(tx: StoreWriter): Promise<void> {
  await tx.sessions.create(sessionDraft(1), 1).catch(() => {})
  await tx.sessions.current(scopeKeyOf(1))
  await tx.sessions.deactivate(SESSION, 1)
  await tx.sessions.point(SESSION)
  await tx.sessions.patchOverrides(SESSION, { set: { sendPolicy: 'deny' }, inherit: [] })
  await tx.sessions.describe(SESSION, 'x', 'ai')
  await tx.sessions.remove(SESSION, 1)
  await tx.sessions.purge(SESSION)
  await tx.participants.add(SESSION, 'telegram:1', 1)
  await tx.participants.remove(SESSION)
  await tx.events.remove(SESSION, 1)
  await tx.inbox.replaceDispatch(NOBODYS_ID, dispatchOf(1, 1))
  await tx.outbox.blank(ids.turn())
  await tx.forgetting.unnameApplicant('telegram:1')
  await tx.forgetting.unuse(SESSION, [mediaId('0'.repeat(64))])
  await tx.transcripts.add(mediaId('0'.repeat(64)), 'said', 1)
  await tx.transcripts.sweep(1)
  await tx.tokens.revoke('tok_1', 1)
  await useKeyedRequests(tx.keyedRequests)
  await useLists(tx)
  await changeApprovals(tx)
  await tx.sessions.setAgent(SESSION, toAgentId('main'))
  await tx.aliases.add(scopeKeyOf(1), ['name'])
  await tx.aliases.drop(scopeKeyOf(1))
  await useChatMoves(tx.chatMoves)
  await tx.events.append(SESSION, 1, [userMessage('x')])
  await tx.events.copy(SESSION, SESSION)
  await tx.inbox.add(inboxRow(1, 1))
  await tx.inbox.claim([NOBODYS_ID], ids.turn())
  await tx.inbox.settle(NOBODYS_ID, 'context')
  await tx.inbox.reopen(ids.turn(), SESSION)
  await tx.inbox.settleWaiting(SESSION, 'cancelled')
  await tx.turns.start(turnOf(SESSION, 1))
  await tx.turns.resume(ids.turn())
  await tx.turns.finish(ids.turn(), { state: 'completed', outcome: 'silent', at: 1, usage: { input: 0, output: 0 } })
  const delivery = deliveryOf(ids.turn())
  await tx.outbox.add([delivery])
  await tx.outbox.begin(delivery.id, ['planned'], 1)
  await tx.outbox.settle(delivery.id, { state: 'sent', at: 1 })
  await tx.outbox.replace(delivery.id, {
    op: 'edit',
    part: delivery.part,
    state: 'sending',
    lowPriority: undefined,
    at: 1,
  })
  await tx.outbox.fence()
  await tx.people.link('ada' as PersonId, 'owner', ['telegram:1'], 1)
  await tx.people.metAt({ platformId: 'telegram:1', address: delivery.address, at: 1 })
  const applicant = { kind: 'person', key: 'telegram:1' } as const
  const { address, traceId } = delivery
  await tx.admissions.ask({ ...applicant, code: 'a', name: 'A', address, traceId }, 1)
  await tx.admissions.notified(applicant.key, 1)
  await tx.admissions.decide(applicant.key, { state: 'denied', by: 'ada' }, 1)
  await tx.admissions.refuse(applicant.key, { inbox: NOBODYS_ID, at: 1, bytes: 1 }, { since: 1, messages: 1, bytes: 1 })
  await tx.admissions.beyond('notified', 1)
  await tx.admissions.beyond('unnotified', 1)
  await tx.admissions.before('notified', 1)
  await tx.admissions.before('unnotified', 1)
  await tx.admissions.withdraw(applicant.key)
  await tx.admissions.rekey(applicant.key, 'telegram:2', delivery.address)
  await tx.admissions.forget(applicant.key)
  await tx.admissions.forget(applicant.key, NOBODYS_ID)
  await tx.people.join('ada' as PersonId, 'telegram:1', 1)
  await tx.people.unlink('telegram:1')
  await tx.people.addLinkCode(
    { hash: 'h', person: 'ada' as PersonId, maker: 'telegram:1', shownAt: delivery.address, expiresAt: 1 },
    1,
  )
  await tx.people.useLinkCode('h', NOBODYS_ID)
  await tx.people.withdrawLinkCode('h')
  await tx.people.recordChange({ at: 1, kind: 'linked', person: 'ada' as PersonId, platformId: 'x', by: 'y' })
  await tx.channelState.set('telegram', ACCOUNT, 'key', 'value')
  await tx.channelState.delete('telegram', ACCOUNT, 'key')
  await tx.notices.once('key', 1, 1)
  await tx.ageing.messages(1, 1)
  await tx.ageing.deliveries(1, 1)
  await tx.ageing.answers(1, 1)
  await tx.ageing.notices(1, 1)
  await tx.ageing.mutes(1, 1)
  await tx.mutes.set({ conversation: 'x' }, 1)
  await tx.mutes.clear('x')
  await writeSchedules(tx.schedules)
  await writeMemory(tx)
  await writeBudgets(tx.budgets)
}

async function writeBudgets(budgets: StoreWriter['budgets']): Promise<void> {
  const amount = { tokens: 1, micros: 1 }
  await budgets.hold('call', amount, [{ ...BUDGET, endsAt: 1 }])
  await budgets.settle('call', amount)
  await budgets.settleDead()
  await budgets.warn(BUDGET)
  await budgets.miss({ ...BUDGET, endsAt: 1 }, amount)
  await budgets.rename('chat:1', 'chat:2')
  await budgets.sweep(1, 1)
}

async function useChatMoves(chatMoves: StoreWriter['chatMoves']): Promise<void> {
  const move = { channel: 'telegram', from: '-1', to: '-1001' } as const
  const { dispatch, decision } = inboxRow(1, 1)
  await chatMoves.add(move, 1)
  await chatMoves.sessionsIn(move)
  await chatMoves.rekeySession({ ...sessionDraft(1), id: SESSION })
  await chatMoves.repoint(scopeKeyOf(1), scopeKeyOf(2), SESSION)
  await chatMoves.rewriteInbox(NOBODYS_ID, dispatch, decision)
  await chatMoves.rewriteReply(ids.turn(), dispatch.reply)
  await chatMoves.rewriteDelivery(ids.delivery(), dispatch.reply.address)
  await chatMoves.rewriteSchedule(SCHEDULE, scheduleTo(dispatch.reply.address))
}

function scheduleTo(deliverTo: Address): CronDefinition {
  return { cron: '@daily', timezone: 'UTC', prompt: 'x', missed: { kind: 'once' }, overlap: 'skip', deliverTo }
}

async function writeSchedules(schedules: StoreWriter['schedules']): Promise<void> {
  const deliverTo = deliveryOf(ids.turn()).address
  await schedules.put({ id: SCHEDULE, source: 'config', definition: scheduleTo(deliverTo) }, 1)
  await schedules.setPaused(SCHEDULE, true, 1)
  await schedules.setEvaluated(SCHEDULE, 1)
  await schedules.addSlot({ scheduleId: SCHEDULE, slotAt: 1, state: 'skipped', at: 1 })
  await schedules.setReading(ids.trace(), {})
  await schedules.endSlot(ids.trace(), { state: 'done', outcome: 'silent', at: 1 })
  await schedules.pruneSlots(SCHEDULE, 1)
  await schedules.remove(SCHEDULE)
}

const NOTICE = 'note_1' as NoticeId

async function changeApprovals({ approvals, cards, questions, standingRules }: StoreWriter): Promise<void> {
  await standingRules.add({ code: 'aaaaa', tool: 'pay', agent: toAgentId('main'), who: 'owner', by: 'ada', at: 1 })
  await standingRules.remove('aaaaa')
  await cards.add('approval:aaaaa', NOTICE)
  await cards.remove('approval:aaaaa', NOTICE)
  const { reply } = dispatchOf(1, 1)
  const call = { sessionId: SESSION, turnId: 'turn_1' as TurnId, callId: 'call', traceId: 'tr_1' as TraceId }
  await approvals.add({ ...call, code: 'aaaaa', tool: 'pay', args: {}, reply, askedAt: 1 })
  await approvals.decide('aaaaa', { state: 'allowed', by: 'ada', at: 1 })
  await approvals.leave(call.turnId, call.callId)
  await approvals.use('aaaaa', call.turnId)
  await approvals.remove(SESSION)
  await questions.add({ ...call, part: 0, code: 'aaaaa', text: 'Which?', choices: ['a', 'b'], reply, askedAt: 1 })
  const by = { author: 'telegram:1', sender: { id: '1', kind: 'user' }, identity: { role: 'guest' } } as const
  await questions.answer('aaaaa', { answer: 'a', by })
  await questions.take('aaaaa')
  await questions.end('aaaaa')
  await questions.remove(SESSION)
}
