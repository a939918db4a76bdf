import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { SessionEvent } from '../../../src/core/event.ts'
import { toScopeKey } from '../../../src/core/ids.ts'
import type { Bundle } from '../../../src/sessions/export/read-bundle.ts'
import { importBundle } from '../../../src/sessions/service/import-bundle.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { fixedClock } from '../../fakes/fixed-clock.ts'
import { noMedia } from '../../fakes/media.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { ids, sessionDraft, userMessage } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const NOW = 1_800_000_000_000
const CHAT = '-100777'
const KEY = toScopeKey('sk_of_the_chat')

type Said = Partial<Bundle['session']>

/** What a bundle says of the session of a group, and how it lies in the store once it is imported. */
async function imported(said: Said = {}, at = NOW) {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: fixedClock(NOW) })
  onTestFinished(() => store.close())
  const draft = sessionDraft(1)
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
  const event = { ...userMessage('hello'), seq: 1, at } as SessionEvent
  const place = { scopeKey: KEY, displayKey: `telegram:group:${CHAT}` }
  const report = await importBundle(
    {
      ...{ store, ids, clock: fixedClock(NOW), media: noMedia },
      ...{ models: { agents: [], providers: [] }, placeOf: () => place },
    },
    { session, events: [event], files: [], sha256: '0'.repeat(64) },
    false,
  )
  const made = await store.read.sessions.get(report.session)
  return { report, made, events: await store.read.events.since(report.session, 0, 10) }
}

const scope = sessionDraft(1).scope
const bySender = { ...scope, dimensions: ['chat', 'sender'] as const }

it.each<[string, Said]>([
  ['belongs to one person in it', { scope: { ...bySender, values: { chat: `group:${CHAT}`, sender: 'ada' } } }],
  ['is of another kind', { kind: 'main' }],
  ['is none of a direct chat', { kind: 'other' }],
])('of a file whose session %s none comes into the chat', async (_, said) => {
  expect((await imported()).report.state).toBe('in place')
  const { report, made } = await imported(said)
  expect(report.state).toBe('beside')
  expect([made?.metadata, made?.kind]).toEqual([{}, 'other'])
  expect(made?.scopeKey).not.toBe(KEY)
})

it('a session says nothing where its file has it deliver, in its own chat or elsewhere', async () => {
  const { metadata = {} } = (await imported()).made ?? {}
  expect(metadata).toMatchObject({ chat_id: CHAT })
  for (const to of ['telegram:direct:444', `telegram:group:${CHAT}`]) {
    const { report, made } = await imported({ metadata: { ...metadata, deliver_to: to } })
    expect([report.state, made?.metadata]).toEqual(['in place', {}])
  }
})

it('what a file says of the future was said now', async () => {
  expect((await imported({}, 5_000)).events.map(({ at }) => at)).toEqual([5_000, NOW])
  expect((await imported({ createdAt: NOW + 9_000 }, NOW + 9_000)).events.map(({ at }) => at)).toEqual([NOW, NOW])
})
