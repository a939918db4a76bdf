import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { AgentProfile } from '../../../src/core/agent-profile.ts'
import type { SessionEvent, UserMessageData } from '../../../src/core/event.ts'
import { mediaId, toPersonId, toScopeKey, toSessionId } from '../../../src/core/ids.ts'
import type { MediaStore } from '../../../src/core/media.ts'
import { OPERATOR, personAuthor } from '../../../src/core/platform-id.ts'
import { overridesOf } from '../../../src/core/session-settings.ts'
import type { Bundle } from '../../../src/sessions/export/read-bundle.ts'
import { importBundle } from '../../../src/sessions/service/import-bundle.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { EventToAppend } from '../../../src/store/event-port.ts'
import type { Store } from '../../../src/store/store.ts'
import { fixedClock } from '../../fakes/fixed-clock.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { ids, sessionDraft, userMessage } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const NOW = 1_800_000_000_000
const CHAT = '-100777'
const KEY = toScopeKey('sk_of_the_chat')

const draft = sessionDraft(1)

type Said = Partial<Bundle['session']>

const AGENT = {
  ...{ id: draft.agentId, model: 'anthropic/small', prompt: 'Here.', tools: ['time'] },
} as unknown as AgentProfile

async function open(): Promise<Store> {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: fixedClock(NOW) })
  onTestFinished(() => store.close())
  return store
}

interface Importing {
  readonly at?: number
  readonly store?: Store
  readonly event?: Partial<UserMessageData>
  /** Stands behind the message. */
  readonly behind?: EventToAppend
  readonly dryRun?: boolean
}

/** What a bundle says of the session of a group, and how it lies in the store once it is imported. */
async function imported(said: Said = {}, { at = NOW, event: more, dryRun = false, ...given }: Importing = {}) {
  const store = given.store ?? (await open())
  const kept: Uint8Array[] = []
  const keep: MediaStore['keep'] = async (bytes) => {
    kept.push(bytes)
    return { type: 'file', media: mediaId('0'.repeat(64)), mime: 'text/plain', size: bytes.length }
  }
  const session = {
    ...{ ...draft, scopeKey: KEY, scope: { ...draft.scope, values: { chat: `group:${CHAT}` } } },
    ...{
      createdAt: 1_000,
      description: '',
      descriptionSource: 'fallback',
      overrides: {},
      participants: [],
      authors: [],
    },
    metadata: { channel: 'telegram', account: 'default', chat_type: 'group', chat_id: CHAT },
    ...said,
  } as Bundle['session']
  const event = { ...userMessage('hello', more), seq: 1, at } as SessionEvent
  const place = { scopeKey: KEY, displayKey: `telegram:group:${CHAT}` }
  const report = await importBundle(
    {
      ...{ store, ids, clock: fixedClock(NOW), media: { keep } },
      ...{
        models: { agents: [AGENT], servers: { anthropic: { kind: 'anthropic', apiKey: 'k' } } },
        placeOf: () => place,
        redact: (text) => text,
      },
    },
    {
      session,
      events: [event, ...(given.behind ? [{ ...given.behind, seq: 2, at } as SessionEvent] : [])],
      files: [{ media: mediaId('0'.repeat(64)), bytes: new Uint8Array(1) }],
      sha256: '0'.repeat(64),
    },
    dryRun,
  )
  const made = await store.read.sessions.get(report.session)
  return { report, made, kept, store, events: await store.read.events.since(report.session, 0, 10) }
}

const { scope } = draft
const bySender = { ...scope, dimensions: ['chat', 'sender'] as const }
const byTopic = { ...scope, dimensions: ['chat', 'topic'] as const }

it.each<[string, Said]>([
  ['belongs to one person in it', { scope: { ...bySender, values: { chat: `group:${CHAT}`, sender: 'ada' } } }],
  ['joins all chats', { scope: { ...scope, dimensions: [], values: {} } }],
  ['does not say of which topic it is', { scope: { ...byTopic, values: { chat: `group:${CHAT}` } } }],
  ['is of another kind', { kind: 'main' }],
  ['is none of a direct chat', { kind: 'other' }],
  ['is of a direct chat, which its scope does not say', { chatType: 'direct', kind: 'other' }],
])('of a file whose session %s none comes into the chat', async (_, said) => {
  expect((await imported()).report.state).toBe('in place')
  const { report, made } = await imported(said)
  expect(report.state).toBe('beside')
  expect([made?.metadata, made?.kind]).toEqual([{}, 'other'])
  expect(made?.scopeKey).not.toBe(KEY)
})

it('S42: an id that a client has named is kept in its place alone: elsewhere a token could reach it', async () => {
  const source = { kind: 'api', interactive: true } as const
  const own = { ...scope, channel: 'api', values: { chat: 'direct:notes' } } as const
  const notes: Said = { id: toSessionId('api:notes'), source, scope: own, chatType: 'direct', kind: 'other' }
  expect((await imported(notes)).report).toMatchObject({ state: 'in place', session: 'api:notes' })
  const { report } = await imported({ ...notes, scopeKey: toScopeKey('sk_of_another') })
  expect(report.state).toBe('beside')
  expect(report.session).not.toBe('api:notes')
})

it('a session says nothing where its file has it deliver, in its own chat or elsewhere', async () => {
  const { metadata = {} } = (await imported()).made ?? {}
  expect(metadata).toMatchObject({ chat_id: CHAT })
  for (const to of ['telegram:direct:444', `telegram:group:${CHAT}`]) {
    const { report, made } = await imported({ metadata: { ...metadata, deliver_to: to } })
    expect([report.state, made?.metadata]).toEqual(['in place', {}])
  }
})

it('a session says nothing in another chat than its own, whatever its file has as its place', async () => {
  const own = { channel: 'telegram', account: 'default', chat_type: 'group', chat_id: CHAT }
  for (const other of [{ chat_id: '-100888' }, { chat_id: '-1007' }, { chat_type: 'direct' }, { account: 'second' }]) {
    const { report, made } = await imported({ metadata: { ...own, ...other } as never })
    expect([report.state, made?.metadata]).toEqual(['in place', {}])
  }
})

it('a session of one topic says nothing in another topic, whatever its file has as its place', async () => {
  const own = { channel: 'telegram', account: 'default', chat_type: 'group', chat_id: CHAT }
  const room = { ...scope, values: { chat: `group:${CHAT}/42` } }
  const topic = { ...byTopic, values: { chat: `group:${CHAT}`, topic: 'topic:42' } }
  for (const one of [room, topic] as (typeof scope)[]) {
    const placed = async (metadata: object) =>
      (await imported({ scope: one, metadata: metadata as never })).made?.metadata
    expect(await placed({ ...own, topic_id: '42' })).toMatchObject({ topic_id: '42' })
    expect(await placed({ ...own, topic_id: '7' })).toEqual({})
    expect(await placed(own)).toEqual({})
  }
})

it('S42: a result of a tool in a file names no session of this store as shown', async () => {
  const data = { callId: 'call_1', name: 'sessions_list', content: [{ type: 'text', text: 'two' }], shows: [draft.id] }
  const { events } = await imported({}, { behind: { type: 'tool_result', data } as unknown as EventToAppend })
  const result = events.find(({ type }) => type === 'tool_result')
  expect(result?.data).toMatchObject({ callId: 'call_1' })
  expect(result?.data).not.toHaveProperty('shows')
})

it('what a file says of the future was said now', async () => {
  expect((await imported({}, { at: 5_000 })).events.map(({ at }) => at)).toEqual([5_000, NOW])
  expect((await imported({ createdAt: NOW + 9_000 }, { at: NOW + 9_000 })).events.map(({ at }) => at)).toEqual([
    NOW,
    NOW,
  ])
})

it('a file that is tried keeps none of its files, and one that is imported again is there already', async () => {
  const { store, kept } = await imported({}, { dryRun: true })
  expect(kept).toEqual([])
  expect((await store.read.sessions.list({ limit: 5, offset: 0, inactive: true })).total).toBe(0)
  const first = await imported({}, { store })
  expect([first.report.state, first.kept.length]).toEqual(['in place', 1])
  expect((await imported({}, { store })).report).toMatchObject({ state: 'present', session: draft.id })
  // The session itself, which was made here, is no import: it is known by when it began.
  const own = await open()
  await own.write((tx) => tx.sessions.create({ ...draft, scopeKey: KEY }, 1_000))
  expect((await imported({}, { store: own })).report).toMatchObject({ state: 'present', session: draft.id })
})

it('where a session is in the chat already, another stands beside', async () => {
  const store = await open()
  await store.write((tx) => tx.sessions.create(sessionDraft(2, { scopeKey: KEY }), 1))
  expect((await imported({}, { store })).report).toMatchObject({ state: 'beside' })
})

it('a file gives its session no tool, no model and no person that this configuration does not give it', async () => {
  const agentProfile = { ...AGENT, prompt: 'There.', model: 'other/large', tools: ['time', 'bank'] }
  const overrides = { model: 'other/large', thinkingLevel: 'high' } as const
  const authors = ['telegram:111', OPERATOR, personAuthor(toPersonId('ada'))]
  const { made, events, store } = await imported(
    { agentProfile, overrides, authors },
    { event: { person: toPersonId('ada'), owner: true } },
  )
  expect(made?.agentProfile).toMatchObject({ prompt: 'There.', model: 'anthropic/small', tools: ['time'] })
  expect(overridesOf(made ?? expect.unreachable())).toEqual({ thinkingLevel: 'high' })
  expect(events[0]?.data).toMatchObject({ owner: false })
  expect(events[0]?.data).not.toHaveProperty('person')
  expect(await store.read.authors.of(draft.id)).toEqual(['nobody', 'telegram:111'])
})

it('S42: a session keeps an id that was drawn on its own platform, if it joins no chats of others', async () => {
  const drawn = (channel: string) => ({ id: toSessionId(`${channel}:2026-11-26-0a1b2c3d`) })
  const idOf = async (said: Said) => (await imported(said)).made?.id
  expect(await idOf(drawn('telegram'))).toBe('telegram:2026-11-26-0a1b2c3d')
  expect(await idOf(drawn('discord'))).toMatch(/^import:/)
  // A token of the platform would reach the words of the other ones by it.
  expect(await idOf({ ...drawn('telegram'), kind: 'main' })).toMatch(/^import:/)
  expect(await idOf({ ...drawn('telegram'), displayKey: 'direct:ada' })).toMatch(/^import:/)
})
