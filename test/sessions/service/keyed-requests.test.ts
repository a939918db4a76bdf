import { expect, it, onTestFinished } from 'vitest'
import { NO_PLAN, NOTHING_FORGOTTEN } from '../../../src/core/forgetting.ts'
import type { AskedOnce, Kept } from '../../../src/core/keyed-request.ts'
import { createKeyedRequests, createRepeats, KEY_MS, REPEAT_MS } from '../../../src/sessions/service/keyed-requests.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { fixedClock } from '../../fakes/fixed-clock.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const AT = 1_700_000_000_000
const ASKED: AskedOnce = { holder: 'operator', route: 'POST /x', key: 'one', content: 'body' }

async function rig() {
  const clock = fixedClock(AT)
  const store = await openSqliteStore({ path: `${tempFolder()}/store.db`, clock })
  onTestFinished(() => store.close())
  let done = 0
  /** Each process has one of its own. */
  const process = () => {
    const { once } = createKeyedRequests({ store, clock })
    return (asked: Partial<AskedOnce> = {}, kept: Kept = 'answer', status = 200, body?: string) =>
      once({ ...ASKED, ...asked }, kept, async () => ({ status, body: body ?? `done ${++done}` }))
  }
  return { clock, store, process, once: process(), done: () => done }
}

it('F-K08: the first answer is given again for a day, in another process too', async () => {
  const { clock, process, once, done } = await rig()
  expect(await once()).toEqual({ status: 200, body: 'done 1' })
  clock.set(AT + KEY_MS - 1)
  expect(await process()()).toEqual({ status: 200, body: 'done 1' })
  clock.set(AT + KEY_MS)
  expect(await once()).toEqual({ status: 200, body: 'done 2' })
  expect(done()).toBe(2)
})

it('F-K08: a key from a time that is yet to come is that of a clock that was wrong', async () => {
  const { clock, once } = await rig()
  clock.set(AT + 10 * KEY_MS)
  await once()
  clock.set(AT)
  expect(await once()).toEqual({ status: 200, body: 'done 2' })
})

it.each([
  [400, 'done 2'],
  [500, 'done 2'],
])('F-K08: after %i it is carried out again', async (status, then) => {
  const { once } = await rig()
  expect(await once({}, 'answer', status)).toEqual({ status, body: 'done 1' })
  expect(await once()).toEqual({ status: 200, body: then })
})

it('F-K08: the id is the same until its day is over, so that an effect can carry it', async () => {
  const { clock, store } = await rig()
  const { once } = createKeyedRequests({ store, clock })
  const ids: string[] = []
  const ask = () =>
    once(ASKED, 'effect', async (id) => {
      ids.push(id)
      return { status: 200, body: '' }
    })
  await ask()
  await ask()
  clock.set(AT + KEY_MS)
  await ask()
  expect([ids[0] === ids[1], ids[1] === ids[2]]).toEqual([true, false])
})

it('F-K08: after a failure the id stays, for nobody knows what was done; after a refusal another takes its place', async () => {
  const { clock, store } = await rig()
  const { once } = createKeyedRequests({ store, clock })
  const ids: string[] = []
  for (const status of [500, 400, 200]) {
    await once(ASKED, 'answer', async (id) => {
      ids.push(id)
      return { status, body: '' }
    })
    clock.set(clock.now() + 1)
  }
  expect([ids[0] === ids[1], ids[1] === ids[2]]).toEqual([true, false])
})

it('F-K08: an answer that is long or secret is given once', async () => {
  const { once } = await rig()
  await once({}, 'answer', 200, 'x'.repeat(65_537))
  await expect(once()).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('not kept') })
  await once({ key: 'two' }, 'nothing')
  await expect(once({ key: 'two' }, 'nothing')).rejects.toMatchObject({ code: 'conflict' })
})

it('F-K08: while the first is under way others wait for it, and another body is refused', async () => {
  const { store, clock } = await rig()
  const { once } = createKeyedRequests({ store, clock })
  let end = (): void => {}
  let begun = (): void => {}
  const started = new Promise<void>((resolve) => {
    begun = resolve
  })
  const held = new Promise<void>((resolve) => {
    end = resolve
  })
  let times = 0
  const ask = (content = 'body') =>
    once({ ...ASKED, content }, 'answer', async () => {
      times++
      begun()
      await held
      return { status: 200, body: 'done' }
    })
  const all = Array.from({ length: 20 }, () => ask())
  await started
  await expect(ask('other')).rejects.toMatchObject({ code: 'conflict' })
  end()
  expect(await Promise.all(all)).toEqual(Array(20).fill({ status: 200, body: 'done' }))
  expect(times).toBe(1)
})

it('F-K08: neither the key nor more than 10,000 of a holder are kept, and a day later none', async () => {
  const { store, once } = await rig()
  const id = (at: number) => `r${at}` as Parameters<typeof store.read.keyedRequests.effect>[0]
  await store.write(async (tx) => {
    for (let at = 0; at < 30; at++)
      await tx.keyedRequests.begin(
        { key: `k${at}`, id: id(at), holder: 'a', content: '', begunAt: AT + at },
        { requests: 10, bodies: 10 },
      )
  })
  const left = await Promise.all(Array.from({ length: 30 }, (_, at) => store.read.keyedRequests.get(`k${at}`)))
  expect(left.flatMap((row, at) => (row ? [at] : []))).toEqual([20, 21, 22, 23, 24, 25, 26, 27, 28, 29])
  await once({ key: 'the-canary' })
  expect(await store.write((tx) => tx.keyedRequests.sweep(AT + KEY_MS, 100))).toBe(11)
  expect(await store.read.keyedRequests.get('k29')).toBeUndefined()
})

it('F-K08: of a holder the newest 500 answers are kept, and a key whose answer is not has its effect once all the same', async () => {
  const { clock, once, done } = await rig()
  for (let no = 0; no <= 500; no++) {
    clock.set(AT + no)
    await once({ key: `key ${no}` })
  }
  expect(await once({ key: 'key 1' })).toEqual({ status: 200, body: 'done 2' })
  await expect(once({ key: 'key 0' })).rejects.toMatchObject({ code: 'conflict' })
  expect(done()).toBe(501)
})

it('F-K08: a key is kept also where as many as there may be are from a time that is yet to come', async () => {
  const { store } = await rig()
  const begin = (key: string, begunAt: number) =>
    store.write((tx) =>
      tx.keyedRequests.begin(
        { key, id: `id of ${key}` as Parameters<typeof tx.keyedRequests.drop>[0], holder: 'a', content: '', begunAt },
        { requests: 3, bodies: 3 },
      ),
    )
  for (const no of [1, 2, 3]) await begin(`ahead ${no}`, AT + no * KEY_MS)
  await begin('now', AT)
  const kept = await Promise.all(
    ['now', 'ahead 1', 'ahead 2', 'ahead 3'].map((key) => store.read.keyedRequests.get(key)),
  )
  expect(kept.map((row) => row !== undefined)).toEqual([true, false, true, true])
})

it('S41: an answer that was being made while something was forgotten is given once and not kept', async () => {
  const { store, clock } = await rig()
  const { once } = createKeyedRequests({ store, clock })
  const forget = (id: string) =>
    store.write((tx) =>
      tx.forgetting.begin({ id, state: 'running', plan: NO_PLAN, counts: NOTHING_FORGOTTEN, askedAt: AT }),
    )
  const ask = (key: string, kept: Kept) =>
    once({ ...ASKED, key }, kept, async () => {
      await forget(key)
      return { status: 200, body: 'the words' }
    })
  expect(await ask('one', 'answer')).toEqual({ status: 200, body: 'the words' })
  await expect(ask('one', 'answer')).rejects.toMatchObject({ code: 'conflict' })
  await ask('two', 'numbers')
  expect(await ask('two', 'numbers')).toEqual({ status: 200, body: 'the words' })
})

it('S44: a request without a key has one id for ten minutes, in another process too, until its answer was given', async () => {
  const { clock, store } = await rig()
  const { key: _key, ...said } = ASKED
  const begin = (more = {}) => createRepeats({ store, clock }).begin({ ...said, ...more })
  const first = await begin()
  expect(await Promise.all([begin(), begin()])).toEqual([first, first])
  for (const other of [{ holder: 'another' }, { route: 'POST /y' }, { content: 'other' }])
    expect(await begin(other)).not.toBe(first)
  clock.set(AT + REPEAT_MS - 1)
  expect(await begin()).toBe(first)
  clock.set(AT + REPEAT_MS)
  const second = await begin()
  expect(second).not.toBe(first)
  await createRepeats({ store, clock }).given(second)
  clock.set(AT + REPEAT_MS + 1)
  expect(await begin()).not.toBe(second)
  // A clock that was wrong.
  clock.set(AT - KEY_MS)
  expect(await begin()).not.toBe(second)
})
