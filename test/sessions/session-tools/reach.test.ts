import { expect, it, vi } from 'vitest'
import { type Namespace, parseNamespace } from '../../../src/core/caller.ts'
import type { Identity } from '../../../src/core/dispatch.ts'
import { toPersonId, toScopeKey, toSessionId } from '../../../src/core/ids.ts'
import type { SessionCaller } from '../../../src/core/session-tools.ts'
import { createReach, type ReachDeps } from '../../../src/sessions/session-tools/reach.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { ids, sessionDraft } from '../../store/sample-rows.ts'
import { openRig, turnIn } from './rig.ts'

const [ADA, BOB] = ['telegram:direct:111', 'telegram:direct:444'] as const
const SCRIPT = 'rules: [{ steps: [{ text: heard }] }]'

it('a turn whose session is gone has the authority of nobody known', async () => {
  const rig = await openRig({ script: SCRIPT })
  const { id: sessionId, agentId } = sessionDraft(1)
  const deps: ReachDeps = {
    channels: CHANNELS,
    read: rig.store.read,
    inGroups: 'here',
    mainIsShared: () => false,
    joins: () => false,
    agents: [],
    access: { read: rig.store.read, mainIsShared: () => false, platformIds: async () => [] },
    whoIs: () => ({ role: 'owner' }),
    roleOf: async () => 'owner',
    spokenFor: () => [],
  }
  const reach = await createReach(deps).of({ turn: { id: ids.turn(), sessionId, agentId } })
  expect(await reach.principal()).toEqual({ role: 'guest' })
})

it('S20: words of several members get the same refusal for a session that is there and for one that is not', async () => {
  const rig = await openRig({
    script: SCRIPT,
    routing: {
      people: [
        { id: toPersonId('ada'), role: 'owner', ids: ['telegram:111'] },
        { id: toPersonId('bob'), role: 'member', ids: ['telegram:444'] },
        { id: toPersonId('cy'), role: 'member', ids: ['telegram:555'] },
      ],
    },
  })
  for (const id of ['111', '444']) await rig.ask(id, 'hello')
  const both = await rig.named(BOB)
  await rig.store.write((tx) => tx.participants.add(both.id, 'telegram:555', 1))
  await rig.store.write((tx) => tx.authors.add(both.id, 'telegram:555'))
  const caller: SessionCaller = await turnIn(rig.store, both, '444')
  const refusal = (sessionKey: string): Promise<unknown> =>
    rig.send({ sessionKey, message: 'hi' }, caller).catch((err: unknown) => err)
  const denied = { message: expect.stringContaining('words of telegram:444, telegram:555, who may not do this') }
  expect(await refusal(ADA)).toMatchObject(denied)
  expect(await refusal('telegram:direct:999')).toEqual(await refusal(ADA))
})

it('T32: what one session writes to another brings its authors along, and what they may do counts there', async () => {
  let ada: Identity = { person: toPersonId('ada'), role: 'owner' }
  const rig = await openRig({
    script: SCRIPT,
    facts: { personOf: (_channel, id) => (id === '111' ? ada : undefined) },
    routing: {
      people: [{ id: toPersonId('bob'), role: 'owner', ids: ['telegram:444'] }],
      access: { direct: 'public', groups: [] },
    },
  })
  for (const id of ['111', '444', '555']) await rig.ask(id, 'hello')
  const bobs = await rig.named(BOB)
  const adas = await turnIn(rig.store, await rig.named(ADA), '111')
  expect(await rig.send({ sessionKey: BOB, message: 'a plain word' }, adas)).toMatchObject({ status: 'ok' })
  expect(await rig.store.read.authors.of(bobs.id)).toContain('telegram:111')
  const caller = await turnIn(rig.store, bobs, '444')
  const send = (): Promise<unknown> => rig.send({ sessionKey: 'telegram:direct:555', message: 'hi' }, caller)
  expect(await send()).toMatchObject({ status: 'ok' })
  ada = { role: 'guest' }
  await expect(send()).rejects.toThrow('words of telegram:111, who may not do this')
})

it('S42, T6: who holds a token reads what its own sessions and the people it speaks for could read, and no more', async () => {
  const rig = await openRig({
    script: SCRIPT,
    routing: {
      people: [
        { id: toPersonId('ada'), role: 'owner', ids: ['telegram:111'] },
        { id: toPersonId('bob'), role: 'member', ids: ['telegram:444', 'api:shop:bob'] },
      ],
      access: { direct: 'public', groups: [] },
    },
  })
  for (const id of ['111', '444']) await rig.ask(id, 'hello')
  const [ada, bob] = [await rig.named(ADA), await rig.named(BOB)]
  const make = (id: string) =>
    rig.store.write((tx) =>
      tx.sessions.create(
        {
          ...sessionDraft(1),
          id: toSessionId(id),
          scopeKey: toScopeKey(`key of ${id}`),
          displayKey: id,
          chatType: 'direct',
          source: { kind: 'api', interactive: true },
          scope: {
            version: 1,
            agent: ada.agentId,
            channel: 'api',
            account: ada.scope.account,
            dimensions: ['chat'],
            values: { chat: `direct:${id}` },
          },
          agentId: ada.agentId,
        },
        1,
      ),
    )
  const [desk, other] = [await make('api:shop:desk'), await make('api:shop:other')]
  const caller = await turnIn(rig.store, desk, '111')
  const reachWith = (spokenFor: ReachDeps['spokenFor']) =>
    createReach({
      channels: CHANNELS,
      read: rig.store.read,
      inGroups: 'here',
      mainIsShared: () => false,
      joins: () => false,
      agents: [],
      access: {
        read: rig.store.read,
        mainIsShared: () => false,
        platformIds: async (person) => (person === 'bob' ? ['telegram:444'] : []),
      },
      whoIs: (id) =>
        id === 'telegram:444'
          ? { person: toPersonId('bob'), role: 'member' }
          : { role: id === 'telegram:111' ? 'owner' : 'guest' },
      roleOf: async () => 'guest',
      spokenFor,
    }).of(caller)
  const seen = async (spokenFor: ReachDeps['spokenFor']) => {
    const reach = await reachWith(spokenFor)
    return Promise.all([ada, bob, other, desk].map(async (session) => (await reach.reads(session)).kind))
  }
  expect(await seen(() => [])).toEqual(['allowed', 'allowed', 'allowed', 'allowed'])
  await rig.store.write((tx) =>
    tx.tokens.add({
      id: 'a',
      hash: 'a',
      namespace: parseNamespace('api:shop') as Namespace,
      scopes: ['chat'],
      label: '',
      createdAt: 1,
    }),
  )
  expect(await seen(() => [])).toEqual(['denied', 'denied', 'allowed', 'allowed'])
  expect(await seen(() => [{ person: toPersonId('bob'), role: 'member' }])).toEqual([
    'denied',
    'allowed',
    'allowed',
    'allowed',
  ])
  const owner = [{ person: toPersonId('ada'), role: 'owner' }] as const
  expect(await seen(() => owner)).toEqual(['allowed', 'allowed', 'allowed', 'allowed'])
  const among = async (spokenFor: ReachDeps['spokenFor']) => (await reachWith(spokenFor)).among()
  expect(await among(() => [])).toEqual({ namespace: 'api:shop' })
  expect(await among(() => owner)).toEqual({})
})

it('S42: at a call of a tool nobody is looked up for each of the people for whom a token may speak', async () => {
  const many = Array.from({ length: 300 }, (_, at) => ({
    id: toPersonId(`p${at}`),
    role: 'member' as const,
    ids: [`telegram:${1000 + at}`],
  }))
  const rig = await openRig({ script: SCRIPT, routing: { people: many } })
  // The last of them all, so that a walk through everybody shows.
  for (const id of ['1298', '1299']) await rig.ask(id, 'hello')
  await rig.store.write(async (tx) => {
    const namespace = parseNamespace('telegram') as Namespace
    await tx.tokens.add({ id: 'a', hash: 'a', namespace, scopes: ['chat'], label: '', createdAt: 1 })
    await tx.people.link(toPersonId('p0'), 'guest', ['discord:5'], 1)
  })
  await rig.engine.sessions.post({ kind: 'operator' }, 'api:desk', { text: 'hello' })
  const desk = await rig.named('api:desk')
  await rig.store.write((tx) => tx.participants.add(desk.id, 'telegram:1299', 1))
  const caller = await turnIn(rig.store, await rig.named('telegram:direct:1299'), '1299')
  const { people, participants } = rig.store.read
  const spies = [vi.spyOn(people, 'all'), vi.spyOn(participants, 'of')]
  const rows = await rig.tools.list({}, caller)
  expect(rows.map(({ key }) => key)).toEqual(['api:direct:desk', 'telegram:direct:1299'])
  const [read = 0, looked = 0] = spies.map((spy) => spy.mock.calls.length)
  expect(read).toBe(0)
  expect(looked).toBeLessThan(20)
})
