import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Address } from '../../../src/core/address.ts'
import { systemClock } from '../../../src/core/clock.ts'
import type { CommandCall } from '../../../src/core/command.ts'
import { type Deferred, deferred } from '../../../src/core/deferred.ts'
import type { PostedText } from '../../../src/core/dispatch.ts'
import type { SessionId, TurnId } from '../../../src/core/ids.ts'
import type { Sender } from '../../../src/core/message.ts'
import { stopCommand } from '../../../src/sessions/commands/stop.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { Store, StoreWriter } from '../../../src/store/store.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { commandCall } from '../../fakes/command-call.ts'
import { direct, dispatchOf, group, message, user } from '../../fakes/dispatch.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { inboxRow, routeOf, sessionDraft, turnOf } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const address = group('-100')

it('a stranger ends no turn that somebody joins at that moment', async () => {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const { dispatch, ...given } = commandCall('stop', '', { address })
  const asked = { ...dispatch, event: { ...dispatch.event, sender: user('9') } }
  const call: CommandCall = { ...given, dispatch: asked, decision: { ...given.decision, public: true } }
  const { id: sessionId } = await store.write((tx) =>
    tx.sessions.create(sessionDraft(1, { scopeKey: call.decision.route.scopeKey }), 1),
  )
  const turn = turnOf(sessionId, 1)
  const saidBy = (no: number, sender: string) => ({
    ...inboxRow(1, no, { sessionId }),
    dispatch: dispatchOf(message({ address, sender: user(sender), eventKey: `said ${no}` })),
  })
  const joins = saidBy(2, '444')
  await store.write(async (tx) => {
    await tx.turns.start(turn)
    await tx.inbox.add({ ...saidBy(1, '9'), state: 'claimed', turnId: turn.id })
    await tx.inbox.add(joins)
  })
  let joined: Promise<unknown> | undefined
  const joinsIn = (): Promise<unknown> => (joined ??= store.write((tx) => tx.inbox.claim([joins.id], turn.id)))
  const { sessions, turns, inbox } = store.read
  const joinedThen = {
    read: {
      sessions,
      turns,
      inbox: {
        async ofTurn(id: TurnId) {
          const rows = await inbox.ofTurn(id)
          await joinsIn()
          return rows
        },
      },
    },
    write: <Result>(body: (tx: StoreWriter) => Promise<Result>) => joinsIn().then(() => store.write(body)),
  } as unknown as Store
  const ended: unknown[] = []
  const running = { abort: async (...which: unknown[]) => void ended.push(which) }
  const command = stopCommand({ channels: CHANNELS, store: joinedThen, clock: systemClock, running })
  const stopping = command.run(call).catch((err: unknown) => err)
  expect(await stopping).toMatchObject({ code: 'forbidden' })
  expect(ended).toEqual([])
})

it('a stranger ends no turn where that could not be stored', async () => {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const { dispatch, ...given } = commandCall('stop', '', { address })
  const event = { ...dispatch.event, sender: user('9') }
  const call: CommandCall = {
    ...given,
    dispatch: { ...dispatch, event },
    decision: { ...given.decision, public: true },
  }
  const { id: sessionId } = await store.write((tx) =>
    tx.sessions.create(sessionDraft(1, { scopeKey: call.decision.route.scopeKey }), 1),
  )
  const turn = turnOf(sessionId, 1)
  const asked = dispatchOf(message({ address, sender: user('9'), eventKey: 'said' }))
  await store.write(async (tx) => {
    await tx.turns.start(turn)
    await tx.inbox.add({ ...inboxRow(1, 1, { sessionId }), dispatch: asked, state: 'claimed', turnId: turn.id })
  })
  const ended: unknown[] = []
  const running = { abort: async (...which: unknown[]) => void ended.push(which) }
  const stopOn = (on: Store) => stopCommand({ channels: CHANNELS, store: on, clock: systemClock, running }).run(call)
  const full = {
    read: store.read,
    write: <Result>(body: (tx: StoreWriter) => Promise<Result>) =>
      store.write(async (tx) => {
        await body(tx)
        throw new Error('the disk is full')
      }),
  } as unknown as Store
  await expect(stopOn(full)).rejects.toThrow('the disk is full')
  expect(ended).toEqual([])
  expect(await stopOn(store)).toBe('Stopped.')
  expect(ended).toHaveLength(1)
})

type Values = CommandCall['decision']['route']['scope']['values']
type Said = { readonly by: string; readonly posted?: PostedText }

/** Somebody types `/stop` in a session: who, where, and what happens there. Nobody knows them, unless it says so. */
interface Scene {
  readonly address?: Address
  readonly values?: Values
  readonly by?: Sender
  readonly known?: true
  /** What the running turn answers. Absent: none runs. */
  readonly answers?: readonly Said[]
  readonly waiting?: readonly string[]
  /** The turn has not ended until this is resolved. */
  readonly ending?: Deferred
}

const WRITER = {
  session: 'ses_other' as SessionId,
  displayKey: 'telegram:direct:111',
  agent: routeOf(1).agent,
  hops: 1,
}
const POSTED: PostedText = {
  session: 'ses_own' as SessionId,
  route: routeOf(1),
  identity: { role: 'owner' },
  from: WRITER,
}

async function stopIn({ address = group('-100'), values = { chat: 'group:-100' }, by = user('9'), ...scene }: Scene) {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const { dispatch, decision, ...given } = commandCall('stop', '', { address: group('-100') })
  const route = { ...decision.route, scope: { ...decision.route.scope, values } }
  const identity = scene.known ? ({ role: 'owner' } as const) : ({ role: 'guest' } as const)
  const call: CommandCall = {
    ...given,
    dispatch: { ...dispatch, event: { ...dispatch.event, address, sender: by } },
    decision: { ...decision, route, identity, ...(scene.known ? {} : { public: true }) },
  }
  const { id: session } = await store.write((tx) =>
    tx.sessions.create(sessionDraft(1, { scopeKey: route.scopeKey }), 1),
  )
  const turn = turnOf(session, 1)
  const row = ({ by: sender, posted }: Said, no: number) => ({
    ...inboxRow(1, no, { sessionId: session }),
    dispatch: dispatchOf(message({ address, sender: user(sender), eventKey: `said ${no}` }), posted && { posted }),
  })
  await store.write(async (tx) => {
    if (scene.answers) await tx.turns.start(turn)
    for (const [no, said] of (scene.answers ?? []).entries())
      await tx.inbox.add({ ...row(said, no), state: 'claimed', turnId: turn.id })
    for (const [no, sender] of (scene.waiting ?? []).entries()) await tx.inbox.add(row({ by: sender }, 50 + no))
  })
  const aborted: unknown[] = []
  const asked = deferred()
  const abort = (...which: readonly unknown[]): Promise<void> | undefined => {
    aborted.push(which)
    asked.resolve()
    return scene.answers && (scene.ending?.promise ?? Promise.resolve())
  }
  const said = stopCommand({ channels: CHANNELS, store, clock: systemClock, running: { abort } }).run(call)
  return { said, aborted, asked, session, turn, store }
}

describe('what a stranger stops', () => {
  it('is the turn that they alone have asked for, by its name', async () => {
    const { said, aborted, session, turn } = await stopIn({ answers: [{ by: '9' }, { by: '9' }] })
    expect(await said).toBe('Stopped.')
    expect(aborted).toEqual([[session, turn.id]])
  })

  it('is no turn that another session waits for', async () => {
    const { said, aborted } = await stopIn({ answers: [{ by: '9', posted: POSTED }] })
    await expect(said).rejects.toMatchObject({ code: 'forbidden' })
    expect(aborted).toEqual([])
  })

  it('is nothing where no turn runs, and what waits there stays', async () => {
    const { said, store, session } = await stopIn({ waiting: ['9'] })
    expect(await said).toBe('Nothing is running here.')
    expect(await store.read.inbox.waiting(session, 9)).toHaveLength(1)
  })

  it('is all that happens in their own direct chat, with what waits', async () => {
    const own = { address: direct('9'), values: { chat: 'direct:9' } }
    const { said } = await stopIn({ ...own, answers: [{ by: '9' }], waiting: ['9'] })
    expect(await said).toBe('Stopped, and 1 waiting message with it.')
  })

  it('is all that happens in a session of a group that is theirs alone', async () => {
    const { said } = await stopIn({
      values: { chat: 'group:-100', sender: '9' },
      answers: [{ by: '9' }],
      waiting: ['9'],
    })
    expect(await said).toBe('Stopped, and 1 waiting message with it.')
  })

  describe.each([
    ['an id that many people share', user('1087968824')],
    ['an anonymous admin', user('-1001234567890', { kind: 'anonymous' })],
  ])('who is %s', (_, by) => {
    const values = { chat: 'group:-100', sender: by.id }

    it('is no turn, for another may have asked for it', async () => {
      const { said, aborted } = await stopIn({ by, answers: [{ by: by.id }] })
      await expect(said).rejects.toMatchObject({ code: 'forbidden' })
      expect(aborted).toEqual([])
    })

    it('is nothing that waits, also where the session is that of the sender', async () => {
      const { said, store, session } = await stopIn({ values, by, waiting: [by.id] })
      expect(await said).toBe('Nothing is running here.')
      expect(await store.read.inbox.waiting(session, 9)).toHaveLength(1)
    })
  })
})

it.each([
  ['an owner', true],
  ['a stranger', undefined],
] as const)('%s is told of the end once it is on disk, not before', async (_, known) => {
  const ending = deferred()
  const { said, asked, store } = await stopIn({ ...(known && { known }), answers: [{ by: '9' }], ending })
  const order: string[] = []
  const told = said.then((text) => order.push(String(text)))
  await asked.promise
  // All that does not wait for the end has been done when one more transaction has passed.
  await store.write(async () => {})
  await new Promise((done) => setImmediate(done))
  order.push('on disk')
  ending.resolve()
  await told
  expect(order).toEqual(['on disk', 'Stopped.'])
})
