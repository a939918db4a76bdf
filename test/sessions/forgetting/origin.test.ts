import { expect, it } from 'vitest'
import { parseAddress } from '../../../src/core/address.ts'
import { toScopeKey } from '../../../src/core/ids.ts'
import type { Session } from '../../../src/core/session.ts'
import {
  isNamedAfter,
  isSaidIn,
  isWhollyIn,
  liesIn,
  originsOf,
  sessionsNamed,
} from '../../../src/sessions/forgetting/origin.ts'
import type { StoreReader } from '../../../src/store/store.ts'
import { sessionDraft } from '../../store/sample-rows.ts'

/** The session of a group whose chat has this number. */
function sessionOf(chat: number, changes: Partial<Session> = {}): Session {
  const draft = sessionDraft(chat)
  const metadata = { channel: 'telegram', account: 'default', chat_type: 'group', chat_id: `-100${chat}` }
  const scope = { ...draft.scope, values: { chat: `group:-100${chat}` } }
  return { ...draft, metadata, scope, ...changes } as Session
}

/** Where the parts of a session's log come from, where one log was continued in it and another continues it. */
async function origins(session: Session, { from, copy }: { readonly from?: Session; readonly copy?: Session } = {}) {
  const taken = { type: 'history_taken_over', seq: 3, at: 1, data: { from: 'telegram:gone', events: 3 } }
  const data = from ? { from: from.id, events: 3 } : taken.data
  return originsOf(
    {
      events: { latestOf: async () => [{ ...taken, data }] },
      sessions: { get: async (id: string) => [from, copy].find((one) => one?.id === id) },
      forgetting: { copiesOf: async () => (copy ? [copy.id] : []) },
    } as unknown as Pick<StoreReader, 'events' | 'sessions' | 'forgetting'>,
    session,
  )
}

it('S41: what was said in a chat stays there when a chat that continues it is forgotten', async () => {
  const [own, copy] = [sessionOf(1), sessionOf(2)]
  for (const { heldIn } of await origins(own, { copy })) expect(heldIn).toMatchObject([{ chat: '-1001' }])
  // An imported session has no chat: what continues it is where it is.
  const key = 'agent:main:import:old'
  const imported = sessionOf(3, { scopeKey: toScopeKey(key), displayKey: key })
  for (const { heldIn } of await origins(imported, { copy }))
    expect(heldIn).toMatchObject([{ chat: '-1003' }, { chat: '-1002' }])
})

it('S41: a log that was copied is of the chat in which it was said, and of none where that session is gone', async () => {
  const [own, from] = [sessionOf(1), sessionOf(2)]
  const [copied, here] = await origins(own, { from })
  expect(copied).toMatchObject({ upTo: 3, session: from.id, address: { chat: '-1002' }, joined: false })
  expect(here).toMatchObject({ session: own.id, address: { chat: '-1001' } })
  const [gone] = await origins(own)
  expect(gone).not.toHaveProperty('address')
  expect(gone).toMatchObject({ joined: true })
})

it('S41: a session is wholly in a chat that is forgotten without a span, and one that joins chats is in none', () => {
  const place = { channel: 'telegram', chat: '-1001' } as const
  const own = sessionOf(1)
  const metadata = { ...own.metadata, topic_id: '7' }
  const topic = sessionOf(1, { metadata, scope: { ...own.scope, values: { chat: 'group:-1001/7' } } })
  // Where topics share a session it has that of its last word.
  const shared = sessionOf(1, { metadata })
  const isIn = (session: Session, target: object = {}) =>
    isWhollyIn({ kind: 'chat', place, before: 9, ...target } as never, session)
  expect([isIn(own), isIn(topic), isIn(sessionOf(2))]).toEqual([true, true, false])
  expect(isIn(own, { since: 1 })).toBe(false)
  expect(isIn(own, { place: { ...place, topic: '7' } })).toBe(false)
  expect([topic, shared].map((one) => isIn(one, { place: { ...place, topic: '7' } }))).toEqual([true, false])
  expect(isIn(sessionOf(1, { scope: { ...own.scope, values: {} } }))).toBe(false)
  expect(isIn(own, { kind: 'person', ids: [] })).toBe(false)
})

it('S41: a session that is named is meant as a whole, unless with a span', () => {
  const own = sessionOf(1)
  const isMeant = (target: object) =>
    isWhollyIn({ kind: 'session', sessions: [own.id], before: 9, ...target } as never, own)
  expect(isMeant({})).toBe(true)
  expect(isMeant({ since: 1 })).toBe(false)
  expect(isMeant({ sessions: [sessionOf(2).id] })).toBe(false)
})

it('S41: a direct chat loses the name of whoever is forgotten as a whole, and of nobody else', () => {
  const metadata = { channel: 'slack', sender_id: 'U1', space: 'team:T1' } as Session['metadata']
  const chat = sessionOf(1, { chatType: 'direct', metadata })
  const isNamed = (target: object, session = chat) =>
    isNamedAfter({ kind: 'person', ids: ['slack:T1/u1'], before: 9, ...target } as never, session)
  expect(isNamed({})).toBe(true)
  expect(isNamed({ ids: ['slack:U1'] })).toBe(true)
  expect(isNamed({ ids: ['slack:T2/U1'] })).toBe(false)
  expect(isNamed({ since: 1 })).toBe(false)
  expect(isNamed({ place: { channel: 'slack', chat: 'D1' } })).toBe(false)
  expect(isNamed({}, sessionOf(1, { chatType: 'group', metadata }))).toBe(false)
})

it('S41: a message that names its chat was said there, and in no topic', () => {
  const chat = parseAddress('telegram:group:-1')
  const origin = { upTo: 1, session: sessionOf(1).id, log: sessionOf(1).id, joined: true, heldIn: [] }
  const isIn = (more: object) => isSaidIn({ channel: 'telegram', chat: '-1', ...more }, origin, chat)
  expect(isIn({})).toBe(true)
  expect(isIn({ root: true })).toBe(false)
  expect(isIn({ topic: '7' })).toBe(false)
  expect(isIn({ chat: '-2' })).toBe(false)
})

it('S41: a session that is named has its answers in the chats to which it delivers, with their topics', async () => {
  const [chat, topic] = [sessionOf(2), sessionOf(3)]
  const own = sessionOf(1, { metadata: { deliver_to: 'telegram:group:-1002' } as Session['metadata'] })
  const sessions = {
    get: async () => own,
    resolve: async (to: string) => (to === 'telegram:group:-1002' ? chat : undefined),
    under: async () => [topic],
  }
  const named = (target: object) => sessionsNamed({ sessions } as never, { before: 9, ...target } as never)
  expect(await named({ kind: 'session', sessions: [own.id] })).toEqual([own.id, chat.id, topic.id])
  expect(await named({ kind: 'person', ids: [] })).toEqual([])
})

it('S41: a place is a chat with all its topics, one of these, or what is in none; of any bot, unless it names one', () => {
  const place = { channel: 'telegram', chat: '-1' } as const
  const [chat, topic, other] = ['telegram:group:-1', 'telegram:group:-1/7', 'telegram@second:group:-1']
  const within = (more: object) =>
    [chat, topic, other].map((one) => liesIn({ ...place, ...more }, parseAddress(one ?? '')))
  expect(within({})).toEqual([true, true, true])
  expect(within({ topic: '7' })).toEqual([false, true, false])
  expect(within({ root: true })).toEqual([true, false, true])
  expect(within({ account: 'second' })).toEqual([false, false, true])
  expect(within({ chat: '-2' })).toEqual([false, false, false])
})
