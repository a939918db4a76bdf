import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { AgentProfile } from '../../src/core/agent-profile.ts'
import { systemClock } from '../../src/core/clock.ts'
import { NO_PLAN, NOTHING_FORGOTTEN } from '../../src/core/forgetting.ts'
import type { InboxId, SessionId, TurnId } from '../../src/core/ids.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { Introspection, IntrospectionRequest } from '../../src/core/memory.ts'
import { NO_USAGE } from '../../src/core/model.ts'
import { runCheckpoint } from '../../src/memory/run-checkpoint.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import type { EventToAppend } from '../../src/store/event-port.ts'
import { sessionDraft } from '../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

const sender = { id: '111', kind: 'user', displayName: 'Ada' } as const
const SAID: EventToAppend = {
  type: 'user_message',
  data: { text: 'my secret is blue', messageId: '5', sender, owner: true, addressed: true, triggers: true },
}
const FOUND: Introspection = {
  ...{ saved: [{ text: 'The secret is blue.', lines: [1] }], changed: [], removed: [], refused: [] },
  ...{ working: 'Blue.', model: 'small', usage: NO_USAGE },
}

/** A session in which Ada has said something. */
async function rig() {
  const store = await openSqliteStore({ path: join(tempFolder(), 'parley.db'), clock: systemClock })
  onTestFinished(() => store.close())
  const draft = sessionDraft(1)
  await store.write(async (tx) => {
    await tx.sessions.create(draft, 1)
    await tx.events.append(draft.id, 1, [SAID])
  })
  const shown: IntrospectionRequest[] = []
  /** Runs a checkpoint; while its model is asked, this happens. */
  const run = (meanwhile: () => Promise<unknown>, found = FOUND) =>
    runCheckpoint(
      {
        ...{ store, clock: systemClock, logger: silentLogger, isOwner: async () => true, saw: () => {} },
        agent: () => ({ model: 'small', prompt: '', tools: [] }) as unknown as AgentProfile,
        introspect: async (request) => {
          shown.push(request)
          await meanwhile()
          return found
        },
      },
      { session: draft.id, reason: 'manual' },
      new AbortController().signal,
    )
  const append = (event: EventToAppend) => store.write((tx) => tx.events.append(draft.id, 2, [event]))
  const kept = () => store.read.memory.newest([draft.id], 10)
  return { store, draft, session: draft.id, run, append, kept, shown }
}

const TAKEN_BACK = { turn: 'tr_1' as TurnId, messages: [{ messageId: '5' }], command: 'in_1' as InboxId }

it.each<[string, EventToAppend]>([
  ['its message was deleted', { type: 'message_deleted', data: { messageId: '5' } }],
  ['its exchange was taken back', { type: 'exchange_taken_back', data: TAKEN_BACK }],
  ['words were forgotten', { type: 'words_forgotten', data: { by: 'in_2', events: 1 } }],
  [
    'another history came into the session',
    { type: 'history_taken_over', data: { from: 'x:1' as SessionId, events: 1 } },
  ],
  ['its history was replaced', { type: 'history_boundary', data: { kind: 'replaced', exchanges: [] } }],
])('S34: a checkpoint during which %s writes nothing', async (_, event) => {
  const { run, append, kept } = await rig()
  await expect(run(() => append(event))).rejects.toMatchObject({ code: 'conflict' })
  expect(await kept()).toEqual([])
})

it('S34, K36: a checkpoint reads nothing of a history that was replaced', async () => {
  const { session, store, run, append, shown } = await rig()
  await append({ type: 'history_boundary', data: { kind: 'replaced', exchanges: [{ user: 'hi', assistant: 'ho' }] } })
  expect(await run(async () => {})).toEqual({ kind: 'nothing' })
  await append({ ...SAID, data: { ...SAID.data, text: 'tea', messageId: '6' } } as EventToAppend)
  await run(async () => {})
  expect(shown.map(({ lines }) => lines)).toEqual([[{ no: 1, text: '[Ada] tea' }]])
  expect((await store.read.events.latestCheckpoint(session))?.data).toMatchObject({ sources: [{ messageId: '6' }] })
})

it('S34: a message that is deleted and was not looked through changes nothing', async () => {
  const { run, append, kept } = await rig()
  await run(() => append({ type: 'message_deleted', data: { messageId: '6' } }))
  expect(await kept()).toHaveLength(1)
})

it('S38: what a person has had remembered is not shown to a checkpoint, which changes none of it', async () => {
  const { store, session, run, kept, shown } = await rig()
  const entry = { agentId: sessionDraft(1).agentId, sessionId: session, authors: ['telegram:111'], text: 'tea', at: 1 }
  const { no } = await store.write((tx) =>
    tx.memory.add({ ...entry, by: 'person', request: 'command 1', sources: [] } as never),
  )
  await run(async () => {}, { ...FOUND, saved: [], changed: [{ no, text: 'coffee', lines: [1] }], removed: [no] })
  expect(await kept()).toMatchObject([{ text: 'tea' }])
  expect(shown).toMatchObject([{ entries: [] }])
})

it('S34: a checkpoint during which its session was deleted writes nothing into one that got its id', async () => {
  const { store, draft, run, kept } = await rig()
  const anew = () =>
    store.write(async (tx) => {
      await tx.sessions.remove(draft.id, 2)
      await tx.sessions.create(draft, 2)
      await tx.events.append(draft.id, 2, [SAID])
    })
  expect(await run(anew)).toEqual({ kind: 'nothing' })
  expect(await kept()).toEqual([])
})

it('S34: a checkpoint during which another was written writes nothing', async () => {
  const { run, kept } = await rig()
  expect(await run(() => run(async () => {}))).toEqual({ kind: 'nothing' })
  expect(await kept()).toHaveLength(1)
})

it('S38: an entry that a person corrects while a checkpoint runs stays as they have it', async () => {
  const { store, draft, session, run, kept } = await rig()
  const entry = { agentId: draft.agentId, sessionId: session, authors: ['telegram:111'], by: 'agent', at: 1 } as const
  const { no } = await store.write((tx) => tx.memory.add({ ...entry, text: 'tea', request: 'r', sources: [] } as never))
  const own = { text: 'coffee', authors: ['telegram:111'], by: 'person', at: 2, sources: [] } as never
  const found = { ...FOUND, saved: [], changed: [{ no, text: 'water', lines: [1] }], removed: [no] }
  await run(() => store.write((tx) => tx.memory.change(no, own)), found)
  expect(await kept()).toMatchObject([{ text: 'coffee' }])
})

it('S38: a checkpoint changes no entry that it was not shown, as one of another session', async () => {
  const { store, draft, run } = await rig()
  const other = { ...sessionDraft(2), agentId: draft.agentId }
  const entry = { agentId: draft.agentId, sessionId: other.id, authors: [], by: 'checkpoint', at: 1 } as const
  const { no } = await store.write(async (tx) => {
    await tx.sessions.create(other, 1)
    return tx.memory.add({ ...entry, text: 'tea', request: 'r', sources: [] })
  })
  await run(async () => {}, { ...FOUND, saved: [], changed: [{ no, text: 'coffee', lines: [1] }], removed: [no] })
  expect(await store.read.memory.get(no)).toMatchObject({ text: 'tea' })
})

it('S41: a checkpoint reads nothing of a message that is being forgotten', async () => {
  const { store, session, run, append, shown } = await rig()
  await append({ ...SAID, data: { ...SAID.data, text: 'tea', messageId: '6' } } as EventToAppend)
  const running = { turn: 'tr_1' as TurnId, empty: [1] }
  const leaving = { id: session, empty: [], cut: [], turns: [], running }
  const request = { id: 'one', state: 'running', counts: NOTHING_FORGOTTEN, askedAt: 1 } as const
  await store.write((tx) => tx.forgetting.begin({ ...request, plan: { ...NO_PLAN, sessions: [leaving] } }))
  await run(async () => {}, { ...FOUND, saved: [] })
  expect(shown[0]?.lines).toEqual([{ no: 1, text: '[Ada] tea' }])
})

it('S39: a working memory names the messages it is made of, and none where they are more than 300', async () => {
  const { store, session, run, append } = await rig()
  const sources = async () => (await store.read.events.latestCheckpoint(session))?.data
  await run(async () => {})
  expect(await sources()).toMatchObject({ working: 'Blue.', sources: [{ messageId: '5' }] })
  for (let no = 10; no < 310; no++)
    await append({ ...SAID, data: { ...SAID.data, messageId: `${no}` } } as EventToAppend)
  await run(async () => {})
  expect(await sources()).toMatchObject({ working: 'Blue.' })
  expect(await sources()).not.toHaveProperty('sources')
  await append({ ...SAID, data: { ...SAID.data, messageId: '400' } } as EventToAppend)
  await run(async () => {})
  expect(await sources()).not.toHaveProperty('sources')
})

describe('S39, C23: a working memory that has ended', () => {
  const ENDS: readonly (readonly [string, EventToAppend])[] = [
    ['its message was deleted', { type: 'message_deleted', data: { messageId: '5' } }],
    ['its exchange was taken back', { type: 'exchange_taken_back', data: TAKEN_BACK }],
    ['its history was put aside', { type: 'history_boundary', data: { kind: 'replaced', exchanges: [] } }],
  ]
  const LATER = { ...SAID, data: { ...SAID.data, text: 'tea', messageId: '6' } } as EventToAppend
  const NOTHING: Introspection = { saved: [], changed: [], removed: [], refused: [], model: 'small', usage: NO_USAGE }

  it.each(ENDS)('since %s, is neither shown to the next checkpoint nor given back by it', async (_, event) => {
    const { store, session, run, append, shown } = await rig()
    await run(async () => {})
    await append(event)
    await append(LATER)
    await run(async () => {}, NOTHING)
    expect(shown.at(-1)?.working).toBeUndefined()
    expect((await store.read.events.latestCheckpoint(session))?.data).not.toHaveProperty('working')
  })

  it.each(ENDS)('while a checkpoint runs, since %s, is not given back by it', async (_, event) => {
    const { store, session, run, append } = await rig()
    await run(async () => {})
    await append(LATER)
    await expect(run(() => append(event), NOTHING)).rejects.toMatchObject({ code: 'conflict' })
    await append({ ...SAID, data: { ...SAID.data, text: 'cake', messageId: '7' } } as EventToAppend)
    await run(async () => {}, NOTHING)
    expect((await store.read.events.latestCheckpoint(session))?.data).not.toHaveProperty('working')
  })

  it('stays where another message was deleted', async () => {
    const { store, session, run, append, shown } = await rig()
    await run(async () => {})
    await append({ type: 'message_deleted', data: { messageId: '7' } })
    await append(LATER)
    await run(async () => {}, NOTHING)
    expect(shown.at(-1)?.working).toBe('Blue.')
    expect((await store.read.events.latestCheckpoint(session))?.data).toMatchObject({ working: 'Blue.' })
  })
})

it('S41: nothing is made of an entry that was shown to it and removed meanwhile', async () => {
  const { store, draft, session, run, kept } = await rig()
  const entry = { agentId: draft.agentId, sessionId: session, authors: [], by: 'agent', at: 1, sources: [] } as const
  const { no } = await store.write((tx) => tx.memory.add({ ...entry, text: 'Her code is green.', request: 'r' }))
  const found = { ...FOUND, saved: [{ text: 'Her code is green, and the secret is blue.', lines: [1] }] }
  await expect(run(() => store.write((tx) => tx.memory.remove(no)), found)).rejects.toMatchObject({ code: 'conflict' })
  expect(await kept()).toEqual([])
  expect(await store.read.events.latestCheckpoint(session)).toBeUndefined()
})
