import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Address, formatAddress, parseAddress } from '../../../src/core/address.ts'
import { movedAddress } from '../../../src/core/chat-move.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { type SessionId, toScopeKey } from '../../../src/core/ids.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import type { AuthorId } from '../../../src/core/platform-id.ts'
import type { Session, SessionDraft } from '../../../src/core/session.ts'
import { compileRouting } from '../../../src/routing/compile-routing.ts'
import { movedSession } from '../../../src/routing/moved-session.ts'
import { placeSession } from '../../../src/routing/place-session.ts'
import { loadChatMoves } from '../../../src/sessions/lookups/chat-moves.ts'
import { loadOverridesCache } from '../../../src/sessions/lookups/overrides-cache.ts'
import { NamedAudiences } from '../../../src/sessions/service/named-audiences.ts'
import { relocate } from '../../../src/sessions/service/relocate.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { Store } from '../../../src/store/store.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { policy } from '../../fakes/routing-policy.ts'
import { ids, inboxRow, sessionDraft, userMessage } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

/** A group in which Ada has spoken, and the session of her direct chat. */
async function rig() {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const make = (draft: SessionDraft): Promise<Session> =>
    store.write(async (tx) => {
      const session = await tx.sessions.create(draft, 1)
      await tx.aliases.add(draft.scopeKey, [draft.displayKey])
      await tx.events.append(session.id, 1, [userMessage('hello')])
      await tx.authors.add(session.id, 'telegram:111')
      return (await tx.sessions.get(session.id)) ?? session
    })
  const metadata = { channel: 'telegram', account: 'default', chat_type: 'direct', chat_id: '111' }
  const direct = { chatType: 'direct', kind: 'other', displayKey: 'telegram:direct:111', metadata } as const
  const [group, there] = [await make(sessionDraft(1)), await make(sessionDraft(2, direct))]
  const daemon = {
    ...{ ids, overrides: await loadOverridesCache(store.read.sessions), posts: () => true },
    models: { agents: [] },
    place: () => expect.unreachable(),
  }
  const deps = { store, clock: systemClock, channels: CHANNELS, daemon, named: new NamedAudiences() }
  const move = (session: Session, to: string, confirmed = true) =>
    relocate(session, { kind: 'move', to, confirmed }, deps)
  const current = async ({ scopeKey }: Session): Promise<SessionId | undefined> =>
    (await store.read.sessions.current(scopeKey))?.id
  return { store, make, group, there, deps, move, current }
}

it.each<[string, Partial<SessionDraft>]>([
  ['of a schedule', { kind: 'cron' }],
  ['of a hook', { kind: 'hook' }],
  ['of a node', { kind: 'node' }],
  ['that was imported, which no chat has taken over', { displayKey: 'sk_v1_x', scopeKey: toScopeKey('sk_v1_x') }],
  ['below another session', { parent: 'telegram:2026-01-01-00000000' as SessionId }],
])('F-H11: a session is continued in no session %s', async (_, changes) => {
  const { make, group, move } = await rig()
  const other = await make(sessionDraft(3, changes))
  await expect(move(group, other.id)).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('no conversation in which people write'),
  })
})

it('F-H11: it is asked before a session goes into a direct chat, unless all of its words are of whoever writes there', async () => {
  const { store, make, group, there, move } = await rig()
  const ofNobody = await store.write(async (tx) => {
    const session = await tx.sessions.create(sessionDraft(3), 1)
    await tx.events.append(session.id, 1, [userMessage('hello')])
    return (await tx.sessions.get(session.id)) ?? session
  })
  const audience = expect.stringContaining('words of nobody who is on record')
  expect(await move(ofNobody, there.displayKey, false)).toMatchObject({ state: 'asks', audience })
  const others = await make(sessionDraft(4))
  await store.write((tx) => tx.authors.add(others.id, 'telegram:444'))
  expect(await move(others, there.displayKey, false)).toMatchObject({ state: 'asks' })
  expect(await move(group, there.displayKey, false)).toMatchObject({ state: 'done' })
})

it('F-H11: whether the agent may speak in a chat is as it was there, whatever is set for the session that comes', async () => {
  const { store, group, there, move, current } = await rig()
  await store.write((tx) => tx.sessions.patchOverrides(group.id, { set: { sendPolicy: 'allow' }, inherit: [] }))
  await move(group, there.displayKey)
  const came = await store.read.sessions.get((await current(there)) ?? there.id)
  expect(came).toMatchObject({ displayKey: there.displayKey })
  expect(came?.id).not.toBe(there.id)
  expect(came?.sendPolicy).toBeUndefined()
})

it('F-H11: a session is not moved while a message in it or in the other one waits for its turn', async () => {
  const { store, group, there, move, current } = await rig()
  for (const [at, { id }] of [group, there].entries()) {
    const row = inboxRow(1, at, { sessionId: id })
    await store.write((tx) => tx.inbox.add(row))
    await expect(move(group, there.displayKey)).rejects.toMatchObject({ code: 'conflict' })
    await store.write((tx) => tx.inbox.settle(row.id, 'context'))
  }
  expect(await current(there)).toBe(there.id)
})

it('F-H11: a session in which somebody else has spoken while it was asked about is not moved', async () => {
  const { store, group, there, deps, move, current } = await rig()
  const write: typeof store.write = async (work) => {
    await store.write((tx) => tx.authors.add(group.id, 'telegram:444'))
    return store.write(work)
  }
  const slow = { ...deps, store: { ...store, read: store.read, write } }
  await expect(relocate(group, { kind: 'move', to: there.displayKey, confirmed: false }, slow)).rejects.toMatchObject({
    code: 'conflict',
  })
  expect(await current(there)).toBe(there.id)
  expect(await move(group, there.displayKey, false)).toMatchObject({ state: 'asks' })
})

it('K27, F-C07: a session whose chat gets a new id while it is moved stays there', async () => {
  const { store, group, there, deps, current } = await rig()
  const scopeKey = toScopeKey('sk_v1_of_the_new_id')
  const write: typeof store.write = async (work) => {
    await store.write(async (tx) => {
      await tx.chatMoves.rekeySession({ ...group, scopeKey })
      await tx.chatMoves.repoint(group.scopeKey, scopeKey, group.id)
    })
    return store.write(work)
  }
  const slow = { ...deps, store: { ...store, read: store.read, write } }
  await expect(relocate(group, { kind: 'move', to: there.displayKey, confirmed: true }, slow)).rejects.toMatchObject({
    code: 'conflict',
  })
  expect(await current({ ...group, scopeKey })).toBe(group.id)
  expect((await store.read.sessions.get(group.id))?.inactiveAt).toBeUndefined()
  expect(await current(there)).toBe(there.id)
})

it('K27, F-C07: nothing is continued in a chat by the id that it had when it was asked for', async () => {
  const { store, group, deps } = await rig()
  const move = { channel: 'telegram', from: '-5', to: '-1005' } as const
  const write: typeof store.write = async (work) => {
    await store.write((tx) => tx.chatMoves.add(move, 1))
    return store.write(work)
  }
  const facts = { personOf: () => undefined, formerChat: () => undefined }
  const place: Parameters<typeof relocate>[2]['daemon']['place'] = (address) =>
    placeSession(compileRouting(policy()).routing, facts, { address, traceId: ids.trace(), receivedAt: 1 })
  const slow = { ...deps, daemon: { ...deps.daemon, place }, store: { ...store, read: store.read, write } }
  const to = 'telegram:group:-5'
  await expect(relocate(group, { kind: 'fork', to, confirmed: true }, slow)).rejects.toMatchObject({ code: 'conflict' })
  // The store knows of it, and routing does not yet.
  const soon = relocate(group, { kind: 'fork', to, confirmed: true }, { ...slow, store })
  await expect(soon).rejects.toMatchObject({ code: 'conflict' })
  const known = { ...deps.daemon, place: (address: Address) => place(movedAddress(address, move)) }
  const again = { ...slow, daemon: known, store }
  expect(await relocate(group, { kind: 'fork', to, confirmed: true }, again)).toMatchObject({
    ...{ state: 'done', key: 'telegram:group:-1005' },
  })
})

it('K27, F-C07: asked for at any moment around the new id of a chat, it is continued under that', async () => {
  const { store, group, deps } = await rig()
  const { routing } = compileRouting(policy())
  const moves = await loadChatMoves({
    ...{ store, clock: systemClock, ids, logger: silentLogger, moved: async () => {} },
    rekey: (session, move) => movedSession(routing.sessions, session, move),
  })
  const facts = { personOf: () => undefined, formerChat: moves.formerChat }
  const at = (address: Address) => placeSession(routing, facts, { address, traceId: ids.trace(), receivedAt: 1 })
  const meanwhile = { ...deps, daemon: { ...deps.daemon, place: (address: Address) => at(moves.follow(address)) } }
  for (let moment = 0; moment < 60; moment++) {
    const [from, to] = [-1 - moment, -1001 - moment].map((chat) => parseAddress(`telegram:group:${chat}`))
    if (from === undefined || to === undefined) expect.unreachable()
    let asked: Promise<unknown> | undefined
    const request = { kind: 'fork', to: formatAddress(from), confirmed: true } as const
    // What is asked for while transactions are open reads the store right after their commit, beside those who wrote.
    const open = store.write(async (tx) => {
      asked = after(moment).then(() => relocate(group, request, meanwhile))
      for (let step = 0; step < 20; step++) await tx.sessions.get(group.id)
    })
    await Promise.all([open, moves.learned(from, to)])
    await expect(asked, `moment ${moment}`).resolves.toMatchObject({ state: 'done', key: formatAddress(to) })
    expect(await store.read.sessions.current(at(from).route.scopeKey)).toBeUndefined()
  }
})

/** Resolves after so many steps of other work. */
async function after(steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) await undefined
}

describe('a yes', () => {
  const speaks = (store: Store, session: Session, author: AuthorId) =>
    store.write((tx) => tx.authors.add(session.id, author))

  it('F-H11: is none to the words of whoever has spoken since it was asked for: they are named first, once', async () => {
    const { store, group, there, move, current } = await rig()
    await speaks(store, group, 'telegram:555')
    expect(await move(group, there.displayKey, false)).toMatchObject({ state: 'asks' })
    await speaks(store, group, 'telegram:444')
    await expect(move(group, there.displayKey)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/there is more to .*: words of telegram:444\. Say yes once more/),
    })
    expect(await current(there)).toBe(there.id)
    expect(await move(group, there.displayKey)).toMatchObject({ state: 'done' })
  })

  it('F-H11: is none to the words of whoever speaks while it is carried out', async () => {
    const { store, group, there, deps, move, current } = await rig()
    await speaks(store, group, 'telegram:555')
    expect(await move(group, there.displayKey, false)).toMatchObject({ state: 'asks' })
    const write: typeof store.write = async (work) => {
      await speaks(store, group, 'telegram:444')
      return store.write(work)
    }
    const slow = { ...deps, store: { ...store, read: store.read, write } }
    await expect(relocate(group, { kind: 'move', to: there.displayKey, confirmed: true }, slow)).rejects.toMatchObject({
      code: 'conflict',
    })
    expect(await current(there)).toBe(there.id)
  })

  it('F-H11: that nobody asked for, or to which nothing came, is one', async () => {
    const { store, group, there, move } = await rig()
    await speaks(store, group, 'telegram:444')
    await move(group, there.displayKey, false)
    expect(await move(group, there.displayKey)).toMatchObject({ state: 'done' })
    const other = await rig()
    expect(await other.move(other.group, other.there.displayKey)).toMatchObject({ state: 'done' })
  })
})

it('an earlier session of a place is moved, and the session that is in use there stays', async () => {
  const { store, group, there, move, current } = await rig()
  const inUse = sessionDraft(1)
  await store.write(async (tx) => {
    await tx.sessions.deactivate(group.id, 2)
    await tx.sessions.create(inUse, 2)
  })
  const earlier = (await store.read.sessions.get(group.id)) ?? group
  expect(await current(earlier)).toBe(inUse.id)
  expect(await move(earlier, there.displayKey)).toMatchObject({ state: 'done' })
  expect(await current(earlier)).toBe(inUse.id)
  expect(await current(there)).not.toBe(there.id)
})
