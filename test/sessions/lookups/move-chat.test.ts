import { randomBytes } from 'node:crypto'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { formatAddress, parseAddress } from '../../../src/core/address.ts'
import type { ChatMove } from '../../../src/core/chat-move.ts'
import { systemClock } from '../../../src/core/clock.ts'
import type { Decision, Dispatch } from '../../../src/core/dispatch.ts'
import { createIdSource, type SessionId, toScheduleId } from '../../../src/core/ids.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import type { SessionIdentity } from '../../../src/core/session.ts'
import { movedSession } from '../../../src/routing/moved-session.ts'
import { type ChatMoves, loadChatMoves } from '../../../src/sessions/lookups/chat-moves.ts'
import { loadMutes } from '../../../src/sessions/lookups/mutes.ts'
import { openSession } from '../../../src/sessions/turns/open-session.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { Store } from '../../../src/store/store.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { decide } from '../../fakes/decide.ts'
import { dispatchOf, group, message, user } from '../../fakes/dispatch.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { household, routingOf } from '../../fakes/routing-policy.ts'
import { deliveryOf, turnOf, userMessage } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const MOVE: ChatMove = { channel: 'telegram', from: '-200', to: '-100200' }
const OLD = parseAddress('telegram:group:-200')
const NEW = parseAddress('telegram:group:-100200')
const ids = createIdSource({ now: systemClock.now, randomBytes })
const routing = routingOf(household())
let path: string
let store: Store
let moves: ChatMoves
let reloaded: number

async function open(file: string): Promise<void> {
  store = await openSqliteStore({ path: file, clock: systemClock })
  const opened = store
  onTestFinished(() => opened.close())
  reloaded = 0
  moves = await loadChatMoves({
    store,
    ids,
    clock: systemClock,
    logger: silentLogger,
    rekey: (session, move) => movedSession(routing.sessions, session, move),
    moved: async () => void reloaded++,
  })
}

beforeEach(async () => {
  path = readyDatabase(join(tempFolder(), 'parley.db'))
  await open(path)
})

function said(chat: string, eventKey = 'e1'): { dispatch: Dispatch; decision: Extract<Decision, { kind: 'run' }> } {
  const dispatch = dispatchOf(message({ address: group(chat), eventKey, mentioned: true, sender: user('111') }))
  const decision = decide(household(), dispatch.event)
  if (decision.kind !== 'run') throw new Error(decision.reason)
  return { dispatch, decision }
}

async function sessionIn(chat: string, text: string): Promise<SessionIdentity> {
  const { dispatch, decision } = said(chat)
  return store.write(async (tx) => {
    const session = await openSession(
      tx,
      { ...decision, dispatch },
      { ids, channels: CHANNELS, overrides: { set() {} } },
    )
    await tx.events.append(session.id, 1, [userMessage(text)])
    return session
  })
}

const notice: Dispatch = dispatchOf({ ...message({ address: OLD, eventKey: 'moved' }), kind: 'migration', to: NEW })

async function texts(id: SessionId): Promise<readonly unknown[]> {
  const events = await store.read.events.since(id, 0, 100)
  return events.flatMap((event) => (event.type === 'user_message' ? [event.data.text] : []))
}

describe('F-C07: a group gets a new id', () => {
  const tell = (): Promise<void> => moves.accept(notice, decide(household(), notice.event))

  it('F-C07: the session keeps its history under its new keys and answers to its old names', async () => {
    const before = await sessionIn('-200', 'hello')
    await store.write((tx) => tx.sessions.patchOverrides(before.id, { set: { sendPolicy: 'deny' }, inherit: [] }))
    await tell()
    const after = await sessionIn('-100200', 'again')
    expect(after.id).toBe(before.id)
    expect(await texts(after.id)).toEqual(['hello', 'again'])
    expect(after.metadata).toMatchObject({ chat_id: '-100200' })
    for (const name of ['telegram:group:-200', 'agent:main:telegram:group:-200', 'telegram:group:-100200'])
      expect((await store.read.sessions.resolve(name))?.id).toBe(before.id)
    expect(await store.read.sessions.overridden()).toMatchObject([{ scopeKey: after.scopeKey, current: true }])
    expect(await store.read.sessions.current(before.scopeKey)).toBeUndefined()
  })

  it('F-C07: told twice and found out by a send, it is done once', async () => {
    const { id } = await sessionIn('-200', 'hello')
    await tell()
    await tell()
    await moves.learned(OLD, NEW)
    expect(reloaded).toBe(1)
    expect(moves.all).toEqual([MOVE])
    expect(await texts(id)).toEqual(['hello'])
    expect(await store.read.inbox.recent(10)).toMatchObject([{ outcome: 'ignored: chat_moved' }])
  })

  it('F-C07: whoever waits for a move continues once none is left, in the order in which they came', async () => {
    const continued: unknown[] = []
    const wait = (name: string) => moves.underWay?.then(() => continued.push([name, moves.all.length, moves.underWay]))
    const first = tell()
    const waiting = [wait('one')]
    const second = moves.learned(parseAddress('telegram:group:-300'), parseAddress('telegram:group:-100300'))
    waiting.push(wait('two'))
    await Promise.all([first, second, ...waiting])
    expect(continued).toEqual([
      ['one', 2, undefined],
      ['two', 2, undefined],
    ])
  })

  it('F-C07: what was said in the new chat before the move was told follows behind the history', async () => {
    const before = await sessionIn('-200', 'hello')
    const early = await sessionIn('-100200', 'too early')
    await tell()
    expect(await texts(before.id)).toEqual(['hello', 'too early'])
    expect((await sessionIn('-100200', 'again')).id).toBe(before.id)
    expect(await store.read.sessions.get(early.id)).toMatchObject({ inactiveAt: expect.any(Number) })
  })

  it('F-C07: what was set in the new chat stands, and else what was set before', async () => {
    const before = await sessionIn('-200', 'hello')
    const early = await sessionIn('-100200', 'too early')
    await store.write(async (tx) => {
      const old = { sendPolicy: 'allow', verboseLevel: 'full' } as const
      await tx.sessions.patchOverrides(before.id, { set: old, inherit: [] })
      await tx.sessions.patchOverrides(early.id, { set: { sendPolicy: 'deny' }, inherit: [] })
    })
    await tell()
    expect(await store.read.sessions.get(before.id)).toMatchObject({ sendPolicy: 'deny', verboseLevel: 'full' })
  })

  it.each([
    ['one that has ended', 1, undefined],
    ['a shorter one', 5_000, 9_000],
  ])('F-C07: %s of the old chat does not end a mute of the new one', async (_, old, longer) => {
    const until = longer === undefined ? {} : { until: longer }
    await store.write(async (tx) => {
      await tx.mutes.set({ conversation: formatAddress(OLD), until: old }, 1)
      await tx.mutes.set({ conversation: formatAddress(NEW), ...until }, 2)
    })
    await tell()
    expect(await store.read.mutes.all()).toEqual([{ conversation: formatAddress(NEW), ...until }])
  })

  it.each([
    ['denied', 'admitted', 2, 1, 'denied'],
    ['denied', 'admitted', 1, 2, 'admitted'],
    ['denied', 'admitted', 2, 2, 'denied'],
  ] as const)('F-C07: %s there and %s here before: the later decision stands', async (...given) => {
    const [there, here, at, before, stands] = given
    await store.write(async (tx) => {
      for (const [address, code] of [
        [OLD, 'aaaaa'],
        [NEW, 'bbbbb'],
      ] as const) {
        const applicant = { key: formatAddress(address), kind: 'place', code, name: 'Family', address } as const
        await tx.admissions.ask({ ...applicant, traceId: ids.trace() }, 0)
      }
      await tx.admissions.decide(formatAddress(OLD), { state: here, by: 'ada' }, before)
      await tx.admissions.decide(formatAddress(NEW), { state: there, by: 'ada' }, at)
    })
    await tell()
    expect(await store.read.admissions.all()).toMatchObject([{ key: formatAddress(NEW), state: stands }])
  })

  it('F-C07: what is owed is owed to the new chat, whose messages have other numbers', async () => {
    const { id } = await sessionIn('-200', 'hello')
    const waiting = { id: ids.inbox(), ...said('-200', 'e2'), sessionId: id, state: 'waiting' } as const
    const turn = { ...turnOf(id, 1), reply: { address: OLD, replyTo: '5' } }
    const claimed = { ...waiting, ...said('-200', 'e3'), id: ids.inbox(), turnId: turn.id, state: 'claimed' } as const
    const elsewhere = { ...waiting, ...said('-300', 'e4'), id: ids.inbox() }
    const delivery = { ...deliveryOf(turn.id, { address: OLD }), replyTo: '5' }
    const edit = { ...deliveryOf(turn.id, { partNo: 2, address: OLD }), op: 'edit', messageId: '6' } as const
    await store.write(async (tx) => {
      await tx.turns.start(turn)
      for (const row of [waiting, claimed, elsewhere]) await tx.inbox.add(row)
      await tx.outbox.add([delivery, { ...deliveryOf(turn.id, { partNo: 1, address: OLD }), state: 'sent' }, edit])
    })
    await tell()
    const { scopeKey, displayKey } = said('-100200').decision.route
    for (const row of [waiting, claimed])
      expect(await store.read.inbox.get(row.id)).toMatchObject({
        dispatch: { event: { address: NEW }, reply: { address: NEW } },
        decision: { route: { scopeKey, displayKey } },
      })
    expect((await store.read.inbox.get(elsewhere.id))?.dispatch).toEqual(elsewhere.dispatch)
    expect((await store.read.turns.get(turn.id))?.reply).toEqual({ address: NEW })
    const parts = await store.read.outbox.ofSource(turn.id)
    expect(parts.map(({ address }) => address)).toEqual([NEW, OLD, OLD])
    expect(parts[0]).not.toHaveProperty('replyTo')
  })

  it('F-C07: schedules and mutes go along', async () => {
    const mutes = await loadMutes(store, systemClock, CHANNELS)
    await mutes.mute(OLD)
    await mutes.mute(parseAddress('telegram:direct:111'))
    const definition = {
      cron: '@daily',
      timezone: 'UTC',
      prompt: 'x',
      missed: { kind: 'once' },
      overlap: 'skip',
      deliverTo: { ...OLD, topic: '7' },
      digestOf: OLD,
    } as const
    const { digestOf: _, ...other } = { ...definition, deliverTo: parseAddress('telegram:direct:111') }
    await store.write(async (tx) => {
      await tx.schedules.put({ id: toScheduleId('a'), source: 'command', definition }, 1)
      await tx.schedules.put({ id: toScheduleId('b'), source: 'command', definition: other }, 1)
    })
    await tell()
    const [a, b] = await store.read.schedules.all()
    expect(a).toMatchObject({ updatedAt: 1, definition: { deliverTo: { ...NEW, topic: '7' }, digestOf: NEW } })
    expect(b?.definition).toEqual(other)
    expect(mutes.until(NEW)).toBeUndefined()
    await mutes.reload()
    expect([mutes.until(NEW), mutes.until(OLD)]).toEqual([Number.POSITIVE_INFINITY, undefined])
  })

  it('F-C07, C33: what was spent for the chat goes along, also where nobody has spoken there', async () => {
    const [period, cost] = ['2026-11', { tokens: 7, micros: 3 }]
    const before = ['chat:telegram:group:-200', 'chat:telegram@work:group:-200', 'topic:telegram:group:-200/5']
    const others = ['chat:telegram:group:-2005', 'person:telegram:group:-200', 'chat:slack:channel:C1']
    await store.write(async (tx) => {
      for (const payer of [...before, ...others]) await tx.budgets.hold(payer, cost, [{ payer, period, endsAt: 9 }])
    })
    await tell()
    const after = before.map((payer) => payer.replace('-200', '-100200'))
    const counts = await store.read.budgets.counts([...before, ...after, ...others].map((payer) => ({ payer, period })))
    expect(counts.map(({ held }) => held.tokens)).toEqual([0, 0, 0, 7, 7, 7, 7, 7, 7])
  })

  it('F-C07: killed right after the commit, the next process knows it all', async () => {
    const { id } = await sessionIn('-200', 'hello')
    await tell()
    const copy = join(tempFolder(), 'killed.db')
    for (const suffix of ['', '-wal']) copyFileSync(path + suffix, copy + suffix)
    await open(copy)
    expect(moves.formerChat('telegram', '-100200')).toBe('-200')
    expect(moves.follow(OLD)).toEqual(NEW)
    expect(moves.followed(said('-200').dispatch).event.address).toEqual(NEW)
    expect((await sessionIn('-100200', 'again')).id).toBe(id)
    await tell()
    expect(reloaded).toBe(0)
  })

  it('F-C07: an undone move leaves everything as it was', async () => {
    const { id, scopeKey } = await sessionIn('-200', 'hello')
    const failing = { ...store, write: () => Promise.reject(new Error('the disk is full')) }
    const parts = { store: failing, ids, clock: systemClock, logger: silentLogger, moved: async () => {} }
    const full = await loadChatMoves({ ...parts, rekey: () => ({ ...said('-1').decision.route }) })
    await full.learned(OLD, NEW)
    expect(full.all).toEqual([])
    expect((await store.read.sessions.current(scopeKey))?.id).toBe(id)
  })

  it('a notice that names one chat twice is recorded and moves nothing', async () => {
    const nothing = dispatchOf({ ...message({ address: OLD, eventKey: 'x' }), kind: 'migration', to: OLD })
    await moves.accept(nothing, decide(household(), nothing.event))
    expect(moves.all).toEqual([])
  })
})
