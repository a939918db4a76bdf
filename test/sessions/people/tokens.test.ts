import { randomBytes } from 'node:crypto'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { RequestId } from '../../../src/core/keyed-request.ts'
import { deferred } from '../../../src/rehearsal/deferred.ts'
import { createTokens } from '../../../src/sessions/people/tokens.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { movedClock } from '../../agent/moved-clock.ts'
import { failureOf } from '../../contracts/store/under-test.ts'
import { fixedClock } from '../../fakes/fixed-clock.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { removeTempFolders, tempFolder, withDatabase } from '../../store/temp-database.ts'

removeTempFolders()

async function place() {
  const clock = fixedClock(1_000)
  const store = await openSqliteStore({ path: readyDatabase(`${tempFolder()}/store.db`), clock })
  onTestFinished(() => store.close())
  return { store, ...createTokens({ store, clock, randomBytes }) }
}

it('S42: a token opens its namespace until it is revoked, and only its hash is kept', async () => {
  const { store, operator, verify } = await place()
  const { token, id } = await operator.create({ namespace: 'web:alice', label: ' phone ' })
  expect(await verify(token)).toMatchObject({ caller: { kind: 'token', namespace: 'web:alice' } })
  const scopes = ['sessions:read', 'sessions:write']
  const used = { id, namespace: 'web:alice', scopes, label: 'phone', createdAt: 1_000, usedAt: 1_000 }
  await vi.waitFor(async () => expect(await operator.list()).toEqual([used]))
  expect(JSON.stringify(await store.read.tokens.all())).not.toContain(token.split('_').slice(2).join('_'))
  await operator.revoke(id)
  expect(await verify(token)).toBeUndefined()
  expect(await operator.list()).toMatchObject([{ id, revokedAt: 1_000 }])
})

it('F-H10: a token that is revoked while a request with it is looked up opens nothing', async () => {
  const { store, operator } = await place()
  const read = deferred<void>()
  /** Answers late, with the row as it was. */
  const get = async (id: string) => {
    const found = await store.read.tokens.get(id)
    await read.promise
    return found
  }
  const tokens = Object.assign(Object.create(store.read.tokens), { get }) as typeof store.read.tokens
  const late = { ...store, write: store.write.bind(store), read: { ...store.read, tokens } }
  const slow = createTokens({ store: late, clock: fixedClock(1_000), randomBytes })
  const { token, id } = await operator.create({ namespace: 'api' })
  const holder = slow.verify(token)
  await slow.operator.revoke(id)
  read.resolve()
  expect(await holder).toBeUndefined()
})

it('S42: what is no token of ours opens nothing', async () => {
  const { operator, verify } = await place()
  const { token } = await operator.create({ namespace: 'telegram' })
  const other = await operator.create({ namespace: 'slack' })
  const mixed = `ply_${other.id}_${token.split('_').slice(2).join('_')}`
  for (const wrong of ['', 'x', `${token}x`, token.slice(0, -1), mixed, token.toUpperCase()])
    expect(await verify(wrong)).toBeUndefined()
})

it.each(['', ' ', ':', 'web:', ':alice', 'WEB', 'web:Alice', 'web::x', 'a/b', 'web%3Aalice', 'wеb', '*', 'a:b:c:d:e'])(
  'F-H09: %j is no namespace',
  async (namespace) => {
    const { operator } = await place()
    expect(await failureOf(operator.create({ namespace }))).toMatchObject({ code: 'invalid' })
    expect(await operator.list()).toEqual([])
  },
)

it('S42: a token that is not there cannot be revoked', async () => {
  const { operator } = await place()
  expect(await failureOf(operator.revoke('nobody'))).toMatchObject({ code: 'not_found' })
})

const DAY_MS = 86_400_000

async function movedPlace() {
  const clock = movedClock(1_000)
  const store = await openSqliteStore({ path: `${tempFolder()}/store.db`, clock: fixedClock(1_000) })
  onTestFinished(() => store.close())
  return { clock, store, ...createTokens({ store, clock, randomBytes }) }
}

it('F-H10: a token ends by the time of day, at most 5 s late for what it has open, whatever the timers missed', async () => {
  const { clock, operator, verify } = await movedPlace()
  const { token } = await operator.create({ namespace: 'api', days: 30 })
  const open = await verify(token)
  // Longer than a timer of Node lasts.
  clock.advance(25 * DAY_MS)
  expect(open?.ended.aborted).toBe(false)
  clock.setBy(5 * DAY_MS)
  expect(await verify(token)).toBeUndefined()
  clock.advance(5_000)
  expect(open?.ended.aborted).toBe(true)
})

it('F-H10: a token that lasts keeps no timer, and a clock that is set back ends nothing', async () => {
  const { clock, operator, verify } = await movedPlace()
  const lasting = await operator.create({ namespace: 'api' })
  const open = await verify(lasting.token)
  expect(clock.pending()).toBe(0)
  const short = await operator.create({ namespace: 'api', days: 1 })
  const other = await verify(short.token)
  clock.setBy(-DAY_MS)
  clock.advance(5_000)
  expect([open?.ended.aborted, other?.ended.aborted]).toEqual([false, false])
  expect(await verify(short.token)).toBeDefined()
})

it('S42: the last use is exact to a minute, also after the clock was set back', async () => {
  const { clock, operator, verify } = await movedPlace()
  const { token } = await operator.create({ namespace: 'api' })
  const usedAt = async (): Promise<number | undefined> => (await operator.list())[0]?.usedAt
  await verify(token)
  await vi.waitFor(async () => expect(await usedAt()).toBe(1_000))
  clock.advance(59_999)
  await verify(token)
  clock.advance(1)
  await verify(token)
  await vi.waitFor(async () => expect(await usedAt()).toBe(61_000))
  clock.setBy(-DAY_MS)
  await verify(token)
  await vi.waitFor(async () => expect(await usedAt()).toBe(61_000 - DAY_MS))
})

it('S42: a token of a namespace has no scope of an owner, none has a scope there is not, and a label is short', async () => {
  const { operator } = await place()
  for (const [request, words] of [
    [{ namespace: 'api', scopes: ['sessions:read', 'operate:read'] }, '"operate:read" is for the token of an owner'],
    [{ owner: true, scopes: ['operate'] }, '"operate" is no scope'],
    [{ namespace: 'web', scopes: ['chat,hooks'] }, 'with spaces between them'],
    [{ owner: true, label: 'x'.repeat(81) }, '80 characters'],
  ] as const)
    expect(await failureOf(operator.create(request))).toMatchObject({
      code: 'invalid',
      message: expect.stringContaining(words),
    })
  expect(await operator.list()).toEqual([])
})

it('F-H10: a row that has lost its namespace opens nothing: it is no owner’s', async () => {
  const path = readyDatabase(`${tempFolder()}/store.db`)
  const clock = fixedClock(1_000)
  const store = await openSqliteStore({ path, clock })
  const { operator } = createTokens({ store, clock, randomBytes })
  const lost = await operator.create({ namespace: 'api' })
  await store.close()
  withDatabase(path, (database) =>
    database.exec('PRAGMA ignore_check_constraints = ON; UPDATE tokens SET namespace = NULL'),
  )
  const again = await openSqliteStore({ path, clock })
  onTestFinished(() => again.close())
  const reopened = createTokens({ store: again, clock, randomBytes })
  expect(await reopened.verify(lost.token).catch(() => undefined)).toBeUndefined()
  expect(await reopened.operator.list()).toEqual([])
})

it('F-K08: a token that a request made before a crash goes when the request is made again', async () => {
  const { store, operator, verify } = await place()
  const once = 'request' as RequestId
  const begun = { key: 'k', id: once, holder: 'operator', content: 'c', begunAt: 1_000 }
  await store.write((tx) => tx.keyedRequests.begin(begun, { requests: 10, bodies: 10 }))
  const [first, second] = [
    await operator.create({ namespace: 'api', once }),
    await operator.create({ namespace: 'api', once }),
  ]
  expect((await operator.list()).map(({ id }) => id)).toEqual([second.id])
  expect([await verify(first.token), (await verify(second.token))?.id]).toEqual([undefined, second.id])
})

it('F-H10: a token that was revoked in the store before a start opens nothing after it', async () => {
  const { store, operator } = await movedPlace()
  const { token, id } = await operator.create({ namespace: 'api' })
  await operator.revoke(`ply_${id}`)
  const next = createTokens({ store, clock: fixedClock(2_000), randomBytes })
  expect(await next.verify(token)).toBeUndefined()
})

it('S42: a token of an owner is named as the one who asks', async () => {
  const { operator, verify } = await place()
  const { token, id } = await operator.create({ owner: true })
  expect(await verify(token)).toMatchObject({ caller: { kind: 'operator', token: id } })
})

it('F-H09: a token makes and revokes none that may do more than itself, for no longer, and is named as the maker', async () => {
  const { operator } = await place()
  const { id: maker, expiresAt } = await operator.create({ owner: true, scopes: ['tokens', 'sessions:read'], days: 2 })
  const { id: mighty } = await operator.create({ owner: true })
  for (const asked of [
    { owner: true, scopes: ['operate:write'] },
    { owner: true, scopes: ['tokens', 'metrics'] },
    { namespace: 'api', scopes: ['sessions:write'] },
  ])
    expect(await failureOf(operator.create(asked, maker))).toMatchObject({ code: 'forbidden' })
  expect(await failureOf(operator.revoke(mighty, maker))).toMatchObject({ code: 'forbidden' })
  const usual = await operator.create({ owner: true, days: 30 }, maker)
  expect(usual).toMatchObject({ scopes: ['sessions:read'], expiresAt, madeBy: maker })
  expect(await operator.create({ namespace: 'api', days: 1 }, maker)).toMatchObject({
    scopes: ['sessions:read'],
    expiresAt: 1_000 + DAY_MS,
  })
  await operator.revoke(usual.id, maker)
  await operator.revoke(maker, maker)
  expect(await failureOf(operator.create({ namespace: 'api' }, maker))).toMatchObject({ code: 'unauthorized' })
  expect((await operator.list()).find(({ id }) => id === usual.id)).toMatchObject({ madeBy: maker, revokedAt: 1_000 })
})

it.each(['main', 'main:2026', 'person', 'person:x'])(
  'S42: %j is in no namespace: its sessions join chats of several channels',
  async (namespace) => {
    const { operator } = await place()
    expect(await failureOf(operator.create({ namespace }))).toMatchObject({ code: 'invalid' })
  },
)

it('F-H10: with a token ends what it has made, and what that has made, also what it is about to make', async () => {
  const { operator, verify } = await place()
  const scopes = ['tokens', 'sessions:read'] as const
  const first = await operator.create({ owner: true, scopes })
  const second = await operator.create({ owner: true, scopes }, first.id)
  const third = await operator.create({ namespace: 'api', scopes: ['sessions:read'] }, second.id)
  const other = await operator.create({ namespace: 'api' })
  const open = await verify(third.token)
  const made = operator.create({ namespace: 'api' }, second.id).catch((error: unknown) => error)
  const lapsed = await operator.create({ namespace: 'api', label: 'old' }, second.id)
  await operator.revoke(lapsed.id)
  const named = await operator.revoke(first.id)
  expect(named.map(({ id }) => id)).toEqual(expect.arrayContaining([second.id, third.id]))
  expect(named.map(({ id }) => id)).not.toContain(lapsed.id)
  expect(named.map(({ id }) => id)).not.toContain(first.id)
  expect(open?.ended.aborted).toBe(true)
  for (const { token } of [first, second, third]) expect(await verify(token)).toBeUndefined()
  const late = await made
  expect(late instanceof Error || (await verify((late as typeof third).token)) === undefined).toBe(true)
  expect((await verify(other.token))?.id).toBe(other.id)
})

it('F-H10: a token whose maker ends before it is stored is not made', async () => {
  const { store, operator } = await place()
  const [checked, ended] = [deferred<void>(), deferred<void>()]
  const write: typeof store.write = async (change, ...rest) => {
    checked.resolve()
    await ended.promise
    return store.write(change, ...rest)
  }
  const slow = createTokens({ store: { ...store, read: store.read, write }, clock: fixedClock(1_000), randomBytes })
  const maker = await operator.create({ owner: true, scopes: ['tokens', 'sessions:read'] })
  const made = failureOf(slow.operator.create({ namespace: 'api', scopes: ['sessions:read'] }, maker.id))
  await checked.promise
  await operator.revoke(maker.id)
  ended.resolve()
  expect(await made).toMatchObject({ code: 'unauthorized' })
  expect(await operator.list()).toHaveLength(1)
})
