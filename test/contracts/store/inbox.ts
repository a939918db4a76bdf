import { expect, it } from 'vitest'
import type { Dispatch } from '../../../src/core/dispatch.ts'
import { NO_PLAN, NOTHING_FORGOTTEN } from '../../../src/core/forgetting.ts'
import { type InboxId, madeAt } from '../../../src/core/ids.ts'
import type { NewInboxRow } from '../../../src/store/inbox-port.ts'
import { commandOf, ids, inboxRow, NOBODYS_ID, turnOf } from '../../store/sample-rows.ts'
import { type ContractPart, failureOf, makeSession, WRONG_JSON } from './under-test.ts'

export const inboxContract: ContractPart = (underTest) => {
  const add = (...rows: readonly ReturnType<typeof inboxRow>[]) =>
    underTest.store.write(async (tx) => {
      const added: boolean[] = []
      for (const row of rows) added.push(await tx.inbox.add(row))
      return added
    })
  const idsOf = (rows: readonly { id: string }[]) => rows.map((row) => row.id)

  it('a row comes back word for word', async () => {
    const waiting = inboxRow(1, 1)
    const { id } = await makeSession(underTest.store, 1)
    const settled = inboxRow(1, 2, { state: 'done', outcome: 'refused: queue_full', sessionId: id, turnId: ids.turn() })
    await add(waiting, settled)
    const store = await underTest.reopen()
    expect(await store.read.inbox.get(waiting.id)).toEqual(waiting)
    expect(await store.read.inbox.get(settled.id)).toEqual(settled)
    expect(await store.read.inbox.get(NOBODYS_ID)).toBeUndefined()
  })

  it('S43: a repeated delivery is stored once, also after a restart', async () => {
    const first = inboxRow(1, 1)
    const repeat = inboxRow(1, 1)
    expect(await add(first, repeat)).toEqual([true, false])
    await underTest.reopen()
    expect(await add(inboxRow(1, 1))).toEqual([false])
    expect(await underTest.store.read.inbox.recent(10)).toEqual([first])
  })

  it('S43: of parallel repeats one is stored', async () => {
    const added = await Promise.all(Array.from({ length: 20 }, () => add(inboxRow(1, 1))))
    expect(added.flat().filter(Boolean)).toHaveLength(1)
  })

  it('waiting rows of a session come oldest first and bounded, commands apart', async () => {
    const { id: sessionId } = await makeSession(underTest.store, 1)
    const other = await makeSession(underTest.store, 2)
    const [a, b, c] = [1, 2, 3].map((no) => inboxRow(1, no, { sessionId }))
    const command = inboxRow(1, 4, { sessionId, decision: commandOf(1) })
    const elsewhere = inboxRow(2, 1, { sessionId: other.id })
    const rows = [a, command, b, elsewhere, c].filter((row) => row !== undefined)
    await add(...rows)
    const { inbox } = underTest.store.read
    expect(idsOf(await inbox.waiting(sessionId, 10))).toEqual(idsOf(rows.filter((row) => [a, b, c].includes(row))))
    expect(await inbox.waiting(sessionId, 2)).toHaveLength(2)
    expect(await inbox.commandsWaiting()).toEqual([command])
    expect(await inbox.sessionsWaiting()).toEqual([sessionId, other.id])
  })

  it('the messages of a turn that has ended can wait once more, and for no other', async () => {
    const { store } = underTest
    const { id: sessionId } = await makeSession(store, 1)
    const [mine, other] = [turnOf(sessionId, 1), ids.turn()]
    const rows = [1, 2].map((no) => inboxRow(1, no, { sessionId, state: 'claimed', turnId: mine.id }))
    const foreign = inboxRow(1, 3, { sessionId, state: 'claimed', turnId: other })
    await add(...rows, foreign)
    await store.write(async (tx) => {
      await tx.turns.start(mine)
      const usage = { input: 0, output: 0 }
      await tx.turns.finish(mine.id, { state: 'completed', outcome: 'answered', at: 1, usage })
    })
    expect(await store.write((tx) => tx.inbox.reopen(mine.id, sessionId))).toBe(2)
    expect(idsOf(await store.read.inbox.waiting(sessionId, 9))).toEqual(idsOf(rows))
    expect(await store.read.inbox.get(rows[0]?.id ?? NOBODYS_ID)).not.toHaveProperty('outcome')
    expect(await store.read.inbox.ofTurn(mine.id)).toEqual([])
    expect(idsOf(await store.read.inbox.ofTurn(other))).toEqual([foreign.id])
  })

  it('claim binds waiting rows to a turn, each row once', async () => {
    const { id: sessionId } = await makeSession(underTest.store, 1)
    const rows = Array.from({ length: 120 }, (_, no) => inboxRow(1, no, { sessionId }))
    await add(...rows)
    const [turnId, late] = [ids.turn(), ids.turn()]
    expect(await underTest.store.write((tx) => tx.inbox.claim(idsOf(rows) as never, turnId))).toBe(120)
    expect(await underTest.store.write((tx) => tx.inbox.claim(idsOf(rows) as never, late))).toBe(0)
    const bound = await underTest.store.read.inbox.ofTurn(turnId)
    expect(idsOf(bound)).toEqual(idsOf(rows))
    expect(bound[0]).toMatchObject({ state: 'claimed', turnId })
    expect(await underTest.store.read.inbox.waiting(sessionId, 10)).toEqual([])
  })

  it('a turn that ends ends every row bound to it', async () => {
    const { id: sessionId } = await makeSession(underTest.store, 1)
    const turn = turnOf(sessionId, 1)
    const turnId = turn.id
    const rows = [
      inboxRow(1, 1, { sessionId, turnId, state: 'claimed' }),
      inboxRow(1, 2, { sessionId, turnId, state: 'claimed' }),
    ]
    await add(...rows, inboxRow(1, 3, { sessionId }))
    await underTest.store.write((tx) => tx.turns.start(turn))
    const { inbox } = underTest.store.read
    expect((await inbox.ofTurn(turnId)).map(({ state }) => state)).toEqual(['claimed', 'claimed'])
    const usage = { input: 0, output: 0 }
    await underTest.store.write((tx) =>
      tx.turns.finish(turnId, { state: 'completed', outcome: 'answered', at: 1, usage }),
    )
    const ended = await inbox.ofTurn(turnId)
    expect(ended.map(({ state, outcome }) => [state, outcome])).toEqual(rows.map(() => ['done', 'answered']))
    expect(await inbox.get(rows[0]?.id ?? NOBODYS_ID)).toMatchObject({ state: 'done', outcome: 'answered' })
    expect(await underTest.store.read.inbox.waiting(sessionId, 10)).toHaveLength(1)
  })

  it('settle ends one row; settleWaiting ends what still waits, but no command', async () => {
    const { id: sessionId } = await makeSession(underTest.store, 1)
    const command = inboxRow(1, 3, { sessionId, decision: commandOf(1) })
    const claimed = inboxRow(1, 4, { sessionId, turnId: ids.turn(), state: 'claimed' })
    const rows = [inboxRow(1, 1, { sessionId }), inboxRow(1, 2, { sessionId })]
    await add(...rows, command, claimed)
    expect(await underTest.store.write((tx) => tx.inbox.settleWaiting(sessionId, 'cancelled'))).toBe(2)
    expect(await underTest.store.read.inbox.commandsWaiting()).toEqual([command])
    await underTest.store.write((tx) => tx.inbox.settle(command.id, 'control'))
    const all = await underTest.store.read.inbox.recent(10)
    expect(all.map((row) => row.outcome)).toEqual([undefined, 'control', 'cancelled', 'cancelled'])
  })

  it('find takes an inbox id, a trace id or a platform message id, newest first, 20 at most', async () => {
    const rows = Array.from({ length: 25 }, (_, chat) => inboxRow(chat, 77))
    await add(...rows)
    const [first] = rows
    const { inbox } = underTest.store.read
    expect(await inbox.find(first?.id ?? '')).toEqual([first])
    expect(await inbox.find(first?.dispatch.traceId ?? '')).toEqual([first])
    expect(idsOf(await inbox.find('77'))).toEqual(idsOf(rows.slice(5).reverse()))
    expect(await inbox.find('78')).toEqual([])
  })

  it('ofMessage takes a platform message id in any chat of one channel, newest first', async () => {
    const rows = [inboxRow(1, 77), inboxRow(2, 77), inboxRow(2, 78)]
    await add(...rows)
    const { inbox } = underTest.store.read
    expect(idsOf(await inbox.ofMessage('telegram', '77'))).toEqual(idsOf(rows.slice(0, 2).reverse()))
    expect(await inbox.ofMessage('discord', '77')).toEqual([])
  })

  it('ofMessage finds the message of one chat among any number of others', async () => {
    const rows = Array.from({ length: 250 }, (_, chat) => inboxRow(chat, 77))
    await add(...rows)
    const chat = rows[0]?.dispatch.event.address.chat
    expect(idsOf(await underTest.store.read.inbox.ofMessage('telegram', '77', chat))).toEqual(idsOf(rows.slice(0, 1)))
  })

  it('C31: ofMessage finds the message of one chat though another of that number cannot be read', async () => {
    const [damaged, sound] = [inboxRow(1, 77), inboxRow(2, 77)]
    await add(damaged, sound)
    const store = await underTest.reopen(`UPDATE inbox SET dispatch = '{broken' WHERE id = '${damaged.id}'`)
    const { chat } = sound.dispatch.event.address
    expect(await store.read.inbox.ofMessage('telegram', '77', chat)).toEqual([sound])
  })

  it('saidAt and piecesOf find what was said at a time, and as a piece of one thing, however late it came, once a request to forget has come since', async () => {
    const { store } = underTest
    const at = (madeAt(ids.inbox()) ?? 0) - 1_000
    const saidAt = (chat: number, sentAt: number): NewInboxRow => {
      const row = inboxRow(chat, 1)
      const event = { ...row.dispatch.event, sentAt } as Dispatch['event']
      return { ...row, dispatch: { ...row.dispatch, event } }
    }
    const rows = [saidAt(1, at), saidAt(2, at), saidAt(1, at + 1_000)]
    const late = { ...saidAt(4, at), id: `in_${'z'.repeat(16)}` as InboxId }
    await add(...rows, late)
    expect(await store.read.inbox.saidAt('telegram', at)).toEqual([])
    await store.write((tx) =>
      tx.forgetting.begin({ id: 'one', state: 'done', plan: NO_PLAN, counts: NOTHING_FORGOTTEN, askedAt: at + 2_000 }),
    )
    expect(idsOf(await store.read.inbox.saidAt('telegram', at))).toEqual(idsOf([...rows.slice(0, 2), late]))
    expect(await store.read.inbox.saidAt('discord', at)).toEqual([])
    const edit = saidAt(5, at + 9_000)
    const edited = { ...edit.dispatch.event, kind: 'edit', original: '5:1', saidAt: at + 3_000 } as Dispatch['event']
    await add({ ...edit, dispatch: { ...edit.dispatch, event: edited } })
    expect(idsOf(await store.read.inbox.saidAt('telegram', at + 3_000))).toEqual([edit.id])
    const album = saidAt(3, at)
    const piece = { of: 'an album', more: false }
    const event = { ...album.dispatch.event, piece } as Dispatch['event']
    await add({ ...album, dispatch: { ...album.dispatch, event } })
    expect(idsOf(await store.read.inbox.piecesOf('telegram', 'an album', at + 5_000))).toEqual([album.id])
    expect(await store.read.inbox.piecesOf('telegram', 'another', at)).toEqual([])
  })

  it('byKey finds a message by what its account called it', async () => {
    const [row, other] = [inboxRow(1, 1), inboxRow(2, 1)]
    await add(row, other)
    const { address, eventKey } = row.dispatch.event
    const { inbox } = underTest.store.read
    expect(await inbox.byKey(address.channel, address.account, eventKey)).toEqual(row)
    expect(await inbox.byKey('slack', address.account, eventKey)).toBeUndefined()
    expect(await inbox.byKey(address.channel, address.account, `${eventKey}x`)).toBeUndefined()
  })

  it('recent gives the newest first', async () => {
    const rows = [1, 2, 3].map((no) => inboxRow(1, no))
    await add(...rows)
    expect(await underTest.store.read.inbox.recent(2)).toEqual(rows.slice(1).reverse())
  })

  it.each([
    ...['dispatch', 'decision'].flatMap((column) => WRONG_JSON.map((json) => [column, json])),
    ['decision', '{"kind":"run","identity":{"role":"owner"},"trace":[]}'],
    ['decision', '{"kind":"ignore","identity":{"role":"owner"},"trace":"no"}'],
    ['dispatch', '{"origin":"platform","traceId":"t","receivedAt":1,"reply":{},"event":{}}'],
  ])('C31: a row whose %s reads %s fails by name alone and is skipped in a list', async (column, json) => {
    const [damaged, sound] = [inboxRow(1, 1), inboxRow(1, 2)]
    await add(damaged, sound)
    let store = await underTest.reopen(`UPDATE inbox SET ${column} = '${json}' WHERE id = '${damaged.id}'`)
    expect(await failureOf(store.read.inbox.get(damaged.id))).toMatchObject({
      code: 'unreadable',
      message: expect.stringContaining(`${damaged.id} of table inbox`),
    })
    expect(await store.read.inbox.recent(10)).toEqual([sound])
    expect(underTest.warnings).toHaveLength(1)
    store = await underTest.reopen(`UPDATE inbox SET state = 'waiting'`)
    expect(await store.write((tx) => tx.inbox.giveUpUnreadable())).toEqual([damaged.id])
    expect(await store.read.inbox.waitingCount()).toBe(1)
  })
}
