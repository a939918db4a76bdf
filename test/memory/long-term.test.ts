import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { NO_PLAN, NOTHING_FORGOTTEN } from '../../src/core/forgetting.ts'
import type { SessionId, TurnId } from '../../src/core/ids.ts'
import type { AuthorId } from '../../src/core/platform-id.ts'
import { createLongTerm } from '../../src/memory/long-term.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { readyDatabase } from '../fakes/ready-database.ts'
import { sessionDraft } from '../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

const [ADA, BOB, EVE, MAX] = ['telegram:111', 'telegram:444', 'telegram:666', 'telegram:777'] as AuthorId[]
/** Nobody knows Eve and Max. */
const PEOPLE = new Map<AuthorId | undefined, string>([
  [ADA, 'ada'],
  [BOB, 'bob'],
])

/** A chat, with an earlier session that `/new` ended and one of another chat. */
async function rig(chatType: 'direct' | 'group' = 'direct') {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const draftOf = (chat: number) => sessionDraft(chat, { chatType, kind: chatType === 'group' ? 'group' : 'other' })
  const [earlier, now, other] = [draftOf(1), draftOf(1), draftOf(2)]
  await store.write(async (tx) => {
    await tx.sessions.create(earlier, 1)
    await tx.sessions.deactivate(earlier.id, 2)
    for (const draft of [now, other]) await tx.sessions.create(draft, 2)
  })
  const turn = { sessionId: now.id, agentId: now.agentId, id: 'tr_1' as TurnId }
  const reach = {
    authors: [ADA] as readonly (AuthorId | undefined)[],
    read: [now.id, other.id] as SessionId[],
    here: true,
  }
  const memory = createLongTerm({
    ...{ store, clock: systemClock, has: () => true },
    turnReach: async () => ({
      ...{ authors: reach.authors as AuthorId[], here: reach.here, messages: [] },
      reads: async ({ id }) => reach.read.includes(id),
    }),
    identityOf: async (author) => {
      const person = PEOPLE.get(author)
      return { role: person === undefined ? 'guest' : 'member', ...(person === undefined ? {} : { person }) } as never
    },
    mayRead: async (_, { id }) => reach.read.includes(id),
  })
  let requests = 0
  const keep = async (
    sessionId: SessionId,
    authors: readonly (AuthorId | undefined)[],
    text = 'tea',
  ): Promise<number> =>
    store.write(async (tx) => {
      const entry = {
        agentId: now.agentId,
        sessionId,
        text,
        authors: authors as AuthorId[],
        by: 'agent',
        at: 1,
      } as const
      return (await tx.memory.add({ ...entry, request: `tool ${++requests}`, sources: [] })).no
    })
  const asker = (author: AuthorId | undefined) => ({ author: author as AuthorId, sessionId: now.id, shared: false })
  return {
    ...{ store, memory, reach, keep, asker, turn },
    sessions: { earlier: earlier.id, now: now.id, other: other.id },
  }
}

it('F-H11: an earlier session of a direct chat, which several may share, is read by whoever took part in it', async () => {
  const { memory, reach, keep, turn, sessions, asker } = await rig()
  await keep(sessions.earlier, [BOB])
  expect((await memory.search({ words: '', limit: 5 }, turn)).entries).toEqual([])
  expect(await memory.list(asker(ADA), '', 5)).toEqual([])
  reach.read.push(sessions.earlier)
  expect((await memory.search({ words: '', limit: 5 }, turn)).entries).toHaveLength(1)
})

it('S38: a turn that was shown nobody’s words removes nothing', async () => {
  const { memory, reach, keep, turn, sessions } = await rig()
  const no = await keep(sessions.now, [ADA])
  reach.authors = []
  await expect(memory.forget(no, turn, 'call 1')).rejects.toMatchObject({ code: 'forbidden' })
  reach.authors = [ADA]
  await memory.forget(no, turn, 'call 2')
  expect(await memory.list({ author: ADA as AuthorId, sessionId: sessions.now, shared: false }, '', 5)).toEqual([])
})

it('S38: a turn that was shown the words of several removes what each of them might remove', async () => {
  const { memory, reach, keep, turn, sessions } = await rig()
  const [hers, ofBoth] = [await keep(sessions.now, [ADA]), await keep(sessions.now, [ADA, BOB])]
  reach.authors = [ADA, BOB]
  for (const no of [hers, ofBoth])
    await expect(memory.forget(no, turn, `call ${no}`)).rejects.toMatchObject({ code: 'forbidden' })
})

it('S38: where others read along, a list and a correction are of that conversation alone', async () => {
  const { memory, keep, sessions, asker } = await rig('group')
  const [here, elsewhere] = [await keep(sessions.now, [ADA]), await keep(sessions.other, [ADA])]
  expect(await memory.list(asker(ADA), '', 5)).toMatchObject([{ no: elsewhere }, { no: here }])
  const shared = { ...asker(ADA), shared: true }
  expect(await memory.list(shared, '', 5)).toMatchObject([{ no: here }])
  await expect(memory.correct(shared, elsewhere, 'coffee')).rejects.toMatchObject({ code: 'not_found' })
  await expect(memory.remove(shared, elsewhere, 'in_1')).rejects.toMatchObject({ code: 'not_found' })
})

it('F-H11: an entry of a group is corrected there alone, also by whoever is known to speak there alone', async () => {
  const { memory, keep, sessions, asker } = await rig('group')
  const no = await keep(sessions.other, [ADA])
  await expect(memory.correct(asker(ADA), no, 'coffee')).rejects.toMatchObject({ code: 'forbidden' })
})

it('F-H11: of a session that joins chats a member sees and changes what is theirs alone', async () => {
  const { store, memory, keep, sessions, asker } = await rig()
  const [hers, his] = [await keep(sessions.now, [ADA]), await keep(sessions.now, [BOB])]
  const joined = { ...asker(ADA), joined: true as const }
  expect(await memory.list(joined, '', 5)).toMatchObject([{ no: hers }])
  await expect(memory.correct(joined, his, 'coffee')).rejects.toMatchObject({ code: 'not_found' })
  await expect(memory.remove(joined, his, 'in_1')).rejects.toMatchObject({ code: 'not_found' })
  const data = {
    reason: 'idle',
    model: 'm',
    usage: { input: 1, output: 1 },
    back: 1,
    entries: [],
    working: 'Bob’s tea',
  } as const
  await store.write((tx) => tx.events.append(sessions.now, 3, [{ type: 'checkpoint_written', data }]))
  expect(await memory.working(asker(ADA))).toBe('Bob’s tea')
  expect(await memory.working(joined)).toBeUndefined()
})

it('F-H11: an earlier session of a group is read there, and by no turn whose answer is said elsewhere', async () => {
  const { memory, reach, keep, turn, sessions } = await rig('group')
  const no = await keep(sessions.earlier, [ADA])
  expect((await memory.search({ words: '', limit: 5 }, turn)).entries).toMatchObject([{ no }])
  reach.here = false
  expect((await memory.search({ words: '', limit: 5 }, turn)).entries).toEqual([])
  await expect(memory.forget(no, turn, 'call 1')).rejects.toMatchObject({ code: 'not_found' })
})

it('S38: an entry of which nobody is known as the author is the owner’s to change', async () => {
  const { memory, keep, sessions, asker } = await rig()
  const no = await keep(sessions.now, [])
  await expect(memory.remove(asker(ADA), no, 'command 1')).rejects.toMatchObject({ code: 'forbidden' })
  await expect(memory.correct(asker(ADA), no, 'coffee')).rejects.toMatchObject({ code: 'forbidden' })
})

it('S41: a turn whose words are being forgotten keeps nothing more of them', async () => {
  const { store, memory, turn, sessions } = await rig()
  const session = { id: sessions.now, empty: [], cut: [], turns: [], running: { turn: turn.id, empty: [] } }
  const request = { id: 'one', state: 'running', counts: NOTHING_FORGOTTEN, askedAt: 1 } as const
  await store.write((tx) => tx.forgetting.begin({ ...request, plan: { ...NO_PLAN, sessions: [session] } }))
  await expect(memory.save('the code is bluebird', turn, 'call 1')).rejects.toMatchObject({ code: 'forbidden' })
  expect(await store.read.memory.newest([sessions.now], 5)).toEqual([])
})

it('S38: people whom nobody knows are not one person', async () => {
  const { memory, keep, sessions, asker } = await rig()
  const no = await keep(sessions.now, [EVE])
  await expect(memory.correct(asker(MAX), no, 'coffee')).rejects.toMatchObject({ code: 'forbidden' })
  await expect(memory.remove(asker(MAX), no, 'command 1')).rejects.toMatchObject({ code: 'forbidden' })
  expect(await memory.list(asker(EVE), '', 5)).toMatchObject([{ text: 'tea' }])
})

it('F-H11: an entry of a chat in which somebody else takes part is corrected there alone', async () => {
  const { store, memory, keep, sessions, asker } = await rig()
  const no = await keep(sessions.other, [ADA])
  await memory.correct(asker(ADA), no, 'coffee')
  await store.write((tx) => tx.participants.add(sessions.other, BOB as AuthorId, 3))
  await expect(memory.correct(asker(ADA), no, 'a surprise')).rejects.toMatchObject({ code: 'forbidden' })
  expect(await memory.list(asker(ADA), '', 5)).toMatchObject([{ text: 'coffee' }])
})

it('S38: a list has 50 entries at most and one at least', async () => {
  const { memory, keep, sessions, asker, turn } = await rig()
  for (let no = 1; no <= 51; no++) await keep(sessions.now, [ADA], `tea ${no}`)
  for (const words of ['', 'tea']) {
    expect((await memory.search({ words, limit: 1e6 }, turn)).entries).toHaveLength(50)
    expect(await memory.list(asker(ADA), words, 2.5)).toHaveLength(2)
    expect(await memory.list(asker(ADA), words, -1)).toHaveLength(1)
  }
})

it('F-A14: a request that runs again after a crash has removed its entry, and no other request has', async () => {
  const { memory, keep, sessions, asker, turn } = await rig()
  const [one, two] = [await keep(sessions.now, [ADA]), await keep(sessions.now, [ADA])]
  expect(await memory.remove(asker(ADA), one, 'in_1')).toMatchObject({ no: one })
  expect(await memory.remove(asker(ADA), one, 'in_1')).toBeUndefined()
  await expect(memory.remove(asker(ADA), one, 'in_2')).rejects.toMatchObject({ code: 'not_found' })
  await memory.forget(two, turn, 'call 1')
  await memory.forget(two, turn, 'call 1')
  await expect(memory.forget(two, turn, 'call 2')).rejects.toMatchObject({ code: 'not_found' })
})
