import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { textContent } from '../../../src/core/content.ts'
import type { Identity } from '../../../src/core/dispatch.ts'
import { type AgentId, toAgentId, toPersonId } from '../../../src/core/ids.ts'
import type { Session, SessionDraft } from '../../../src/core/session.ts'
import type { ListQuery, SessionCaller, SessionRow } from '../../../src/core/session-tools.ts'
import { listSessions } from '../../../src/sessions/session-tools/list-sessions.ts'
import { createReach } from '../../../src/sessions/session-tools/reach.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { EventToAppend } from '../../../src/store/event-port.ts'
import type { Store } from '../../../src/store/store.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import {
  addressOf,
  assistantMessage,
  deliveryOf,
  sessionDraft,
  turnOf as turnRow,
  userMessage,
} from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'
import { CLIENT, turnIn } from './rig.ts'

removeTempFolders()

const NOW = 1_800_000_000_000
const MINUTE = 60_000
const MAIN = toAgentId('main')

interface Place {
  readonly store: Store
  /** Makes a session; later ones were active later. */
  add(changes?: Partial<SessionDraft>, events?: readonly EventToAppend[], at?: number): Promise<Session>
  list(query?: ListQuery, caller?: SessionCaller): Promise<readonly SessionRow[]>
  keys(query?: ListQuery, caller?: SessionCaller): Promise<readonly string[]>
}

/** Ada owns it, Bob is a member. */
function whoIs(platformId: string): Identity {
  if (platformId === 'telegram:111') return { person: toPersonId('ada'), role: 'owner' }
  return platformId === 'telegram:bob' ? { person: toPersonId('bob'), role: 'member' } : { role: 'guest' }
}

/** A session in which nobody but the caller reads. */
const OWN: Partial<SessionDraft> = {
  displayKey: 'own',
  chatType: 'direct',
  source: { kind: 'cli', interactive: true },
}

async function place(agents: readonly AgentId[] = []): Promise<Place> {
  const store = await openSqliteStore({ path: readyDatabase(`${tempFolder()}/parley.db`), clock: systemClock })
  onTestFinished(() => store.close())
  let made = 0
  const list: Place['list'] = (query = {}, caller = CLIENT) =>
    listSessions(
      {
        read: store.read,
        reach: createReach({
          ...{ agents, channels: CHANNELS, read: store.read, inGroups: 'here', whoIs },
          access: {
            read: store.read,
            mainIsShared: () => false,
            platformIds: async (person) => [`telegram:${person}`],
          },
          roleOf: async () => 'guest',
          spokenFor: () => [],
          mainIsShared: () => false,
          joins: () => false,
        }),
        clock: { ...systemClock, now: () => NOW },
        staleMs: NOW,
        agentOf: ({ agentId }) => ({
          model: `scripted/${agentId}`,
          ...(agentId === 'main' ? {} : { contextTokens: 1_000 }),
        }),
        transcriptPath: (id) => `parley.db#${id}`,
      },
      query,
      caller,
    )
  return {
    store,
    async add(changes = {}, events = [], at = NOW - 1_000 * MINUTE + made) {
      const draft = sessionDraft(++made, changes)
      return store.write(async (tx) => {
        const session = await tx.sessions.create(draft, at)
        if (events.length > 0) await tx.events.append(session.id, at, events)
        return (await tx.sessions.get(session.id)) ?? session
      })
    },
    list,
    keys: async (query, caller) => (await list(query, caller)).map(({ key }) => key),
  }
}

const toolResult = (text: string): EventToAppend => ({
  type: 'tool_result',
  data: { callId: 'c', tool: 'clock', content: textContent(text), isError: false },
})

describe('sessions_list', () => {
  it('T2: the main session of the asking agent is shown as main, whatever its display key', async () => {
    const { add, keys, store } = await place()
    await add({ kind: 'main', displayKey: 'main', chatType: 'direct' })
    const second = toAgentId('second')
    const own = await add({ kind: 'main', displayKey: 'agent:second:main', agentId: second, chatType: 'direct' })
    expect(await keys({}, await turnIn(store, own))).toEqual(['main'])
    expect(await keys()).toEqual(['agent:second:main', 'main'])
  })

  it('T3, T4: groups, schedules, hooks and nodes are shown by their keys', async () => {
    const { add, keys } = await place()
    const shown = ['telegram:group:-1', 'slack:channel:c1', 'cron:morning', 'hook:5f0c', 'node-kitchen']
    for (const displayKey of shown) await add({ displayKey })
    expect(await keys()).toEqual(shown.toReversed())
  })

  it('T5: global and unknown are never shown', async () => {
    const { add, keys } = await place()
    for (const displayKey of ['global', 'telegram:group:-1', 'unknown']) await add({ displayKey, kind: 'main' })
    expect(await keys()).toEqual(['telegram:group:-1'])
  })

  it('T7: kinds filters by the six kinds; unknown names are ignored, and none left is no filter', async () => {
    const { add, list } = await place()
    for (const kind of ['main', 'group', 'cron', 'hook', 'node', 'other'] as const) await add({ kind })
    const kinds = async (...asked: readonly string[]) => (await list({ kinds: asked })).map(({ kind }) => kind)
    expect(await kinds('group', 'cron')).toEqual(['cron', 'group'])
    expect(await kinds('group', 'chat', 'GROUP')).toEqual(['group'])
    expect(await kinds(' Cron ', 'hooks, NODE')).toEqual(['node', 'hook', 'cron'])
    expect(await kinds('direct')).toEqual(['other', 'main'])
    expect(await kinds('chat')).toHaveLength(6)
    expect(await kinds()).toHaveLength(6)
  })

  it('T8: limit bounds the visible rows: hidden ones do not eat into it', async () => {
    const { add, keys } = await place()
    await add({ displayKey: 'telegram:group:-1' })
    await add({ displayKey: 'telegram:group:-2' })
    for (let hidden = 0; hidden < 5; hidden++) await add({ displayKey: 'global' })
    expect(await keys({ limit: 2 })).toEqual(['telegram:group:-2', 'telegram:group:-1'])
    expect(await keys({ limit: 1 })).toEqual(['telegram:group:-2'])
  })

  it('T8: limit is clamped at 200 and at 1; the default is 50', async () => {
    const { store, list } = await place()
    await store.write(async (tx) => {
      for (let no = 1; no <= 205; no++) await tx.sessions.create(sessionDraft(no), no)
    })
    const count = async (limit?: number) => (await list(limit === undefined ? {} : { limit })).length
    expect(await count(1_000)).toBe(200)
    expect(await count(0)).toBe(1)
    expect(await count(-3)).toBe(1)
    expect(await count(2.9)).toBe(2)
    expect(await count()).toBe(50)
  })

  it('T8: rows beyond the first page of the store are found, where those before are hidden', async () => {
    const { store, keys } = await place()
    await store.write(async (tx) => {
      for (let no = 1; no <= 205; no++) {
        await tx.sessions.create(sessionDraft(no, no > 2 ? { displayKey: 'unknown' } : {}), no)
      }
    })
    expect(await keys({ limit: 200 })).toEqual(['telegram:group:-1002', 'telegram:group:-1001'])
  })

  it('T9: activeMinutes leaves out older rows, and keeps one exactly that old', async () => {
    const { add, keys } = await place()
    await add({ displayKey: 'older' }, [], NOW - 10 * MINUTE - 1)
    await add({ displayKey: 'just' }, [], NOW - 10 * MINUTE)
    await add({ displayKey: 'newer' }, [], NOW - MINUTE)
    expect(await keys({ activeMinutes: 10 })).toEqual(['newer', 'just'])
  })

  it('T10: messageLimit adds the last messages without tool results, 20 at most; 0 adds none', async () => {
    const { add, list } = await place()
    const said = Array.from({ length: 30 }, (_, no) => [userMessage(`u${no}`), toolResult(`t${no}`)]).flat()
    await add({}, [...said, assistantMessage('done')])
    const messages = async (messageLimit?: number) =>
      (await list(messageLimit === undefined ? {} : { messageLimit }))[0]?.messages?.map(({ text }) => text)
    expect(await messages(2)).toEqual(['u29', 'done'])
    expect(await messages(1_000)).toHaveLength(20)
    expect(await messages(0)).toBeUndefined()
    expect(await messages()).toBeUndefined()
  })

  it('T33: the transcript path is a hint: the database and the session', async () => {
    const { add, list } = await place()
    const { id } = await add()
    expect((await list())[0]?.transcriptPath).toBe(`parley.db#${id}`)
  })

  it('T11: what is not known is absent', async () => {
    const { add, list, store } = await place()
    const { id } = await add({ metadata: { channel: 'telegram' } }, [userMessage('what is up?')], NOW)
    await store.write((tx) => tx.sessions.patchOverrides(id, { set: { sendPolicy: 'deny' }, inherit: [] }))
    const bare = await add({ kind: 'other', source: { kind: 'api', interactive: true }, metadata: {} }, [], NOW - 1)
    expect(await list()).toEqual([
      {
        key: 'telegram:group:-1001',
        kind: 'group',
        provider: 'telegram',
        displayName: 'what is up?',
        updatedAt: NOW,
        sessionId: id,
        model: 'scripted/main',
        sendPolicy: 'deny',
        transcriptPath: `parley.db#${id}`,
      },
      {
        key: 'telegram:group:-1002',
        kind: 'other',
        provider: 'unknown',
        updatedAt: NOW - 1,
        sessionId: bare.id,
        model: 'scripted/main',
        transcriptPath: `parley.db#${bare.id}`,
      },
    ])
  })

  it('T11: the tokens that the model reads at once are shown where they are known', async () => {
    const { add, list } = await place()
    await add({}, [], NOW)
    await add({ agentId: toAgentId('second') }, [], NOW - 1)
    const [unknown, known] = (await list()).map(({ contextTokens }) => contextTokens)
    expect([known, unknown]).toEqual([1_000, undefined])
  })

  it('T11: what was set by hand and what the last run came to is shown', async () => {
    const { add, list, store } = await place()
    const { id } = await add({ metadata: { channel: 'telegram' } }, [userMessage('hi')], NOW)
    const turn = turnRow(id, 1)
    const overrides = { thinkingLevel: 'high', verboseLevel: 'on', model: 'scripted/other' } as const
    await store.write(async (tx) => {
      await tx.sessions.patchOverrides(id, { set: overrides, inherit: [] })
      await tx.turns.start(turn)
      const usage = { input: 30, output: 12 }
      await tx.events.append(id, NOW, [
        { type: 'turn_completed', turnId: turn.id, data: { outcome: 'answered', usage, steps: 1 } },
        { type: 'turn_completed', turnId: turn.id, data: { outcome: 'silent', usage, steps: 1 } },
      ])
      await tx.outbox.add([deliveryOf(turn.id, { state: 'sent', messageId: '5' })])
    })
    expect(await list()).toMatchObject([
      {
        totalTokens: 84,
        thinkingLevel: 'high',
        verboseLevel: 'on',
        systemSent: true,
        abortedLastRun: false,
        lastChannel: 'telegram',
        lastTo: 'telegram:group:-1001',
      },
    ])
    await store.write((tx) => tx.events.append(id, NOW, [{ type: 'turn_cancelled', data: { reason: 'stopped' } }]))
    expect(await list()).toMatchObject([{ abortedLastRun: true, systemSent: false }])
  })

  it('T11: the last run is the newest, the last delivery the newest that left, and neither is taken from another', async () => {
    const { add, list, store } = await place()
    const usage = { input: 1, output: 1 }
    const { id } = await add({}, [userMessage('hi')], NOW)
    const other = await add({}, [userMessage('elsewhere')], NOW - 1)
    const ended = async (
      session: Session,
      steps: number,
      delivery?: Parameters<typeof deliveryOf>[1],
    ): Promise<void> => {
      const turn = turnRow(session.id, 1)
      await store.write(async (tx) => {
        await tx.turns.start(turn)
        const data = { outcome: steps === 0 ? 'failed' : 'answered', usage, steps } as const
        await tx.events.append(session.id, NOW, [{ type: 'turn_completed', turnId: turn.id, data }])
        if (delivery) await tx.outbox.add([deliveryOf(turn.id, delivery)])
        await tx.turns.finish(turn.id, { state: 'completed', outcome: 'answered', at: NOW, usage })
      })
    }
    const session = { id } as Session
    const rowOf = async () => (await list()).find(({ sessionId }) => sessionId === id)
    await ended(session, 0)
    expect(await rowOf()).toMatchObject({ systemSent: false, abortedLastRun: false, totalTokens: 2 })
    expect(await rowOf()).not.toHaveProperty('lastTo')
    await ended(session, 1, { state: 'sent', messageId: '1', address: addressOf(1) })
    await ended(session, 1, { state: 'sent', messageId: '2', address: addressOf(2) })
    for (const state of ['planned', 'rejected', 'expired', 'given_up'] as const)
      await ended(session, 1, { state, address: addressOf(3) })
    await ended(other, 1, { state: 'sent', messageId: '4', address: addressOf(4) })
    expect(await rowOf()).toMatchObject({ systemSent: true, lastTo: 'telegram:group:-1002', totalTokens: 14 })
    await ended(session, 0)
    expect(await rowOf()).toMatchObject({ systemSent: false, lastTo: 'telegram:group:-1002' })
  })

  it('S12: what was not active for days is not listed', async () => {
    const { add, store } = await place()
    await add({ displayKey: 'old' }, [], 1_000)
    await add({ displayKey: 'new' }, [], 3_000)
    const clock = { ...systemClock, now: () => 5_000 }
    const access = { read: store.read, mainIsShared: () => false, platformIds: async () => [] }
    const reaching = {
      agents: [],
      channels: CHANNELS,
      inGroups: 'here',
      whoIs,
      roleOf: async () => 'guest' as const,
      spokenFor: () => [],
      mainIsShared: () => false,
      joins: () => false,
      read: store.read,
    } as const
    const deps = {
      agentOf: () => ({ model: 'm' }),
      transcriptPath: () => 't',
      reach: createReach({ ...reaching, access }),
    }
    const rows = await listSessions({ ...deps, read: store.read, clock, staleMs: 3_000 }, {}, CLIENT)
    expect(rows.map(({ key }) => key)).toEqual(['new'])
  })

  it('S20: somebody who is no owner sees what they took part in, and the session they ask from in its place', async () => {
    const { add, keys, store } = await place()
    const older = await add({ displayKey: 'older' }, [], NOW - 3)
    const own = await add(OWN, [], NOW - 2)
    const newer = await add({ displayKey: 'newer', kind: 'cron' }, [], NOW - 1)
    await add({ displayKey: 'foreign' }, [], NOW)
    const bob = await turnIn(store, own, 'bob')
    expect(await keys({}, bob)).toEqual(['own'])
    await store.write(async (tx) => {
      for (const { id } of [older, newer]) await tx.participants.add(id, 'telegram:bob', 1)
    })
    expect(await keys({}, bob)).toEqual(['newer', 'own', 'older'])
    expect(await keys({ limit: 2 }, bob)).toEqual(['newer', 'own'])
    expect(await keys({ kinds: ['cron'] }, bob)).toEqual(['newer'])
    await store.write((tx) => tx.participants.add(own.id, 'person:bob', 1))
    expect(await keys({}, bob)).toEqual(['newer', 'own', 'older'])
    const guests = await add({ ...OWN, displayKey: 'guests' }, [], NOW)
    expect(await keys({}, await turnIn(store, guests, '9'))).toEqual(['guests'])
    expect(await keys({}, { principal: { role: 'guest' } })).toEqual([])
  })

  it('T12: rows are newest first', async () => {
    const { add, keys } = await place()
    for (const [displayKey, ago] of [
      ['a', 2],
      ['b', 1],
      ['c', 3],
    ] as const)
      await add({ displayKey }, [], NOW - ago)
    expect(await keys()).toEqual(['b', 'a', 'c'])
  })

  it('T22: the provider is the surface of a group, the last channel of a direct chat, else internal or unknown', async () => {
    const { add, list } = await place()
    const source = { kind: 'api', interactive: true } as const
    await add({ kind: 'main', source, metadata: {} })
    for (const kind of ['cron', 'hook', 'node'] as const) await add({ kind, source, metadata: { channel: 'telegram' } })
    await add({ kind: 'other', source, metadata: { channel: 'slack' } })
    await add({ kind: 'group', metadata: {} })
    const providers = (await list()).map(({ kind, provider }) => [kind, provider])
    expect(providers.toReversed()).toEqual([
      ['main', 'unknown'],
      ['cron', 'internal'],
      ['hook', 'internal'],
      ['node', 'internal'],
      ['other', 'slack'],
      ['group', 'telegram'],
    ])
  })

  it('T32: a turn sees sessions of its own agent only, unless both agents are named', async () => {
    const second = toAgentId('second')
    const closed = await place()
    const own = await closed.add(OWN)
    await closed.add({ displayKey: 'other', agentId: second })
    expect(await closed.keys({}, await turnIn(closed.store, own))).toEqual(['own'])
    const open = await place([MAIN, second])
    const asking = await open.add(OWN)
    await open.add({ displayKey: 'other', agentId: second })
    await open.add({ displayKey: 'third', agentId: toAgentId('third') })
    expect(await open.keys({}, await turnIn(open.store, asking))).toEqual(['other', 'own'])
  })

  it('S9: inactive sessions are not listed', async () => {
    const { add, keys, store } = await place()
    const { id } = await add()
    await store.write((tx) => tx.sessions.deactivate(id, NOW))
    expect(await keys()).toEqual([])
  })
})
