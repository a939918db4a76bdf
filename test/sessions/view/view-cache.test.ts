import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import type { SessionId } from '../../../src/core/ids.ts'
import { EMPTY_VIEW, requestMessages } from '../../../src/sessions/view/model-view.ts'
import { createTranscript } from '../../../src/sessions/view/transcript.ts'
import { MOST_VIEWS, NEWEST_VIEWS, ViewCache } from '../../../src/sessions/view/view-cache.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { type SteppedClock, steppedClock } from '../../delivery/stepped-clock.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { assistantMessage, ids, sessionDraft, turnCompleted, userMessage } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const MINUTE = 60_000
const LIMITS = { turns: 40, dropTurns: 10, contextMessages: 50, contextCharacters: 9_000 }

let clock: SteppedClock
let running: Set<SessionId>
beforeEach(() => {
  clock = steppedClock()
  running = new Set()
})
const later = (minutes: number): void => clock.moveTo(clock.now() + minutes * MINUTE)

/** Conversations with one answered turn each, in a real store; `looks` are the logs that were read from their start. */
async function conversations(count: number) {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock })
  onTestFinished(() => store.close())
  const all = await store.write(async (tx) => {
    const made = []
    for (let chat = 0; chat < count; chat++) {
      const session = await tx.sessions.create(sessionDraft(chat), 1)
      const [turnId, text] = [ids.turn(), `question ${chat}`]
      const started = { type: 'turn_started', turnId, data: { traceId: ids.trace() } } as const
      const ended = [assistantMessage(`answer ${chat}`), turnCompleted].map((event) => ({ ...event, turnId }))
      await tx.events.append(session.id, 1, [userMessage(text), started, ...ended])
      made.push(session)
    }
    return made
  })
  const looks: SessionId[] = []
  const events = {
    since: store.read.events.since.bind(store.read.events),
    latestSummary: store.read.events.latestSummary.bind(store.read.events),
    latest: (id: SessionId, most: number) => {
      looks.push(id)
      return store.read.events.latest(id, most)
    },
  }
  const transcript = createTranscript(events, LIMITS, { clock, runs: (id) => running.has(id) })
  /** The messages of the next request, and whether the log was read from its start for them. */
  const promptOf = async (chat: number) => {
    const [session, before] = [all[chat], looks.length]
    if (session === undefined) throw new Error(`there is no conversation ${chat}`)
    const { messages } = requestMessages(await transcript.view(session), 'group')
    return { messages, read: looks.length > before }
  }
  const useAll = async (from: number, to: number): Promise<void> => {
    for (let chat = from; chat < to; chat++) await promptOf(chat)
  }
  return { all, promptOf, useAll }
}

it('R6: a view beyond the newest 500 leaves the memory, and its log gives the same next prompt', async () => {
  const { promptOf, useAll } = await conversations(NEWEST_VIEWS + 1)
  const first = await promptOf(0)
  await useAll(1, NEWEST_VIEWS + 1)
  later(30)
  const again = await promptOf(0)
  expect(again.read).toBe(true)
  expect(again.messages).toEqual(first.messages)
  expect(JSON.stringify(again.messages)).toContain('answer 0')
})

it('R6: the newest 500 stay, however long nobody has used them', async () => {
  const { promptOf, useAll } = await conversations(NEWEST_VIEWS)
  await useAll(0, NEWEST_VIEWS)
  later(7 * 24 * 60)
  expect(await promptOf(0)).toMatchObject({ read: false })
})

it('R7: what was used within 30 minutes stays, however many are newer', async () => {
  const { promptOf, useAll } = await conversations(NEWEST_VIEWS + 100)
  await useAll(0, NEWEST_VIEWS + 100)
  later(29)
  expect(await promptOf(0)).toMatchObject({ read: false })
  later(29)
  // Each of the others was used 58 minutes ago: those that are not among the newest have left without any further use.
  expect(await promptOf(0)).toMatchObject({ read: false })
  expect(await promptOf(1)).toMatchObject({ read: true })
})

it('R7: the view of a session stays while its turn runs, and leaves 30 minutes after the last use', async () => {
  const { all, promptOf, useAll } = await conversations(2 * NEWEST_VIEWS + 2)
  const [session] = all
  if (session === undefined) throw new Error('no session')
  await promptOf(0)
  running.add(session.id)
  await useAll(1, NEWEST_VIEWS + 1)
  later(30)
  await useAll(NEWEST_VIEWS + 1, 2 * NEWEST_VIEWS + 1)
  later(30)
  running.delete(session.id)
  expect(await promptOf(0)).toMatchObject({ read: false })
  await useAll(1, NEWEST_VIEWS + 1)
  later(30)
  expect(await promptOf(0)).toMatchObject({ read: true })
})

it('R6, R7: what is due leaves where nothing is used any more', () => {
  const views = new ViewCache({ clock, runs: () => false })
  for (let no = 0; no < NEWEST_VIEWS + 100; no++) views.set(ids.session('telegram'), EMPTY_VIEW)
  later(29)
  expect(views.size).toBe(NEWEST_VIEWS + 100)
  later(1)
  expect([views.size, clock.nextDue()]).toEqual([NEWEST_VIEWS, Number.POSITIVE_INFINITY])
})

it('a crowd whose sessions were all used just now does not fill the memory', async () => {
  const { promptOf, useAll } = await conversations(MOST_VIEWS + 1)
  await useAll(0, MOST_VIEWS + 1)
  expect(await promptOf(MOST_VIEWS)).toMatchObject({ read: false })
  expect(await promptOf(0)).toMatchObject({ read: true })
})

it('more turns than views are kept of leave each its view, and nothing is searched without end', async () => {
  const { all, promptOf, useAll } = await conversations(NEWEST_VIEWS + 50)
  for (const { id } of all) running.add(id)
  await useAll(0, NEWEST_VIEWS + 50)
  later(31)
  later(31)
  for (const chat of [0, NEWEST_VIEWS, NEWEST_VIEWS + 49]) expect(await promptOf(chat)).toMatchObject({ read: false })
})
