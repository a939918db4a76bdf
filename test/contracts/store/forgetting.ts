import { expect, it } from 'vitest'
import type { NewApproval } from '../../../src/core/approval.ts'
import { type Forgetting, MOST_AT_FIRST, NO_PLAN, NOTHING_FORGOTTEN } from '../../../src/core/forgetting.ts'
import { mediaId, type SourceId, toAgentId } from '../../../src/core/ids.ts'
import { quotedEvent } from '../../../src/core/quoting.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import {
  assistantMessage,
  deliveryOf,
  dispatchOf,
  ids,
  inboxRow,
  sessionDraft,
  turnOf,
  userMessage,
} from '../../store/sample-rows.ts'
import { type ContractPart, makeSession } from './under-test.ts'

const ONE: Forgetting = { id: 'in_1', state: 'running', plan: NO_PLAN, counts: NOTHING_FORGOTTEN, askedAt: 1 }

export const forgettingContract: ContractPart = (underTest) => {
  it('a request that was begun is open until it is finished, after a restart too', async () => {
    await underTest.store.write((tx) => tx.forgetting.begin(ONE))
    const { read, write } = await underTest.reopen()
    expect(await read.forgetting.open()).toEqual([ONE])
    const counts = { ...NOTHING_FORGOTTEN, events: 3 }
    await write((tx) => tx.forgetting.note('in_1', counts))
    expect(await read.forgetting.get('in_1')).toEqual({ ...ONE, counts })
    await write((tx) => tx.forgetting.finish('in_1', { plan: NO_PLAN, counts }))
    expect(await read.forgetting.open()).toEqual([])
    expect(await read.forgetting.recent(5)).toEqual([{ ...ONE, state: 'done', counts }])
  })

  it('S41: whoever read words learns at the commit that some of theirs were taken out, in whatever way', async () => {
    const [one, other] = [await makeSession(underTest.store, 1), await makeSession(underTest.store, 2)]
    const { read, write } = underTest.store
    const says = (text: string) =>
      write((tx) => tx.events.append(one.id, 1_000, [userMessage(text, { messageId: '1' })]))
    await says('a heron')
    const entry = { agentId: one.agentId, sessionId: one.id, authors: [], by: 'person', at: 1, sources: [] } as const
    const { no } = await write((tx) => tx.memory.add({ ...entry, text: 'a gull', request: 'r' }))
    const data = { turn: ids.turn(), messages: [], command: ids.inbox() }
    const takenBack = { type: 'exchange_taken_back', data } as const
    const removals: readonly ((tx: StoreWriter) => Promise<unknown>)[] = [
      (tx) => tx.forgetting.empty(one.id, [1], 'all'),
      (tx) => tx.events.append(one.id, 1, [{ type: 'words_forgotten', data: { by: 'x', events: 1 } }]),
      (tx) => tx.forgetting.emptyParts(one.id, [{ seq: 1, places: [0] }]),
      (tx) => tx.events.append(one.id, 1, [{ type: 'message_deleted', data: { messageId: '1' } }]),
      (tx) => tx.events.append(one.id, 1, [takenBack]),
      (tx) => tx.memory.remove(no),
      (tx) => tx.sessions.remove(one.id, 1),
    ]
    for (const remove of removals) {
      const since = await read.forgetting.removals()
      await write(async (tx) => {
        await remove(tx)
        // Another body of the same commit sees it too.
        expect(await tx.forgetting.hasRemovedSince(since, [other.id, one.id])).toBe(true)
      })
      expect(await read.forgetting.hasRemovedSince(since, [other.id, other.id])).toBe(false)
      expect(await read.forgetting.hasRemovedSince(since)).toBe(true)
      expect(await read.forgetting.hasRemovedSince(await read.forgetting.removals())).toBe(false)
    }
    const since = await read.forgetting.removals()
    await write((tx) => tx.forgetting.begin(ONE))
    expect(await read.forgetting.hasRemovedSince(since)).toBe(true)
  })

  it('S41: whoever read words of a session learns that it was deleted, also once another one has its id', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const since = await underTest.store.read.forgetting.removals()
    await underTest.store.write((tx) => tx.sessions.remove(id, 1))
    await makeSession(underTest.store, 1, { id })
    const { forgetting } = underTest.store.read
    expect(await forgetting.hasRemovedSince(since, [id])).toBe(true)
    expect(await forgetting.hasRemovedSince(await forgetting.removals(), [id])).toBe(false)
  })

  it('S41: what a request is going to take out is known by its number from the beginning on', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const running = { turn: ids.turn(), empty: [2], rows: [ids.inbox()] }
    const plan = { ...NO_PLAN, inbox: [ids.inbox()], sources: [ids.inbox()] }
    const long = Array.from({ length: MOST_AT_FIRST + 1 }, (_, at) => MOST_AT_FIRST + 1 - at)
    const sessions = [{ id, empty: long, cut: [], turns: [], running }]
    await underTest.store.write(async (tx) => {
      await tx.events.append(id, 1, [userMessage('a heron', { messageId: '1' })])
      await tx.forgetting.begin({ ...ONE, plan: { ...plan, sessions } })
    })
    const { forgetting } = underTest.store.read
    for (const one of [...plan.inbox, ...plan.sources, ...running.rows])
      expect(await forgetting.isMeant(one)).toBe(true)
    expect(await forgetting.isMeant(ids.inbox())).toBe(false)
    // The first commit has emptied the newest events alone.
    expect(await forgetting.hasRemovedSince(await forgetting.removals(), [id])).toBe(true)
    // It is open longer, while a turn runs: whoever reads by then leaves out what goes with that turn.
    await underTest.store.write((tx) => tx.forgetting.empty(id, [1], 'all'))
    expect(await forgetting.hasRemovedSince(await forgetting.removals(), [id])).toBe(false)
    expect(await forgetting.leaving(id)).toEqual({ turns: [running.turn], seqs: [2] })
    expect(await forgetting.isMeant(running.rows[0] ?? ids.inbox())).toBe(true)
    await underTest.store.write((tx) => tx.forgetting.finish('in_1', { plan, counts: NOTHING_FORGOTTEN }))
    expect(await forgetting.isMeant(running.rows[0] ?? ids.inbox())).toBe(false)
    expect(await forgetting.hasRemovedSince(await forgetting.removals(), [id])).toBe(false)
    expect(await forgetting.leaving(id)).toEqual({ turns: [], seqs: [] })
  })

  it('S41: what a turn has had remembered is found by the turn, and nothing of another or of a person', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const turn = ids.turn()
    const entry = { agentId: toAgentId('main'), sessionId: id, authors: ['telegram:111'], by: 'agent', at: 5 } as const
    const requests = [
      `tool ${turn} call_1`,
      `tool ${ids.turn()} call_1`,
      `tool ${turn} call_2`,
      `tool ${turn}0 call_1`,
      'in_1',
    ]
    await underTest.store.write(async (tx) => {
      for (const request of requests) await tx.memory.add({ ...entry, request, text: request, sources: [] })
    })
    expect(await underTest.store.read.forgetting.entriesOfTurn(turn)).toEqual([1, 3])
  })

  it('S41: what a command has had remembered is found by the command', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const [row, other] = [ids.inbox(), ids.inbox()]
    const entry = { agentId: toAgentId('main'), sessionId: id, authors: ['telegram:111'], by: 'person', at: 5 } as const
    await underTest.store.write(async (tx) => {
      for (const request of [`command ${row}`, `command ${other}`, `tool ${row}`])
        await tx.memory.add({ ...entry, request, text: request, sources: [] })
    })
    expect(await underTest.store.read.memory.ofCommands([row])).toMatchObject([{ no: 1, text: `command ${row}` }])
  })

  it('a limit has one mark, until it is gone', async () => {
    const mark = { rule: 'retention.days', days: 30, reportedAt: 1, startsAt: 2 }
    await underTest.store.write(async (tx) => {
      await tx.forgetting.mark(mark)
      await tx.forgetting.mark({ ...mark, days: 20 })
    })
    expect(await underTest.store.read.forgetting.marks()).toEqual([{ ...mark, days: 20 }])
    await underTest.store.write((tx) => tx.forgetting.unmark('retention.days'))
    expect(await underTest.store.read.forgetting.marks()).toEqual([])
  })

  it('S41: an event is emptied once, with what is indexed of it; a quotation alone leaves the words beside it', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const quoted = { messageId: '4', text: 'a quoted gull', own: false }
    const said = userMessage('a heron', { messageId: '5', quoted })
    await underTest.store.write(async (tx) => {
      await tx.events.append(id, 2_000, [said, assistantMessage('a bluebird')])
      await tx.search.index(id, 2, { added: [{ seq: 2, words: 'a bluebird' }], gone: [] })
    })
    const empty = (seqs: readonly number[], what: 'all' | 'quotes') =>
      underTest.store.write((tx) => tx.forgetting.empty(id, seqs, what))
    const log = async () => JSON.stringify(await underTest.store.read.events.since(id, 0, 5))
    expect(await empty([1], 'quotes')).toMatchObject({ quotes: 1, events: 0 })
    expect(await log()).toContain('a heron')
    expect(await log()).not.toContain('gull')
    expect(await empty([1, 2], 'all')).toMatchObject({ events: 2, messages: 2, indexed: 1 })
    expect(await empty([1, 2], 'all')).toEqual(NOTHING_FORGOTTEN)
    expect(await log()).not.toMatch(/heron|bluebird/)
    const find = { words: 'bluebird', of: 'messages', limit: 5 } as const
    expect(await underTest.store.read.search.find(find)).toEqual([])
  })

  it('S41: what a message passed on leaves the index, and what its writer has said beside it stays there', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const { read, write } = underTest.store
    const passedOn = { from: { id: '444', kind: 'user' }, text: 'a quoted gull' } as const
    await write(async (tx) => {
      const said = userMessage('a heron', { messageId: '5', forwarded: passedOn })
      await tx.events.append(id, 2_000, [said, userMessage('a quoted gull', { messageId: '6', forwarded: {} })])
      const added = [
        { seq: 1, words: 'a heron [forwarded] a quoted gull', message: { messageId: '5' } },
        { seq: 2, words: '[forwarded] a quoted gull', message: { messageId: '6' } },
      ]
      await tx.search.index(id, 2, { added, gone: [] })
    })
    const find = async (words: string) =>
      (await read.search.find({ words, of: 'messages', limit: 5 })).map(({ seq }) => seq)
    expect(await find('gull')).toEqual([2, 1])
    for (const indexed of [2, 0])
      expect(await write((tx) => tx.forgetting.empty(id, [1, 2], 'quotes'))).toMatchObject({ indexed })
    expect([await find('gull'), await find('heron')]).toEqual([[], [1]])
    await write((tx) => tx.search.index(id, 2, { added: [], gone: [{ messageId: '5' }] }))
    expect(await find('heron')).toEqual([])
  })

  it('S41: of an event with what several people have sent the rest keeps its place', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const said = (text: string, quoted?: string) => {
      const event = userMessage(
        text,
        quoted === undefined ? {} : { quoted: { messageId: '4', text: quoted, own: false } },
      )
      return event.type === 'user_message' ? [event.data] : []
    }
    const messages = [...said('a heron'), ...said('a bluebird'), ...said('a wren', 'a quoted gull')]
    const files = ['one', 'two'].map((ref) => ({ ref, text: `text of ${ref}` }))
    await underTest.store.write((tx) =>
      tx.events.append(id, 2_000, [
        { type: 'thread_read', data: { messages, leftOut: 0 } },
        { type: 'files_read', data: { files } },
      ]),
    )
    const parts = [
      { seq: 1, places: [0], quotes: [2] },
      { seq: 2, places: [0] },
    ]
    for (const _ of ['first', 'again'])
      expect(await underTest.store.write((tx) => tx.forgetting.emptyParts(id, parts))).toEqual({ events: 2 })
    const [thread, read] = await underTest.store.read.events.since(id, 0, 5)
    expect(thread?.data).toMatchObject({ messages: [{ text: '' }, { text: 'a bluebird' }, { text: 'a wren' }] })
    expect(JSON.stringify(thread)).not.toMatch(/heron|gull/)
    expect(read?.data).toEqual({ files: [{ ref: '' }, files[1]] })
    expect([thread?.forgotten, read?.forgotten]).toEqual([undefined, undefined])
  })

  it('S41: a text that is not sent yet never is, and one that is sent is emptied; a deletion stays planned', async () => {
    const rows = (['planned', 'sent', 'uncertain'] as const).map((state) => deliveryOf(ids.inbox(), { state }))
    const removal = deliveryOf(ids.inbox(), { state: 'planned', op: 'delete', messageId: '7' })
    await underTest.store.write((tx) => tx.outbox.add([...rows, removal]))
    const empty = (source: SourceId) => underTest.store.write((tx) => tx.forgetting.emptySent(source))
    const counts = []
    for (const { source } of [...rows, removal]) counts.push(await empty(source))
    const [open, done, nothing] = [
      { sent: 0, notSent: 1 },
      { sent: 1, notSent: 0 },
      { sent: 0, notSent: 0 },
    ]
    expect(counts).toEqual([open, done, open, done])
    expect(await empty(rows[1]?.source ?? removal.source)).toEqual(nothing)
    const now = await Promise.all([...rows, removal].map(({ id }) => underTest.store.read.outbox.get(id)))
    expect(now.map((row) => row?.part.text)).toEqual(['', '', '', ''])
    expect(now.map((row) => row?.state)).toEqual(['expired', 'sent', 'given_up', 'planned'])
  })

  it('S41: a text keeps what it says beside the words that it quotes, and these come back by no change of it', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const { read, write } = underTest.store
    const texts = (words: string) => ({ text: words, plain: words })
    const quoting = (seq: number) => ({ of: quotedEvent(id, seq), ...texts('Ada asks.') })
    const part = (seq: number) => ({ ...texts('Ada asks: eel'), markup: 'html', quoting: quoting(seq) }) as const
    const rows = [1, 1, 2].map((seq) => deliveryOf(ids.inbox(), { part: part(seq), state: 'sending' }))
    await write(async (tx) => {
      await tx.events.append(id, 1, [userMessage('eel', { messageId: '1' }), userMessage('cod', { messageId: '2' })])
      await tx.outbox.add(rows)
    })
    await write((tx) => tx.forgetting.empty(id, [1], 'quotes'))
    for (const row of rows)
      await write((tx) =>
        tx.outbox.replace(row.id, { op: 'send', part: row.part, state: 'uncertain', lowPriority: undefined, at: 1 }),
      )
    const left = { ...texts('Ada asks.'), markup: 'html' }
    const now = await Promise.all(rows.map((row) => read.outbox.get(row.id)))
    expect(now.map((row) => row?.part)).toEqual([left, left, part(2)])
    expect(now.map((row) => row?.earlier)).toEqual([left, left, part(2)])
  })

  it('S41: the text that a lost call had, whose deletion is under way, is emptied too', async () => {
    const row = deliveryOf(ids.inbox(), { state: 'sending' })
    const part = { text: '', plain: '', markup: 'plain' } as const
    const removal = { op: 'delete', part, state: 'uncertain', lowPriority: undefined, at: 80 } as const
    await underTest.store.write(async (tx) => {
      await tx.outbox.add([row])
      await tx.outbox.replace(row.id, removal)
    })
    const { outbox } = underTest.store.read
    expect(JSON.stringify(await outbox.get(row.id))).toContain('echo')
    await underTest.store.write((tx) => tx.forgetting.emptySent(row.source))
    expect(JSON.stringify(await outbox.get(row.id))).not.toContain('echo')
    expect(await outbox.get(row.id)).toMatchObject({ op: 'delete', state: 'uncertain' })
  })

  it('S41: a question of a turn that is forgotten has no arguments; one that was allowed and not made never is', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const turn = turnOf(id, 1)
    const ask = (code: string): NewApproval => ({
      ...{ code, sessionId: id, turnId: turn.id, callId: `call_${code}`, traceId: turn.traceId, tool: 'pay' },
      ...{ args: { to: 'cy' }, reply: turn.reply, askedAt: 1_000 },
    })
    const late = inboxRow(1, 5, { sessionId: id })
    const { dispatch } = late
    const made = { ...late, dispatch: { ...dispatch, event: { ...dispatch.event, eventKey: 'approval:allowed' } } }
    await underTest.store.write(async (tx) => {
      await tx.turns.start(turn)
      for (const code of ['asked', 'allowed', 'used']) await tx.approvals.add(ask(code))
      for (const code of ['allowed', 'used'])
        await tx.approvals.decide(code, { state: 'allowed', by: 'ada', at: 2_000 })
      await tx.approvals.use('used', turn.id)
      await tx.inbox.add(made)
      const precheck = { answer: true, model: 'small', because: 'cy is to be paid' }
      const end = { state: 'completed', outcome: 'answered', at: 3_000, usage: { input: 1, output: 1 } } as const
      await tx.turns.finish(turn.id, { ...end, precheck })
    })
    expect(await underTest.store.write((tx) => tx.forgetting.emptyTurns([turn.id]))).toBe(3)
    expect(JSON.stringify(await underTest.store.read.turns.get(turn.id))).not.toContain('cy is to be paid')
    const of = async (code: string) => (await underTest.store.read.approvals.get(code)) ?? {}
    expect(await of('asked')).toMatchObject({ state: 'denied', args: {} })
    expect(await of('allowed')).toMatchObject({ state: 'denied', args: {} })
    expect(await of('allowed')).not.toHaveProperty('decidedBy')
    expect(await of('used')).toMatchObject({ state: 'used', args: {}, decidedBy: 'ada' })
    expect(await underTest.store.read.inbox.get(late.id)).toMatchObject({ state: 'done', outcome: 'forgotten' })
    expect(await underTest.store.write((tx) => tx.forgetting.emptyTurns([turn.id]))).toBe(0)
  })

  it('S41: a message that was received is emptied once, and a request that is over names sessions alone', async () => {
    const row = inboxRow(1, 5)
    const left = { decision: row.decision, dispatch: dispatchOf(1, 6) }
    await underTest.store.write((tx) => tx.inbox.add(row))
    const empty = () => underTest.store.write((tx) => tx.forgetting.emptyReceived(row.id, left))
    expect([await empty(), await empty()]).toEqual([true, false])
    const sessions = [{ id: sessionDraft(1).id, empty: [1], cut: [2], turns: [ids.turn()] }]
    await underTest.store.write(async (tx) => {
      await tx.forgetting.begin(ONE)
      await tx.forgetting.finish('in_1', { plan: { ...NO_PLAN, sessions, entries: [3] }, counts: NOTHING_FORGOTTEN })
    })
    const { plan } = (await underTest.store.read.forgetting.get('in_1')) ?? {}
    const unnamed = [{ id: sessions[0]?.id, empty: [], cut: [], turns: [], unnamed: 'preview' }]
    expect(plan).toEqual({ ...NO_PLAN, sessions: unnamed })
  })

  it('S41: a file is used until the last message that names it is emptied, and so is what was heard in it', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const media = mediaId('1'.repeat(64))
    const file = { type: 'file', media, mime: 'audio/ogg', size: 1 } as const
    const said = userMessage('listen', { attachments: [{ kind: 'voice', ref: 'f1', media: file }] })
    await underTest.store.write(async (tx) => {
      await tx.events.append(id, 2_000, [said, said])
      await tx.transcripts.add(media, 'hello', 5)
    })
    const { media: files, transcripts } = underTest.store.read
    const emptied = (seq: number) =>
      underTest.store.write(async (tx) => {
        await tx.forgetting.empty(id, [seq], 'all')
        return tx.forgetting.unuse(id, [media])
      })
    expect(await emptied(1)).toBe(0)
    expect([[...(await files.used([media]))], await transcripts.of(media)]).toEqual([[media], 'hello'])
    expect(await emptied(2)).toBe(1)
    expect([[...(await files.used([media]))], await transcripts.of(media)]).toEqual([[], undefined])
  })
}
