import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { ForgetTarget } from '../../../src/core/forgetting.ts'
import { type TurnId, toAccountId, toPersonId, toScheduleId } from '../../../src/core/ids.ts'
import type { AuthorId } from '../../../src/core/platform-id.ts'
import type { CronDefinition } from '../../../src/core/schedule.ts'
import { Collection } from '../../../src/sessions/forgetting/collect.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import {
  addressOf,
  assistantMessage,
  deliveryOf,
  dispatchOf,
  inboxRow,
  messageOf,
  routeOf,
  sessionDraft,
  turnCompleted,
  turnOf,
} from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const NOW = 1_800_000_000_000
const HOUR_MS = 3_600_000
const [ADA, BOB] = ['telegram:111', 'telegram:444'] as const
const PLACE = { channel: 'telegram', chat: '-1001' } as const
const CHAT: ForgetTarget = { kind: 'chat', place: PLACE, before: NOW }
const PERSON = { kind: 'person', ids: [ADA], person: toPersonId('ada'), before: NOW } as const

/** A group in which Ada has said something, and what is planned for a target. */
async function rig() {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const draft = sessionDraft(1, { metadata: { channel: 'telegram', chat_id: PLACE.chat, chat_type: 'group' } })
  const { scope } = draft
  const session = { ...draft, scope: { ...scope, values: { chat: `group:${PLACE.chat}` } } }
  await store.write(async (tx) => {
    await tx.sessions.create(session, 1)
    await tx.authors.add(session.id, ADA)
  })
  let no = 0
  /** Ada says something at a time and is answered; `runs`: not yet. */
  const exchange = (at: number, { text = 'hello', runs = false }: { text?: string; runs?: boolean } = {}) =>
    store.write(async (tx) => {
      const dispatch = { ...dispatchOf(1, ++no), event: messageOf(1, no, text), receivedAt: at }
      const row = inboxRow(1, no, { dispatch, sessionId: session.id })
      await tx.inbox.add(row)
      const turn = turnOf(session.id, 1, at)
      await tx.inbox.claim([row.id], turn.id)
      const { event } = dispatch
      const said = 'text' in event ? { text: event.text, messageId: String(no), sender: event.sender } : undefined
      const flags = { owner: false, addressed: true, triggers: true }
      await tx.turns.start(turn)
      await tx.events.append(session.id, at, [
        { type: 'user_message', data: { ...said, ...flags, row: row.id } as never },
        { type: 'turn_started', turnId: turn.id, data: { rows: [row.id], traceId: turn.traceId } },
        ...(runs ? [] : [{ ...turnCompleted, turnId: turn.id }]),
      ])
      if (runs) return turn.id
      await tx.turns.finish(turn.id, { state: 'completed', outcome: 'answered', at, usage: { input: 1, output: 1 } })
      return turn.id
    })
  const remember = (at: number, authors: readonly AuthorId[] = [BOB], text = `tea ${++no}`) =>
    store.write(async (tx) => {
      const entry = { agentId: session.agentId, sessionId: session.id, text, authors, at }
      return (await tx.memory.add({ ...entry, by: 'person', request: `command ${++no}`, sources: [] })).no
    })
  const remind = async (
    id: string,
    { at = NOW - 1, chat = 1, by = 'ada' }: { at?: number; chat?: number; by?: string } = {},
  ) => {
    const definition: CronDefinition = {
      ...{ cron: '0 8 * * *', timezone: 'UTC', prompt: 'tea', missed: { kind: 'once' }, overlap: 'skip' },
      deliverTo: { ...addressOf(chat), account: toAccountId('') },
    }
    const schedule = { id: toScheduleId(id), source: 'command', definition, creator: toPersonId(by) } as const
    await store.write((tx) => tx.schedules.put(schedule, at))
  }
  const plan = async (target: ForgetTarget) => {
    const collection = new Collection(target, CHANNELS)
    await collection.advance(store.read)
    return collection.plan(store.read)
  }
  return { store, session, exchange, remember, remind, plan }
}

it('S41: a chat is forgotten with the entries from before the request, and not with what is remembered later', async () => {
  const { exchange, remember, plan } = await rig()
  await exchange(NOW - HOUR_MS)
  const [before] = [await remember(NOW - 1), await remember(NOW)]
  expect((await plan(CHAT)).entries).toEqual([before])
  // A span of a chat takes what was made of it; an entry of a whole chat is of more.
  expect((await plan({ ...CHAT, since: NOW - 2 * HOUR_MS })).entries).toEqual([])
})

it('S41: of a person go the entries that are theirs alone, in the span, and everywhere alone', async () => {
  const { exchange, remember, plan } = await rig()
  await exchange(NOW - 3 * HOUR_MS)
  const own = await remember(NOW - 2 * HOUR_MS, [ADA])
  for (const authors of [[BOB], [ADA, BOB], []]) await remember(NOW - 2 * HOUR_MS, authors)
  await remember(NOW, [ADA])
  expect((await plan(PERSON)).entries).toEqual([own])
  expect((await plan({ ...PERSON, since: NOW - HOUR_MS })).entries).toEqual([])
  expect((await plan({ ...PERSON, place: PLACE })).entries).toEqual([])
})

it('S41: answers that a platform would not delete any more are asked of none', async () => {
  const { exchange, plan } = await rig()
  await exchange(NOW - 48 * HOUR_MS)
  const young = await exchange(NOW - 46 * HOUR_MS)
  expect((await plan(CHAT)).unsay).toEqual([young])
})

it('S41: reminders go with whoever made them or with the chat that they are for, in the span', async () => {
  const { exchange, remind, plan } = await rig()
  await exchange(NOW - HOUR_MS)
  await remind('here')
  await remind('elsewhere', { chat: 2 })
  await remind('of-bob', { by: 'bob' })
  await remind('old', { at: NOW - 2 * HOUR_MS })
  await remind('later', { at: NOW })
  const of = async (target: ForgetTarget) => (await plan(target)).schedules
  expect(await of(CHAT)).toEqual(['here', 'of-bob', 'old'])
  expect(await of({ ...CHAT, since: NOW - HOUR_MS })).toEqual(['here', 'of-bob'])
  expect(await of(PERSON)).toEqual(['elsewhere', 'here', 'old'])
  expect(await of({ ...PERSON, place: PLACE })).toEqual(['here', 'old'])
})

it('S41: a person’s name goes from the list of applicants where all of their words do', async () => {
  const { exchange, plan } = await rig()
  await exchange(NOW - HOUR_MS)
  expect((await plan(PERSON)).applicants).toEqual([ADA])
  expect((await plan({ ...PERSON, since: NOW - 2 * HOUR_MS })).applicants).toEqual([])
  expect((await plan({ ...PERSON, place: PLACE })).applicants).toEqual([])
})

const TELLING = 'the gate opens with zq9canary-4711 after dark'

it('S41: what repeats the words goes where they have a part in it, and of what others are still to be sent nothing', async () => {
  const { store, exchange, remember, plan } = await rig()
  await exchange(NOW - HOUR_MS, { text: TELLING })
  const [partly] = [await remember(NOW - 1, [ADA, BOB], TELLING), await remember(NOW - 1, [BOB], TELLING)]
  const others = [sessionDraft(2), sessionDraft(3)] as const
  const turns = [turnOf(others[0].id, 2), turnOf(others[1].id, 3)] as const
  await store.write(async (tx) => {
    for (const other of others) await tx.sessions.create(other, 1)
    const part = { text: TELLING, plain: TELLING, markup: 'html' } as const
    for (const [nth, turn] of turns.entries()) {
      await tx.turns.start(turn)
      const state = nth === 0 ? 'planned' : 'sent'
      await tx.outbox.add([deliveryOf(turn.id, { address: addressOf(2), part, state })])
    }
  })
  const { entries, sources } = await plan(PERSON)
  expect(entries).toEqual([partly])
  expect(sources).not.toContain(turns[0].id)
  expect(sources).toContain(turns[1].id)
})

it('S41: a turn that runs keeps its rows until it has ended, also where it may have been shown an entry that goes', async () => {
  const { store, session, exchange, remember, plan } = await rig()
  const bob = turnOf(session.id, 1)
  await store.write((tx) => tx.turns.start(bob))
  await remember(NOW - HOUR_MS, [ADA])
  expect((await plan(PERSON)).sessions).toMatchObject([{ empty: [], running: { turn: bob.id, empty: [] } }])
  await store.write((tx) =>
    tx.turns.finish(bob.id, { state: 'completed', outcome: 'answered', at: NOW, usage: { input: 1, output: 1 } }),
  )
  expect((await plan(PERSON)).sessions).toEqual([])
  const turn = await exchange(NOW - 1, { runs: true })
  expect(await plan(PERSON)).toMatchObject({ inbox: [], unsay: [], sessions: [{ running: { turn } }] })
})

it('S41: an answer that was read before the log named its turn goes too', async () => {
  const { store, session, plan } = await rig()
  const turn = turnOf(session.id, 1)
  const row = inboxRow(1, 9, { sessionId: session.id, dispatch: { ...dispatchOf(1, 9), receivedAt: NOW - 1 } })
  await store.write(async (tx) => {
    await tx.turns.start(turn)
    await tx.outbox.add([deliveryOf(turn.id, { address: addressOf(2) })])
  })
  const collection = new Collection(PERSON, CHANNELS)
  await collection.advance(store.read)
  await store.write(async (tx) => {
    await tx.inbox.add(row)
    await tx.inbox.claim([row.id], turn.id)
    const { sender } = messageOf(1, 9)
    const data = { text: 'hello', messageId: '9', sender, owner: false, addressed: true, triggers: true, row: row.id }
    await tx.events.append(session.id, NOW - 1, [
      { type: 'user_message', data },
      { type: 'turn_started', turnId: turn.id, data: { rows: [row.id], traceId: turn.traceId } },
    ])
  })
  await collection.advance(store.read)
  expect((await collection.plan(store.read)).sources).toContain(turn.id)
  expect((await plan(PERSON)).sources).toContain(turn.id)
})

it.each([
  ['a direct chat', 'direct', 0],
  ['a group', 'group', 1],
] as const)(
  'S41: a text of nobody’s that sounds like one of a program goes only if that was said where others are: %s',
  async (_where, chatType, reached) => {
    const { store, plan } = await rig()
    const [place, other] = [{ channel: 'telegram', chat: '-1007' } as const, sessionDraft(2)]
    await store.write(async (tx) => {
      const address = { ...addressOf(7), chatType }
      const event = { ...messageOf(7, 1, TELLING), address }
      const own = {
        session: other.id,
        route: routeOf(7),
        identity: { role: 'member' },
        from: { hook: 'build' },
      } as const
      const row = { ...dispatchOf(7, 1), event, origin: 'hook', posted: own, receivedAt: NOW - 1 } as const
      await tx.inbox.add(inboxRow(7, 1, { dispatch: row }))
      await tx.sessions.create(other, 1)
      await tx.authors.add(other.id, 'nobody')
      await tx.events.append(other.id, NOW - 1, [assistantMessage(TELLING)])
    })
    expect((await plan({ kind: 'chat', place, before: NOW })).sessions).toHaveLength(reached)
  },
)

it('S41: a message goes as another bot has received it in a small group, where each counts messages by itself', async () => {
  const { store, session, plan } = await rig()
  const second = sessionDraft(2)
  const account = toAccountId('second')
  const hears = (no: number, to: typeof second, address: object, { messageId = `${no}`, text = TELLING } = {}) =>
    store.write(async (tx) => {
      const event = { ...messageOf(1, no, text), messageId, sentAt: 1000, address: { ...addressOf(1), ...address } }
      const row = inboxRow(1, no, { dispatch: { ...dispatchOf(1, no), event }, sessionId: to.id, state: 'done' })
      await tx.inbox.add(row)
      const flags = { owner: false, addressed: false, triggers: false, row: row.id }
      const data = { text, messageId, sender: event.sender, ...flags }
      await tx.events.append(to.id, 1000, [{ type: 'user_message', data }])
      return row.id
    })
  await store.write((tx) => tx.sessions.create(second, 1))
  const asked = await hears(1, session, {})
  const beside = await hears(2, second, { account }, { messageId: '57' })
  const other = await hears(3, second, { account }, { messageId: '58', text: 'another thing of that second' })
  const { inbox, sessions } = await plan({ kind: 'message', rows: [asked], before: NOW })
  expect(new Set(inbox)).toEqual(new Set([asked, beside]))
  expect(inbox).not.toContain(other)
  expect(sessions.flatMap(({ id, empty }) => [id, ...empty.map(Number)])).toEqual([session.id, 1, second.id, 1])
})

it.each([
  ['an edit', { kind: 'edit', original: 'first', text: 'another text', sentAt: 2000 }],
  ['a piece', { messageId: '8', text: 'the rest', piece: { of: 'long', more: false } }],
] as const)('S41: so it does by %s of it, though the other bot was the first to receive it', async (_by, changes) => {
  const { store, session, plan } = await rig()
  const account = toAccountId('second')
  let no = 0
  const hears = async (bot: object, last: object = {}) => {
    const address = { ...addressOf(1), ...bot }
    const one = {
      ...messageOf(1, ++no, TELLING),
      messageId: '7',
      piece: { of: `long${JSON.stringify(bot)}`, more: true },
    }
    const row = inboxRow(1, no, { sessionId: session.id, state: 'done' })
    const event = { ...one, sentAt: 1000, address, ...last } as typeof one
    await store.write((tx) => tx.inbox.add({ ...row, dispatch: { ...row.dispatch, event } }))
    return row.id
  }
  const pieceOf = (bot: object) =>
    'piece' in changes ? { ...changes, piece: { ...changes.piece, of: `long${JSON.stringify(bot)}` } } : changes
  const theirs = [await hears({ account }), await hears({ account }, pieceOf({ account }))]
  const [first, last] = [await hears({}), await hears({}, pieceOf({}))]
  const { inbox } = await plan({ kind: 'message', rows: [last], before: NOW })
  expect(new Set(inbox)).toEqual(new Set([...theirs, first, last]))
})

it('S41: of the answers in a chat the newest hundred are deleted there', async () => {
  const { exchange, plan } = await rig()
  const first = await exchange(NOW - HOUR_MS)
  const others: TurnId[] = []
  for (let no = 0; no < 100; no++) others.push(await exchange(NOW - HOUR_MS + 1))
  const { unsay, sessions } = await plan(CHAT)
  expect(unsay).toEqual(others)
  expect(sessions[0]?.turns).toContain(first)
})
