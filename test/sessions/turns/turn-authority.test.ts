import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Namespace, parseNamespace } from '../../../src/core/caller.ts'
import { systemClock } from '../../../src/core/clock.ts'
import type { Dispatch, PostedText } from '../../../src/core/dispatch.ts'
import { toAgentId, toSessionId } from '../../../src/core/ids.ts'
import type { Session, SessionDraft } from '../../../src/core/session.ts'
import type { StoredToken } from '../../../src/core/token.ts'
import {
  type TurnAuthority,
  type TurnAuthorityDeps,
  turnAuthority,
} from '../../../src/sessions/turns/turn-authority.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { Store } from '../../../src/store/store.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { direct, dispatchOf, group, message, user } from '../../fakes/dispatch.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { inboxRow, routeOf, sessionDraft, turnOf } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const DAY = 86_400_000
let store: Store

beforeEach(async () => {
  store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
})

const OWN: Partial<SessionDraft> = { kind: 'main', chatType: 'direct', displayKey: 'main' }
const OF_A_GROUP: Partial<SessionDraft> = { source: { kind: 'api', interactive: true } }

const asked = (by: string, place = direct(by)): Dispatch =>
  dispatchOf(message({ address: place, sender: user(by), eventKey: `said by ${by}` }))

const begin = (draft: Partial<SessionDraft>): Promise<Session> =>
  store.write((tx) => tx.sessions.create(sessionDraft(1, draft), 1))

/** A turn of the session answers this; these have taken part in the session. */
async function authorityIn(
  session: Session,
  answers: Dispatch,
  {
    takePart = [],
    ...more
  }: { takePart?: readonly string[] } & Partial<Pick<TurnAuthorityDeps, 'inGroups' | 'mainIsShared'>> = {},
): Promise<TurnAuthority> {
  const turn = turnOf(session.id, 1)
  await store.write(async (tx) => {
    await tx.turns.start(turn)
    await tx.inbox.add({
      ...inboxRow(1, 1),
      dispatch: answers,
      sessionId: session.id,
      state: 'claimed',
      turnId: turn.id,
    })
    for (const id of takePart) await tx.participants.add(session.id, `telegram:${id}`, 1)
  })
  const settings = { inGroups: 'here', mainIsShared: () => false, joins: () => false, ...more } as const
  const deps = { channels: CHANNELS, read: store.read, ...settings }
  return turnAuthority(deps, { id: turn.id, sessionId: session.id, agentId: session.agentId })
}

describe('who reads the answer of a turn', () => {
  it('of a private session is unknown where the answer goes into a group', async () => {
    const own = await begin(OWN)
    expect((await authorityIn(own, asked('111', group('-100')))).readers).toBe('shared')
  })

  it('of a group’s session is unknown, also where the answer goes into a direct chat', async () => {
    const shared = await begin(OF_A_GROUP)
    expect((await authorityIn(shared, asked('111'))).readers).toBe('shared')
  })

  it('of the main session is unknown where it is that of everybody’s direct chats', async () => {
    const own = await begin(OWN)
    expect((await authorityIn(own, asked('111'), { mainIsShared: () => true })).readers).toBe('shared')
  })

  const other = {
    session: toSessionId('telegram:2026-11-21-00000009'),
    displayKey: 'x',
    agent: toAgentId('main'),
    hops: 0,
  }
  const bySession = (session: Session, more: Partial<PostedText> = {}): PostedText => ({
    ...{ session: session.id, route: routeOf(1), identity: { role: 'owner' }, from: other },
    ...more,
  })

  it('of a group is unknown where another session asks, also where the agent reads for whoever asks in a group', async () => {
    const shared = await begin(OF_A_GROUP)
    const posted = bySession(shared)
    const { readers } = await authorityIn(shared, { ...asked('111', group('-100')), posted }, { inGroups: 'asker' })
    expect(readers).toBe('shared')
  })

  it.each(['here', 'asker'] as const)(
    'of a task is unknown where those of the conversation that began it are not known, with inGroups: %s',
    async (inGroups) => {
      const task = await begin({ parent: other.session, source: { kind: 'task', interactive: false } })
      const posted = bySession(task, { readers: [] })
      expect((await authorityIn(task, { ...asked('111'), posted }, { inGroups })).readers).toBe('shared')
    },
  )

  it('of a private session are also the readers of the one whose turn asks', async () => {
    const own = await begin(OWN)
    const posted = bySession(own, { readers: ['telegram:444'] })
    const { readers } = await authorityIn(own, { ...asked('111'), posted }, { takePart: ['111'] })
    expect(readers).toEqual(['telegram:444', 'telegram:111'])
  })

  it.each([
    ['is not shown the answer', 'only', 'shared'],
    ['is shown the answer', 'too', ['telegram:111']],
  ] as const)(
    'of a chat whose asker asks from elsewhere, with inGroups: asker, where it %s',
    async (_, elsewhere, readers) => {
      const shared = await begin({})
      const answers = asked('111', group('-100'))
      const from = { ...answers, reply: { ...answers.reply, elsewhere } }
      expect((await authorityIn(shared, from, { inGroups: 'asker' })).readers).toEqual(readers)
    },
  )

  it('of a private session are all who take part in it, also where the agent reads for whoever asks in a group', async () => {
    const own = await begin(OWN)
    const { readers } = await authorityIn(own, asked('111'), { takePart: ['111', '444'], inGroups: 'asker' })
    expect(readers).toEqual(['telegram:111', 'telegram:444'])
  })

  const OF_A_CHAT: Partial<SessionDraft> = { ...OWN, kind: 'other', displayKey: 'slack:direct:d1' }
  const inDirectChat = sessionDraft(1).scope
  const slack = { channel: 'slack', chat_id: 'd1', chat_type: 'direct', space: 'team:t1' }
  const scope = { ...inDirectChat, channel: 'slack', dimensions: ['chat'], values: { chat: 'direct:d1' } } as const
  const from = (id: string): Dispatch => ({
    ...asked(id),
    posted: { session: toSessionId('x'), route: routeOf(1), identity: { role: 'owner' }, participant: 'person:ada' },
  })

  it('of a private session that nobody has spoken in yet are whoever writes in its chat', async () => {
    const own = await begin({ ...OF_A_CHAT, scope, metadata: { ...slack, sender_id: 'u444' } })
    expect((await authorityIn(own, from('111'))).readers).toEqual(['person:ada', 'slack:t1/u444'])
  })

  it.each(['here', 'asker'] as const)(
    'of a private session include nobody known where nobody knows who writes in its chat (inGroups: %s)',
    async (inGroups) => {
      const own = await begin({ ...OF_A_CHAT, scope, metadata: slack })
      const { readers } = await authorityIn(own, from('111'), { takePart: ['111'], inGroups })
      expect(readers).toEqual(['person:ada', 'nobody', 'telegram:111'])
    },
  )

  it('S42: are also the holders of tokens that reach the session, while these are valid or may be again', async () => {
    const own = await begin({
      ...OWN,
      kind: 'other',
      source: { kind: 'api', interactive: true },
      id: toSessionId('api:shop:1'),
      displayKey: 'api:direct:shop:1',
    })
    const token = (id: string, more: Partial<StoredToken>): StoredToken => ({
      ...{ id, hash: id, scopes: ['sessions:read'], label: '', createdAt: 1 },
      ...more,
    })
    const namespace = (text: string) => parseNamespace(text) as Namespace
    await store.write(async (tx) => {
      for (const one of [
        token('a', { namespace: namespace('api') }),
        token('b', { namespace: namespace('api:shop'), scopes: ['chat'] }),
        token('c', { namespace: namespace('api:sho') }),
        token('d', { namespace: namespace('web') }),
        token('e', {}),
        token('f', { namespace: namespace('api:shop'), scopes: ['hooks'] }),
        token('g', { namespace: namespace('api:shop'), revokedAt: 1 }),
        token('h', { namespace: namespace('api:shop'), expiresAt: 8 * DAY }),
        // A clock that is an hour ahead is set right: it will be valid again.
        token('i', { namespace: namespace('api'), scopes: ['chat'], expiresAt: 10 * DAY - 1 }),
      ])
        await tx.tokens.add(one)
    })
    const { readers } = await authorityIn(own, { ...asked('111'), receivedAt: 10 * DAY })
    expect(readers).toEqual(['telegram:111', 'listener:api', 'holder:api:shop', 'holder:api'])
  })

  it('S42: of what several tokens have led to is nobody once any of them is revoked', async () => {
    const own = await begin(OWN)
    const token = { scopes: ['chat'], label: '', createdAt: 1 } as const
    await store.write(async (tx) => {
      await tx.tokens.add({ ...token, id: 'a', hash: 'a' })
      await tx.tokens.add({ ...token, id: 'b', hash: 'b', revokedAt: 2 })
    })
    const { readers, authors } = await authorityIn(own, {
      ...asked('111'),
      posted: bySession(own, { ledBy: ['a', 'b'] }),
    })
    expect({ readers, authors }).toEqual({ readers: ['nobody'], authors: ['nobody'] })
  })

  it('S42: of a schedule are also the holders of tokens for the chat that it delivers to, whose session has it on record', async () => {
    const namespace = parseNamespace('telegram')
    if (namespace === undefined) throw new Error('it is a namespace')
    const scopes = ['sessions:read'] as const
    await store.write(async (tx) => {
      await tx.tokens.add({ id: 'a', hash: 'a', namespace, scopes, label: '', createdAt: 1 })
      const there = await tx.sessions.create(
        sessionDraft(2, { displayKey: 'telegram:direct:111', chatType: 'direct' }),
        1,
      )
      await tx.participants.add(there.id, 'telegram:111', 1)
    })
    const own = await begin({
      ...{ kind: 'cron', chatType: 'direct', displayKey: 'cron:morning', id: toSessionId('schedule-morning') },
      source: { kind: 'schedule', interactive: false, triggerId: 'morning' },
    })
    expect((await authorityIn(own, asked('111'))).readers).toEqual(['telegram:111', 'listener:telegram'])
  })

  it('of a private session that a hook writes into is nobody known, besides those who take part in it', async () => {
    const own = await begin(OWN)
    const posted: PostedText = {
      session: own.id,
      route: routeOf(1),
      identity: { role: 'owner' },
      from: { hook: 'doorbell' },
    }
    const { readers } = await authorityIn(own, { ...asked('111'), posted }, { takePart: ['111'] })
    expect(readers).toEqual(['nobody', 'telegram:111'])
  })
})
