import { join } from 'node:path'
import { setImmediate as loopTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { toAgentId } from '../../src/core/ids.ts'
import type { Session } from '../../src/core/session.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import type { StoreWriter } from '../../src/store/store.ts'
import { scopeKeyOf, sessionDraft, userMessage } from './sample-rows.ts'
import { removeTempFolders, tempFolder, withDatabase } from './temp-database.ts'

removeTempFolders()

const PARTICIPANT = 'telegram:7'

/** What a body may do to the current session of a chat. */
const STEPS = {
  say: (tx: StoreWriter, { id }: Session) => tx.events.append(id, 5, [userMessage('hello')]),
  sayTwice: (tx: StoreWriter, { id }: Session) =>
    Promise.all([tx.events.append(id, 6, [userMessage('')]), tx.events.append(id, 7, [userMessage('again')])]),
  sayMuch: (tx: StoreWriter, { id }: Session) => tx.events.append(id, 8, Array(70).fill(userMessage('much'))),
  sayNothing: (tx: StoreWriter, { id }: Session) => tx.events.append(id, 9, []).catch(() => {}),
  begin: (tx: StoreWriter, _: Session, chat: number) => tx.sessions.create(sessionDraft(chat), 2),
  takeOver: async (tx: StoreWriter, { id }: Session, chat: number) => {
    const next = await tx.sessions.create(sessionDraft(chat), 3)
    await tx.events.append(next.id, 3, [userMessage('')])
    await tx.events.copy(id, next.id)
  },
  rename: (tx: StoreWriter, { id }: Session) => tx.sessions.describe(id, 'a name', 'ai'),
  unsay: (tx: StoreWriter, { id }: Session) => tx.sessions.unsay(id, 'hello'),
  reopen: (tx: StoreWriter, { id }: Session) => tx.sessions.reopen(id, { name: 'more' }, 4),
  patch: (tx: StoreWriter, { id }: Session) =>
    tx.sessions.patchOverrides(id, { set: { model: 'scripted/echo' }, inherit: ['sendPolicy'] }),
  setAgent: (tx: StoreWriter, { id }: Session) => tx.sessions.setAgent(id, toAgentId('other')),
  rest: (tx: StoreWriter, { id }: Session) => tx.sessions.deactivate(id, 4),
  move: async (tx: StoreWriter, session: Session, chat: number) => {
    const to = scopeKeyOf(chat + 10)
    await tx.chatMoves.rekeySession({ ...session, scopeKey: to })
    await tx.chatMoves.repoint(session.scopeKey, to, session.id)
  },
  remove: (tx: StoreWriter, { id }: Session) => tx.sessions.remove(id, 4),
  join: (tx: StoreWriter, { id }: Session) => tx.participants.add(id, PARTICIPANT, 4),
  leave: (tx: StoreWriter, { id }: Session) => tx.participants.remove(id),
  joinAgain: async (tx: StoreWriter, { id }: Session) => {
    await tx.participants.remove(id)
    await tx.participants.add(id, PARTICIPANT, 4)
  },
} satisfies Record<string, (tx: StoreWriter, session: Session, chat: number) => Promise<unknown>>

/** The third is where the first moves to. */
const CHATS = [1, 2, 11]

const step = fc.record({
  chat: fc.constantFrom(...CHATS),
  name: fc.constantFrom(...(Object.keys(STEPS) as (keyof typeof STEPS)[])),
})
const body = fc.record({
  steps: fc.array(step, { maxLength: 5 }),
  end: fc.constantFrom('well', 'well', 'fails', 'waits'),
})

it('a transaction is told of a current session what the store holds, whoever failed before it', async () => {
  const path = join(tempFolder(), 'store.db')
  const store = await openSqliteStore({ path, clock: systemClock })
  const wrong: unknown[] = []
  async function run(tx: StoreWriter, { steps, end }: typeof body extends fc.Arbitrary<infer T> ? T : never) {
    for (const { chat, name } of steps) {
      const key = scopeKeyOf(chat)
      const session = (await tx.sessions.current(key)) ?? (await tx.sessions.create(sessionDraft(chat), 1))
      await STEPS[name](tx, session, chat)
      const told = await tx.sessions.current(key)
      const held = told && (await tx.sessions.get(told.id))
      if (JSON.stringify(told) !== JSON.stringify(held)) wrong.push({ name, told, held })
      await compareIdentities(tx, name)
      const joined = await tx.participants.of(session.id)
      if (name.startsWith('join') && !joined.includes(PARTICIPANT)) wrong.push({ name, joined })
    }
    if (end === 'fails') throw new Error('no')
    if (end === 'waits') await loopTurn()
  }
  async function compareIdentities(tx: StoreWriter, name: string): Promise<void> {
    for (const chat of CHATS) {
      const [known, held] = [await tx.sessions.identity(scopeKeyOf(chat)), await tx.sessions.current(scopeKeyOf(chat))]
      const same = known === undefined ? held === undefined : isDeepStrictEqual({ ...held, ...known }, held)
      if (!same) wrong.push({ name, known, held })
    }
  }
  await fc.assert(
    fc.asyncProperty(fc.array(body, { maxLength: 10 }), async (bodies) => {
      await Promise.allSettled(bodies.map((one) => store.write((tx) => run(tx, one))))
      await store.write((tx) => compareIdentities(tx, 'after all'))
      expect(wrong).toEqual([])
    }),
    { numRuns: 200 },
  )
  await store.close()
  const gaps = withDatabase(path, (database) =>
    database
      .prepare(`SELECT no, last_seq, (SELECT COUNT(*) FROM events WHERE session_no = no) AS events,
        (SELECT MAX(seq) FROM events WHERE session_no = no) AS last FROM session_activity
        WHERE last_seq <> events OR last_seq <> COALESCE(last, 0)`)
      .all(),
  )
  expect(gaps).toEqual([])
})
