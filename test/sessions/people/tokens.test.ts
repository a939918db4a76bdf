import { randomBytes } from 'node:crypto'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createTokens } from '../../../src/sessions/people/tokens.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { failureOf } from '../../contracts/store/under-test.ts'
import { fixedClock } from '../../fakes/fixed-clock.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

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
