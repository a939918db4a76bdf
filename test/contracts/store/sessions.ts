import { expect, it } from 'vitest'
import { parseNamespace } from '../../../src/core/caller.ts'
import { type SessionId, toAgentId } from '../../../src/core/ids.ts'
import { SETTING_NAMES } from '../../../src/core/session-settings.ts'
import { scopeKeyOf, sessionDraft, userMessage } from '../../store/sample-rows.ts'
import { type ContractPart, failureOf, makeSession, rejection } from './under-test.ts'

const NOBODY = 'telegram:2026-01-01-00000000' as SessionId

export const sessionContract: ContractPart = (underTest) => {
  it('S1: a session keeps its draft word for word', async () => {
    const draft = sessionDraft(1, {
      kind: 'cron',
      source: { kind: 'schedule', interactive: false, triggerId: 'morning', triggerType: 'cron' },
    })
    const made = await underTest.store.write((tx) => tx.sessions.create(draft, 5))
    expect(made).toEqual({
      ...draft,
      createdAt: 5,
      lastActivityAt: 5,
      messageCount: 0,
      turnCount: 0,
      preview: '',
      description: '',
      descriptionSource: 'fallback',
      lastSeq: 0,
    })
    expect(await underTest.store.read.sessions.get(draft.id)).toEqual(made)
  })

  it('R33: sessions of tasks are listed by the session that began them, and apart from the others', async () => {
    const parent = await makeSession(underTest.store, 1)
    const other = await makeSession(underTest.store, 2)
    const child = await makeSession(underTest.store, 3, { parent: parent.id })
    const { sessions } = (await underTest.reopen()).read
    const list = async (parents: 'none' | readonly SessionId[]) => {
      const { sessions: page, total } = await sessions.list({ limit: 10, offset: 0, inactive: false, parents })
      expect(total).toBe(page.length)
      return page.map(({ id }) => id).sort()
    }
    expect((await sessions.get(child.id))?.parent).toBe(parent.id)
    expect(await list('none')).toEqual([parent.id, other.id].sort())
    expect(await list([parent.id, other.id])).toEqual([child.id])
    expect(await list([other.id, child.id])).toEqual([])
    expect(await list([])).toEqual([])
  })

  it('S4: ids beyond 2^53 stay as they are', async () => {
    const big = '123456789012345678901234567890'
    const { id } = await makeSession(underTest.store, 1, { metadata: { chat: big, thread: '1699999999.000100' } })
    expect((await underTest.store.read.sessions.get(id))?.metadata).toEqual({ chat: big, thread: '1699999999.000100' })
  })

  it('S5: the scope key finds its session again after a restart', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const store = await underTest.reopen()
    expect((await store.read.sessions.current(scopeKeyOf(1)))?.id).toBe(id)
    expect(await store.read.sessions.current(scopeKeyOf(2))).toBeUndefined()
  })

  it('S10: a new session takes the scope key over, the old one stays readable', async () => {
    const old = await makeSession(underTest.store, 1)
    await underTest.store.write((tx) => tx.sessions.deactivate(old.id, 2))
    expect((await underTest.store.read.sessions.current(old.scopeKey))?.id).toBe(old.id)
    const next = await makeSession(underTest.store, 1)
    expect((await underTest.store.read.sessions.current(old.scopeKey))?.id).toBe(next.id)
    expect(await underTest.store.read.sessions.get(old.id)).toMatchObject({ inactiveAt: 2 })
  })

  it('those of a scope are listed newest first, and any of them can be its current one again', async () => {
    const { store } = underTest
    const old = await makeSession(store, 1)
    await store.write((tx) => tx.sessions.deactivate(old.id, 2))
    const next = await makeSession(store, 1)
    await makeSession(store, 2)
    await store.write((tx) => tx.events.append(next.id, 3_000, [userMessage('later')]))
    const idsOf = async (limit: number) => (await store.read.sessions.ofScope(old, limit)).map(({ id }) => id)
    expect(await idsOf(9)).toEqual([next.id, old.id])
    expect(await idsOf(1)).toEqual([next.id])
    await store.write(async (tx) => {
      await tx.sessions.identity(old.scopeKey)
      await tx.sessions.point(old.id)
      expect((await tx.sessions.identity(old.scopeKey))?.id).toBe(old.id)
    })
    const current = await store.read.sessions.current(old.scopeKey)
    expect(current?.id).toBe(old.id)
    expect(current).not.toHaveProperty('inactiveAt')
    expect(await idsOf(9)).toEqual([next.id, old.id])
    expect(await failureOf(store.write((tx) => tx.sessions.point('telegram:none' as never)))).toMatchObject({
      code: 'not_found',
    })
  })

  it('a session id is given once', async () => {
    const { id } = await makeSession(underTest.store, 1)
    expect(await failureOf(makeSession(underTest.store, 2, { id }))).toMatchObject({ code: 'conflict' })
    expect(await underTest.store.read.sessions.current(scopeKeyOf(2))).toBeUndefined()
  })

  it('resolve takes a session id, a scope key or a display key, the newest of several', async () => {
    const { sessions } = underTest.store.read
    const first = await makeSession(underTest.store, 1)
    const second = await makeSession(underTest.store, 1)
    expect((await sessions.resolve(first.id))?.id).toBe(first.id)
    expect((await sessions.resolve(first.scopeKey))?.id).toBe(second.id)
    expect((await sessions.resolve(first.displayKey))?.id).toBe(second.id)
    expect(await sessions.resolve('nobody')).toBeUndefined()
  })

  it('S9: inactive sessions are listed only when asked for, newest activity first', async () => {
    const [a, b, c] = [
      await makeSession(underTest.store, 1),
      await makeSession(underTest.store, 2),
      await makeSession(underTest.store, 3),
    ]
    await underTest.store.write(async (tx) => {
      await tx.events.append(a.id, 9_000, [userMessage('latest')])
      await tx.sessions.deactivate(b.id, 9_001)
    })
    const list = async (inactive: boolean, offset = 0, limit = 10) => {
      const page = await underTest.store.read.sessions.list({ limit, offset, inactive })
      return { ids: page.sessions.map((session) => session.id), total: page.total }
    }
    expect(await list(false)).toEqual({ ids: [a.id, c.id], total: 2 })
    expect(await list(true)).toEqual({ ids: [a.id, c.id, b.id], total: 3 })
    expect(await list(true, 1, 1)).toEqual({ ids: [c.id], total: 3 })
  })

  it('T7, T9, T32: a list holds only the kinds, agents and activity it is asked for, and counts no others', async () => {
    const second = toAgentId('second')
    const { store } = underTest
    const cron = await makeSession(store, 1, { kind: 'cron' })
    const other = await makeSession(store, 2, { kind: 'other', agentId: second })
    const group = await makeSession(store, 3, { kind: 'group', agentId: second })
    await store.write(async (tx) => {
      for (const [at, { id }] of [cron, other, group].entries())
        await tx.events.append(id, 5_000 + at, [userMessage('hi')])
    })
    const list = async (filter: object) => {
      const { sessions, total } = await store.read.sessions.list({ limit: 10, offset: 0, inactive: false, ...filter })
      return { ids: sessions.map(({ id }) => id), total }
    }
    expect(await list({ kinds: ['cron', 'group'] })).toEqual({ ids: [group.id, cron.id], total: 2 })
    expect(await list({ agents: [second] })).toEqual({ ids: [group.id, other.id], total: 2 })
    expect(await list({ agents: [] })).toEqual({ ids: [], total: 0 })
    expect(await list({ activeSince: 5_001 })).toEqual({ ids: [group.id, other.id], total: 2 })
    expect(await list({ agents: [second], kinds: ['group'], activeSince: 5_003 })).toEqual({ ids: [], total: 0 })
  })

  it.each([0, 201, 1.5, Number.NaN])('R2: a list of %s is refused', async (limit) => {
    const list = underTest.store.read.sessions.list({ limit, offset: 0, inactive: false })
    expect(await failureOf(list)).toMatchObject({ code: 'invalid' })
  })

  it('a list from a negative offset is refused', async () => {
    const list = underTest.store.read.sessions.list({ limit: 1, offset: -1, inactive: false })
    expect(await failureOf(list)).toMatchObject({ code: 'invalid' })
  })

  it('S11: an inactive session can be opened again', async () => {
    const { id } = await makeSession(underTest.store, 1)
    await underTest.store.write((tx) => tx.sessions.deactivate(id, 2_000))
    await underTest.store.write((tx) => tx.sessions.reopen(id, {}, 3_000))
    const session = await underTest.store.read.sessions.get(id)
    expect(session).toMatchObject({ lastActivityAt: 3_000 })
    expect(session).not.toHaveProperty('inactiveAt')
  })

  it('S18: reopening keeps the source and merges metadata, new values win', async () => {
    const { id, source } = await makeSession(underTest.store, 1, { metadata: { chat: '1', topic: 'old' } })
    await underTest.store.write((tx) => tx.sessions.reopen(id, { topic: 'new', title: 'Ops' }, 2_000))
    const session = await underTest.store.read.sessions.get(id)
    expect(session).toMatchObject({ source, metadata: { chat: '1', topic: 'new', title: 'Ops' } })
    await underTest.store.write((tx) => tx.sessions.reopen(id, { chat: '2', topic: undefined }, 3_000))
    expect((await underTest.store.read.sessions.get(id))?.metadata).toEqual({ chat: '2', title: 'Ops' })
  })

  it('T26, T37: overrides are set, listed with what their scope key points to, and taken back', async () => {
    const { id, scopeKey } = await makeSession(underTest.store, 1)
    await makeSession(underTest.store, 2)
    const overrides = {
      sendPolicy: 'deny',
      thinkingLevel: 'high',
      verboseLevel: 'on',
      model: 'scripted/echo',
    } as const
    await underTest.store.write((tx) => tx.sessions.patchOverrides(id, { set: overrides, inherit: [] }))
    expect(await underTest.store.read.sessions.overridden()).toEqual([{ id, scopeKey, current: true, overrides }])
    expect(await underTest.store.read.sessions.get(id)).toMatchObject(overrides)
    await underTest.store.write((tx) => tx.sessions.patchOverrides(id, { set: {}, inherit: SETTING_NAMES }))
    expect(await underTest.store.read.sessions.overridden()).toEqual([])
  })

  it('T26: the session that follows starts with what it is given; the old one is no longer the current', async () => {
    const old = await makeSession(underTest.store, 1)
    await underTest.store.write((tx) =>
      tx.sessions.patchOverrides(old.id, { set: { sendPolicy: 'deny', verboseLevel: 'full' }, inherit: [] }),
    )
    const next = await makeSession(underTest.store, 1, { settingsOf: old.id })
    expect(next).toMatchObject({ sendPolicy: 'deny', verboseLevel: 'full' })
    const found = await underTest.store.read.sessions.overridden()
    expect(found.map(({ id, current }) => [id, current])).toEqual([
      [old.id, false],
      [next.id, true],
    ])
  })

  it('S42: a namespace lists its own ids alone, whatever the spelling', async () => {
    const names = [
      'web:alice:phone',
      'web:alice2:phone',
      'WEB:alice:phone',
      'web:alice',
      'web%3Aalice:phone',
      'web:alıce:x',
    ]
    for (const [chat, name] of names.entries()) await makeSession(underTest.store, chat, { id: name as SessionId })
    const alice = parseNamespace('web:alice')
    if (!alice) throw new Error('web:alice is a namespace')
    const page = await underTest.store.read.sessions.list({ limit: 10, offset: 0, inactive: true, namespace: alice })
    expect([page.total, page.sessions.map(({ id }) => id)]).toEqual([1, ['web:alice:phone']])
  })

  it('S20, S22: a list by participants holds their sessions; each joins once', async () => {
    const { store } = underTest
    const [ours, theirs] = [await makeSession(store, 1), await makeSession(store, 2)]
    await store.write(async (tx) => {
      await tx.participants.add(ours.id, 'telegram:444', 1)
      await tx.participants.add(ours.id, 'telegram:444', 2)
      await tx.participants.add(theirs.id, 'telegram:555', 3)
    })
    const listed = async (participants: readonly string[]) =>
      (await store.read.sessions.list({ limit: 10, offset: 0, inactive: false, participants })).sessions.map(
        ({ id }) => id,
      )
    expect(await store.read.participants.of(ours.id)).toEqual(['telegram:444'])
    expect(await listed(['telegram:444'])).toEqual([ours.id])
    expect(await listed(['x', 'y', 'z', 'slack:1', 'telegram:555'])).toEqual([theirs.id])
    expect(await listed([])).toEqual([])
  })

  it('S20, S22: whoever leaves takes part no more, in no list and no total either, until they join again', async () => {
    const { store } = underTest
    const { id } = await makeSession(store, 1)
    const query = { limit: 10, offset: 0, inactive: false, participants: ['telegram:444'] }
    const total = async (): Promise<number> => (await store.read.sessions.list(query)).total
    const join = (): Promise<void> => store.write((tx) => tx.participants.add(id, 'telegram:444', 1))
    await join()
    await store.write((tx) => tx.participants.add(id, 'telegram:555', 1))
    expect(await store.read.participants.sessionsOf('telegram:444')).toEqual([id])
    const leave = (): Promise<boolean> => store.write((tx) => tx.participants.leave(id, 'telegram:444'))
    expect([await leave(), await leave()]).toEqual([true, false])
    expect(await store.read.participants.of(id)).toEqual(['telegram:555'])
    expect([await total(), await store.read.participants.sessionsOf('telegram:444')]).toEqual([0, []])
    await join()
    expect(await total()).toBe(1)
  })

  it('S12: a list leaves out what was last active before', async () => {
    const old = await makeSession(underTest.store, 1)
    const fresh = await makeSession(underTest.store, 2)
    await underTest.store.write((tx) => tx.events.append(fresh.id, 9_000, [userMessage('x')]))
    const query = { limit: 10, offset: 0, inactive: false, activeSince: 1_001 }
    expect((await underTest.store.read.sessions.list(query)).sessions.map(({ id }) => id)).toEqual([fresh.id])
    const all = await underTest.store.read.sessions.list({ ...query, activeSince: 1_000 })
    expect(all.sessions.map(({ id }) => id)).toEqual([fresh.id, old.id])
  })

  it('C32: a deleted session is found by no name and listed nowhere, and its scope key is free', async () => {
    const { store } = underTest
    const { id, scopeKey, displayKey } = await makeSession(store, 1)
    await store.write((tx) => tx.sessions.patchOverrides(id, { set: { sendPolicy: 'deny' }, inherit: [] }))
    const deleted = await store.write((tx) => tx.sessions.remove(id, 5))
    const { sessions } = (await underTest.reopen()).read
    for (const name of [id, scopeKey, displayKey]) expect(await sessions.resolve(name)).toBeUndefined()
    expect((await sessions.list({ limit: 10, offset: 0, inactive: true })).total).toBe(0)
    expect(await sessions.under(displayKey, 5)).toEqual([])
    expect(await sessions.overridden()).toEqual([])
    expect(await sessions.deleted(5)).toEqual([deleted])
  })

  it('S41: a purge removes the events of a deleted session and of no other', async () => {
    const { store } = underTest
    const [gone, kept] = [await makeSession(store, 1), await makeSession(store, 2)]
    const deleted = await store.write(async (tx) => {
      for (const { id } of [gone, kept]) await tx.events.append(id, 2, [userMessage('a'), userMessage('b')])
      return tx.sessions.remove(gone.id, 3)
    })
    const both = [deleted, kept.id]
    await store.write(async (tx) => {
      for (const id of both) await tx.events.remove(id, 1)
    })
    expect((await store.read.events.since(deleted, 0, 9)).map(({ seq }) => seq)).toEqual([2])
    expect(await store.read.events.since(kept.id, 0, 9)).toHaveLength(2)
    await store.write(async (tx) => {
      for (const id of both) await tx.sessions.purge(id)
    })
    expect(await store.read.events.since(deleted, 0, 9)).toEqual([])
    expect(await store.read.sessions.deleted(5)).toEqual([])
    expect(await store.read.sessions.get(kept.id)).toBeDefined()
  })

  it('S2: a session with a fixed id can be made again before the deleted one is purged', async () => {
    const { store } = underTest
    const id = 'schedule:morning' as SessionId
    await makeSession(store, 1, { id })
    const deleted = await store.write(async (tx) => {
      await tx.events.append(id, 2, [userMessage('old')])
      return tx.sessions.remove(id, 3)
    })
    expect(await makeSession(store, 1, { id })).toMatchObject({ lastSeq: 0 })
    expect(await store.read.events.since(id, 0, 9)).toEqual([])
    expect(await store.read.events.since(deleted, 0, 9)).toHaveLength(1)
    expect(await store.read.sessions.deleted(5)).toEqual([deleted])
  })

  it('R3, S14: a person names a session, and nothing but a person replaces that', async () => {
    const { store } = underTest
    const { id } = await makeSession(store, 1)
    await store.write((tx) => tx.sessions.describe(id, 'by a review', 'ai'))
    expect(await store.read.sessions.get(id)).toMatchObject({ description: 'by a review', descriptionSource: 'ai' })
    await store.write((tx) => tx.sessions.describe(id, 'by hand', 'user'))
    await store.write((tx) => tx.sessions.describe(id, 'by a review again', 'ai'))
    expect(await store.read.sessions.get(id)).toMatchObject({ description: 'by hand', descriptionSource: 'user' })
  })

  it('S13, S14: what was deleted is no longer the preview nor the name, and nothing else of them is touched', async () => {
    const { store } = underTest
    const { id } = await makeSession(store, 1)
    const shown = async () => {
      const { preview, description } = (await store.read.sessions.get(id)) ?? {}
      return { preview, description }
    }
    const say = (text: string) => store.write((tx) => tx.events.append(id, 1, [userMessage(text)]))
    await say('first words')
    await say('last words')
    await store.write((tx) => tx.sessions.unsay(id, 'words between'))
    expect(await shown()).toEqual({ preview: 'last words', description: 'first words' })
    await store.write((tx) => tx.sessions.unsay(id, 'last words'))
    expect(await shown()).toEqual({ preview: '', description: 'first words' })
    await store.write((tx) => tx.sessions.unsay(id, 'first words'))
    expect(await shown()).toEqual({ preview: '', description: '' })
    await say('said by hand')
    await store.write((tx) => tx.sessions.describe(id, 'said by hand', 'user'))
    await store.write((tx) => tx.sessions.unsay(id, 'said by hand'))
    expect(await shown()).toEqual({ preview: '', description: 'said by hand' })
  })

  it('a session nobody knows is not found', async () => {
    const { store } = underTest
    expect(await store.read.sessions.get(NOBODY)).toBeUndefined()
    const failures = [
      await rejection(store, (tx) => tx.sessions.reopen(NOBODY, {}, 1)),
      await rejection(store, (tx) => tx.sessions.deactivate(NOBODY, 1)),
      await rejection(store, (tx) => tx.sessions.patchOverrides(NOBODY, { set: {}, inherit: SETTING_NAMES })),
      await rejection(store, (tx) => tx.sessions.describe(NOBODY, 'x', 'ai')),
      await rejection(store, (tx) => tx.sessions.unsay(NOBODY, 'x')),
      await rejection(store, (tx) => tx.sessions.remove(NOBODY, 1)),
    ]
    expect(failures).toEqual(failures.map(() => expect.objectContaining({ code: 'not_found' })))
  })

  it('under a display key are its topics and dimensions, and no key that only begins alike', async () => {
    const keys = ['telegram:group:-1', 'telegram:group:-1/7', 'telegram:group:-1|sender=bob', 'telegram:group:-12']
    for (const [chat, displayKey] of keys.entries()) await makeSession(underTest.store, chat, { displayKey })
    const found = await underTest.store.read.sessions.under('telegram:group:-1', 10)
    expect(found.map(({ displayKey }) => displayKey).sort()).toEqual(keys.slice(0, 3))
    expect(await underTest.store.read.sessions.under('telegram:group:-1', 2)).toHaveLength(2)
    expect((await underTest.store.read.sessions.under('telegram:group:-1/7', 10)).length).toBe(1)
  })

  it('another agent may take a session over; a session nobody knows is not_found', async () => {
    const { id } = await makeSession(underTest.store, 1)
    await underTest.store.write((tx) => tx.sessions.setAgent(id, toAgentId('second')))
    expect(await underTest.store.read.sessions.get(id)).toMatchObject({ agentId: 'second' })
    const failure = rejection(underTest.store, (tx) => tx.sessions.setAgent(NOBODY, toAgentId('second')))
    expect(await failure).toMatchObject({ code: 'not_found' })
  })

  it('C31: a damaged session fails by name alone and is skipped in a list', async () => {
    const damaged = await makeSession(underTest.store, 1)
    const sound = await makeSession(underTest.store, 2)
    const store = await underTest.reopen(`UPDATE sessions SET scope = '{"half' WHERE id = '${damaged.id}'`)
    const failure = await failureOf(store.read.sessions.get(damaged.id))
    expect(failure).toMatchObject({
      code: 'unreadable',
      message: expect.stringContaining(`${damaged.id} of table sessions`),
    })
    const page = await store.read.sessions.list({ limit: 10, offset: 0, inactive: false })
    expect(page.sessions.map((session) => session.id)).toEqual([sound.id])
    expect(underTest.warnings).toEqual([
      { sentence: expect.any(String), fields: { table: 'sessions', rows: [damaged.id], count: 1 } },
    ])
  })
}
