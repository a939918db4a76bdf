import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Applicant } from '../../../src/core/admission.ts'
import { systemClock } from '../../../src/core/clock.ts'
import type { Decision, Dispatch } from '../../../src/core/dispatch.ts'
import { createIdSource, toPersonId } from '../../../src/core/ids.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { loadAdmissionFacts } from '../../../src/sessions/people/admission-facts.ts'
import { createAdmissions } from '../../../src/sessions/people/admissions.ts'
import { createOwnerCards } from '../../../src/sessions/people/owner-cards.ts'
import { createOwnerChats } from '../../../src/sessions/people/owner-chats.ts'
import type { PostNotice } from '../../../src/sessions/people/post-notice.ts'
import { type AcceptDeps, acceptDispatch } from '../../../src/sessions/turns/accept-dispatch.ts'
import { createSystemNotices } from '../../../src/sessions/turns/system-notices.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { Store } from '../../../src/store/store.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { direct, dispatchOf, message, user } from '../../fakes/dispatch.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'

const ids = createIdSource({ now: Date.now, randomBytes })

/** How many questions the store was asked, and how many rows it gave. */
interface Asked {
  calls: number
  rows: number
}

/** The store, each call of it counted. */
function counting(store: Store, asked: Asked): Store {
  const nouns = <T extends object>(of: T): T =>
    new Proxy(of, { get: (target, name) => countedNoun(Reflect.get(target, name), target, asked) })
  return { ...store, read: nouns(store.read), write: (body) => store.write((tx) => body(nouns(tx))) }
}

function countedNoun(noun: unknown, owner: object, asked: Asked): unknown {
  if (typeof noun === 'function') return noun.bind(owner)
  if (typeof noun !== 'object' || noun === null) return noun
  return new Proxy(noun, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return (...args: unknown[]) => {
        asked.calls++
        const answer: unknown = method.apply(target, args)
        if (answer instanceof Promise)
          answer.then(
            (rows) => (asked.rows += Array.isArray(rows) ? rows.length : 0),
            () => {},
          )
        return answer
      }
    },
  })
}

/** What a stranger's message goes through, from the decision on; Ada owns the agent and has a chat. */
async function openDoor(code: () => string = ids.code) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-strangers-'))
  const real = await openSqliteStore({ path: readyDatabase(join(folder, 'parley.db')), clock: systemClock })
  onTestFinished(async () => {
    await real.close()
    rmSync(folder, { recursive: true })
  })
  const asked: Asked = { calls: 0, rows: 0 }
  const store = counting(real, asked)
  const world = { store, clock: systemClock, logger: silentLogger, ids }
  const lines: string[] = []
  const say: PostNotice = async ({ text }, when) => {
    if (await store.write(when)) lines.push(text)
  }
  const address = direct('111')
  const owners = createOwnerChats({
    channels: CHANNELS,
    stored: [{ platformId: 'telegram:111', address, at: 1 }],
    whoIs: () => ({ role: 'owner', person: toPersonId('ada') }),
    reaches: () => true,
  })
  const cards = await createOwnerCards({ ...world, say, closeCards: async () => {}, owners })
  const admissions = createAdmissions({
    ...world,
    facts: await loadAdmissionFacts(store.read),
    whoIs: () => ({ role: 'guest' }),
    cards,
    accept: async () => {},
    ruledBy: () => undefined,
    approvers: [],
  })
  const systemNotices = createSystemNotices({
    ...{ ...world, access: { unownedLine: () => '' }, say, admissions, crowded: () => false },
    plan: async (_, { text }) => void lines.push(text),
  })
  const deps = { ids: { ...ids, code }, channels: CHANNELS } as AcceptDeps
  let messages = 0

  async function hear(stranger: number, text: string, shared?: string): Promise<void> {
    const asks: Applicant = { kind: 'person', key: `telegram:${stranger}` }
    const decision = { kind: 'refuse', reason: 'stranger', identity: { role: 'guest' }, trace: [], asks } as const
    const dispatch = said(stranger, text, shared)
    const accepted = await store.write(async (tx) => {
      const stored = await acceptDispatch(tx, { dispatch, decision: decision satisfies Decision }, deps)
      await systemNotices.unanswered(tx, stored, { dispatch, decision })
      return stored
    })
    if (accepted.kind === 'done') systemNotices.done(accepted.inboxId, dispatch, decision)
  }
  function said(stranger: number, text: string, shared?: string): Dispatch {
    const event = message({
      address: direct(String(stranger)),
      sender: user(String(stranger)),
      eventKey: `e${messages++}`,
      text,
      ...(shared === undefined ? {} : { forwarded: { text: shared } }),
    })
    return dispatchOf(event, { traceId: ids.trace(), receivedAt: Date.now() })
  }
  return {
    hear,
    lines,
    store: real,
    /** What one message costs when nothing else is under way. */
    async costOf(stranger: number): Promise<Asked> {
      await cards.notify()
      const before = { ...asked }
      await hear(stranger, 'let me in')
      await cards.notify()
      await real.write(async () => {})
      return { calls: asked.calls - before.calls, rows: asked.rows - before.rows }
    },
    settled: () => cards.notify(),
  }
}

it('what a stranger says costs the store the same after 30 applicants as after 2,000, of whom the newest 1,000 without a card are kept, and those an owner was told of', async () => {
  const door = await openDoor()
  for (let stranger = 1; stranger <= 30; stranger++) await door.hear(stranger, 'let me in')
  await door.hear(30, 'please')
  const few = { anew: await door.costOf(31), again: await door.costOf(30) }
  for (let stranger = 32; stranger <= 2_000; stranger++) await door.hear(stranger, 'let me in')
  await expectKept(door)
  await door.hear(2_000, 'please')
  const many = { anew: await door.costOf(5_000), again: await door.costOf(2_000) }
  expect(many.again).toEqual(few.again)
  // One that asks anew takes the place of one that is forgotten: three more statements, whatever was sent before.
  expect(many.anew.calls - few.anew.calls).toBeLessThanOrEqual(5)
  expect(many.anew.rows - few.anew.rows).toBeLessThanOrEqual(2)
  expect(many.anew.calls).toBeLessThanOrEqual(15)
  await door.hear(500, 'me again')
  expect(await door.store.read.admissions.find('telegram:500')).toMatchObject({ state: 'asked' })
})

/** Of 2,000 who have asked. */
async function expectKept(door: Awaited<ReturnType<typeof openDoor>>): Promise<void> {
  await door.settled()
  const all = await door.store.read.admissions.all()
  expect(all.filter(({ toldAt }) => toldAt !== undefined)).toHaveLength(20)
  expect(all.filter(({ toldAt }) => toldAt === undefined)).toHaveLength(1_000)
  expect(await door.store.read.admissions.find('telegram:500')).toBeUndefined()
  const newest = await door.store.read.admissions.refusals('telegram:2000', 0, 9)
  expect(newest).toHaveLength(1)
  expect(await door.store.read.admissions.refusals('telegram:500', 0, 9)).toEqual([])
  const texts = (await door.store.read.inbox.recent(2_100)).map(
    ({ dispatch: { event } }) => 'text' in event && event.text,
  )
  expect(texts.filter((text) => text !== '')).toHaveLength(1_020)
}

it('where two applicants draw the same code the second draws another, and each word of theirs is stored once', async () => {
  const drawn = ['aaaaa', 'aaaaa', 'aaaaa', 'bbbbb']
  const door = await openDoor(() => drawn.shift() ?? 'ccccc')
  await door.hear(1, 'let me in')
  await door.hear(2, 'let me in')
  await door.hear(2, 'please')
  const { admissions } = door.store.read
  expect([await admissions.find('aaaaa'), await admissions.find('bbbbb')]).toMatchObject([
    { key: 'telegram:1' },
    { key: 'telegram:2' },
  ])
  expect(await admissions.refusals('telegram:2', 0, 9)).toHaveLength(2)
})

it('of one applicant the newest 20 texts are kept, and never more than 32 KB', async () => {
  const door = await openDoor()
  for (let nth = 1; nth <= 100; nth++) await door.hear(7, `text ${nth}`)
  const kept = await textsOf(door.store)
  expect(kept).toHaveLength(20)
  expect(kept[0]).toBe('text 100')
  for (let nth = 1; nth <= 30; nth++) await door.hear(7, '語'.repeat(40_000))
  const long = await textsOf(door.store)
  expect(long[0]).toMatch(/^語{4096} \[…\]$/)
  expect(Buffer.byteLength(long.join(''))).toBeLessThanOrEqual(32 * 1024)
  expect(long.length).toBeGreaterThan(1)
})

it('of what an applicant passes on no more is kept than of what they write, and none of it with what is forgotten', async () => {
  const door = await openDoor()
  for (let nth = 1; nth <= 30; nth++) await door.hear(7, `look at ${nth}`, '語'.repeat(40_000))
  const kept = await sharedBy(door.store)
  expect(kept[0]).toMatch(/^語{4096} \[…\]$/)
  expect(Buffer.byteLength(kept.join(''))).toBeLessThanOrEqual(32 * 1024)
  expect(await textsOf(door.store)).toHaveLength(kept.length)
})

async function sharedBy(store: Store): Promise<readonly string[]> {
  const rows = await store.read.inbox.recent(1_000)
  return rows.flatMap(({ dispatch: { event } }) => ('text' in event ? (event.forwarded?.text ?? []) : []))
}

async function textsOf(store: Store): Promise<readonly string[]> {
  const rows = await store.read.inbox.recent(1_000)
  return rows.flatMap(({ dispatch: { event } }) => ('text' in event && event.text !== '' ? [event.text] : []))
}
