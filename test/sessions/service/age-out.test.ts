import { statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createIdSource } from '../../../src/core/ids.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { ageOut, loadAgeingTime } from '../../../src/sessions/service/age-out.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { openConnection } from '../../../src/store/engines/sqlite-connection.ts'
import type { NewInboxRow } from '../../../src/store/inbox-port.ts'
import type { Store } from '../../../src/store/store.ts'
import { noMedia } from '../../fakes/media.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { deliveryOf, inboxRow, sessionDraft } from '../../store/sample-rows.ts'

const DAY = 86_400_000
const START = Date.UTC(2026, 10, 1)

/** A store whose clock is set by hand; pauses are none. */
async function rig() {
  const folder = await mkdtemp(join(tmpdir(), 'parley-ageing-'))
  const path = readyDatabase(join(folder, 'parley.db'))
  let now = START
  const clock = {
    now: () => now,
    elapsed: () => now,
    after(_ms: number, run: () => void) {
      setImmediate(run)
      return () => {}
    },
  }
  let drawn = 0
  const ids = createIdSource({ now: clock.now, randomBytes: (count) => new Uint8Array(count).fill(drawn++ % 251) })
  const store = await openSqliteStore({ path, clock })
  onTestFinished(() => rm(folder, { recursive: true }))
  onTestFinished(() => store.close())
  const refused = (no: number): NewInboxRow => ({
    ...inboxRow(1, no, { state: 'done', outcome: 'refused: stranger' }),
    id: ids.inbox(),
  })
  return {
    store,
    path,
    ids,
    clock,
    refused,
    pass: (days: number) => {
      now += days * DAY
    },
    round: (keepDays: number | undefined, ageingTime = clock.now, of = store) =>
      ageOut({
        store: of,
        clock,
        ageingTime,
        logger: silentLogger,
        keepDays,
        stopping: () => false,
        sweepMedia: noMedia.sweep,
      }),
    rows: async () => (await store.read.inbox.recent(10_000)).length,
    pages(): number {
      const connection = openConnection(path)
      const count = Number(connection.get('PRAGMA page_count', [])?.page_count)
      connection.close()
      return count
    },
  }
}

it('rows, notices, answers and pages go once they are old, and what is in a session stays', async () => {
  const { store, path, ids, clock, refused, pass, round, rows, pages } = await rig()
  const session = await store.write((tx) => tx.sessions.create(sessionDraft(1), START))
  await store.write((tx) => tx.inbox.add({ ...refused(9_999), sessionId: session.id, outcome: 'context' }))
  const empty = pages()
  for (let from = 0; from < 3_000; from += 100) {
    await store.write(async (tx) => {
      for (let no = from; no < from + 100; no++) {
        const row = refused(no)
        await tx.inbox.add(row)
        const { sessionId: _session, ...answer } = deliveryOf(row.id)
        await tx.outbox.add([{ ...answer, id: ids.delivery(), state: 'sent' }])
        await tx.notices.once(`refused:${no}`, clock.now(), DAY)
      }
    })
  }
  const full = pages()
  expect(full).toBeGreaterThan(empty + 500)

  pass(29)
  await store.write((tx) => tx.notices.once('told today', clock.now(), DAY))
  pass(0.5)
  await round(30)
  expect(await rows()).toBe(3_001)
  expect(await store.write((tx) => tx.notices.once('told today', clock.now(), DAY))).toBe(false)
  pass(2)
  await round(30)
  expect(await rows()).toBe(1)
  expect(await store.read.outbox.counts()).toEqual({})
  expect(pages()).toBeLessThan(empty + 20)
  await store.write((tx) => tx.notices.once('one more', clock.now(), DAY))
  expect(await store.shrink()).toBe(0)
  expect(statSync(path).size).toBeLessThan(full * 4_096)
})

it('an answer of a session goes after 90 days, however short the rest is kept, and a notice after two', async () => {
  const { store, ids, clock, refused, pass, round } = await rig()
  const session = await store.write((tx) => tx.sessions.create(sessionDraft(1), START))
  const answer = deliveryOf(refused(1).id, { id: ids.delivery(), sessionId: session.id, state: 'sent' })
  await store.write((tx) => tx.outbox.add([answer]))
  const told = () => store.write((tx) => tx.notices.once('told', clock.now(), 60 * DAY))
  expect([await told(), await told()]).toEqual([true, false])
  pass(3)
  await round(30)
  expect(await told()).toBe(true)
  pass(57)
  await round(30)
  expect(await store.read.outbox.counts()).toMatchObject({ sent: 1 })
  pass(31)
  await round(30)
  expect(await store.read.outbox.counts()).toEqual({})
})

it('unless it is set, what belongs to no session is kept for 30 days, and goes in transactions of 100 rows', async () => {
  const { store, clock, refused, pass, round, rows } = await rig()
  await store.write(async (tx) => {
    for (let no = 0; no < 150; no++) await tx.inbox.add(refused(no))
  })
  const removed: unknown[] = []
  const watched = {
    read: store.read,
    shrink: () => store.shrink(),
    async write(work: Parameters<Store['write']>[0]) {
      const count = await store.write(work)
      removed.push(count)
      return count
    },
  } as Store
  pass(29)
  await round(undefined)
  expect(await rows()).toBe(150)
  pass(2)
  await round(undefined, clock.now, watched)
  expect(removed.filter(Boolean)).toEqual([100, 50])
})

it('S43: a message that comes again within 8 days is known, however often was cleaned up', async () => {
  const { store, refused, pass, round } = await rig()
  await store.write((tx) => tx.inbox.add(refused(1)))
  for (let day = 0; day < 7; day++) {
    pass(1)
    await round(8)
    expect(await store.write((tx) => tx.inbox.add(refused(1)))).toBe(false)
  }
  pass(2)
  await round(8)
  expect(await store.write((tx) => tx.inbox.add(refused(1)))).toBe(true)
})

it('an applicant nobody decided about is forgotten, with what they said', async () => {
  const { store, ids, refused, clock, pass, round } = await rig()
  const row = refused(1)
  const applicant = { kind: 'person', key: 'telegram:555', code: 'aaaaa', name: 'Cy' } as const
  const { address } = row.dispatch.event
  await store.write(async (tx) => {
    await tx.inbox.add(row)
    await tx.admissions.ask({ ...applicant, address, traceId: ids.trace() }, clock.now())
    await tx.admissions.ask(
      { ...applicant, key: 'telegram:556', code: 'bbbbb', address, traceId: ids.trace() },
      clock.now(),
    )
    await tx.admissions.decide('telegram:556', { state: 'denied', by: 'ada' }, clock.now())
  })
  pass(31)
  await round(30)
  expect((await store.read.admissions.all()).map(({ key }) => key)).toEqual(['telegram:556'])
})

it('F-E05: at a start with the clock a year ahead nothing recent is deleted, and what gets old while it runs is', async () => {
  const { store, refused, clock, pass, round, rows } = await rig()
  await store.write((tx) => tx.inbox.add(refused(1)))
  await store.write((tx) => tx.mutes.set({ conversation: 'telegram:group:1', until: clock.now() + DAY }, clock.now()))
  pass(2)
  await store.write((tx) => tx.inbox.add(refused(2)))
  const noticed = (key: string) => store.write((tx) => tx.notices.once(key, clock.now(), DAY))
  await noticed('told')
  pass(365)
  const ageingTime = await loadAgeingTime({ store, clock })
  await store.write((tx) => tx.inbox.add(refused(3)))
  await round(30, ageingTime)
  expect(await rows()).toBe(3)
  expect(await store.read.mutes.all()).toHaveLength(1)
  pass(29)
  await round(30, ageingTime)
  expect(await rows()).toBe(2)
  pass(2)
  await round(30, ageingTime)
  expect(await rows()).toBe(1)
  expect(await store.read.mutes.all()).toEqual([])
})

it('S41: the time to age by is in whole ms, as it is stored, whatever the running time is counted in', async () => {
  const { store, refused, clock, pass } = await rig()
  await store.write((tx) => tx.inbox.add(refused(1)))
  pass(1)
  let elapsed = 0.2
  const ageingTime = await loadAgeingTime({ store, clock: { ...clock, elapsed: () => elapsed } })
  elapsed = 7.9
  expect(ageingTime()).toBe(START + 7)
})

it('S41: in the first run of a store, too, a clock that is set ahead makes nothing old', async () => {
  const { store, clock } = await rig()
  let [ahead, elapsed] = [0, 5]
  const ageingTime = await loadAgeingTime({
    store,
    clock: { ...clock, now: () => START + elapsed - 5 + ahead, elapsed: () => elapsed },
  })
  elapsed += 10
  ahead = 365 * DAY
  expect(ageingTime()).toBe(START + 10)
})
