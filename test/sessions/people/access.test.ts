import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { createAccess } from '../../../src/sessions/people/access.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { user } from '../../fakes/dispatch.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

async function unowned() {
  const store = await openSqliteStore({
    path: readyDatabase(join(tempFolder(), 'parley.db')),
    clock: systemClock,
    logger: silentLogger,
  })
  onTestFinished(() => store.close())
  const info: unknown[] = []
  const access = await createAccess({
    store,
    logger: { ...silentLogger, info: (...line: unknown[]) => void info.push(line) },
    clock: systemClock,
    channels: CHANNELS,
    code: 'secret',
    configuredOwner: () => false,
    changed: () => {},
  })
  return { store, access, info }
}

describe('the claim', () => {
  it('goes to the id with its team, and is on record', async () => {
    const { store, access, info } = await unowned()
    await access.claim('slack', user('U333', { team: 'T01' }), 'secret')
    expect(access.personOf('slack', 'U333', 'T01')).toEqual({ person: 'owner', role: 'owner' })
    expect(access.personOf('slack', 'U333', 'T02'), 'F-H04: the same id of another team').toBeUndefined()
    expect(access.personOf('slack', 'U333')).toBeUndefined()
    expect(await store.read.people.changes(9)).toMatchObject([{ kind: 'claimed', platformId: 'slack:t01/u333' }])
    expect(info).toEqual([['Somebody became the owner', { key: 'slack:t01/u333' }]])
  })

  it.each([
    ['an anonymous sender', user('-100', { kind: 'anonymous' as const })],
    ['the anonymous admin of every group', user('1087968824')],
    ["Telegram's own account", user('777000')],
    ['a bot', user('5', { kind: 'bot' as const })],
    ['nobody', user(' ')],
  ])('is not for %s, with the right code either', async (_who, sender) => {
    const { access } = await unowned()
    await expect(access.claim('telegram', sender, 'secret')).rejects.toMatchObject({ code: 'forbidden' })
    expect(access.ownerKnown).toBe(false)
  })

  it('F-H02: a name that equals the code or the owner gives nothing', async () => {
    const { access } = await unowned()
    const impostor = user('666', { displayName: 'Ada', username: 'ada' })
    await expect(access.claim('telegram', impostor, 'ada')).rejects.toMatchObject({ code: 'forbidden' })
    await access.claim('telegram', user('111', { displayName: 'Ada', username: 'ada' }), 'secret')
    expect(access.personOf('telegram', '666')).toBeUndefined()
    await expect(access.claim('telegram', impostor, 'secret')).rejects.toMatchObject({ code: 'conflict' })
  })

  it('F-H02: of two at the same time the first alone wins', async () => {
    const { store, access, info } = await unowned()
    const both = await Promise.allSettled([
      access.claim('telegram', user('111'), 'secret'),
      access.claim('telegram', user('666'), 'secret'),
    ])
    expect(both).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected', reason: { code: 'conflict' } }])
    expect(access.personOf('telegram', '666')).toBeUndefined()
    // After a crash the command runs again.
    await access.claim('telegram', user('111'), 'secret')
    expect(await store.read.people.changes(9)).toMatchObject([{ kind: 'claimed', platformId: 'telegram:111' }])
    expect(info).toHaveLength(1)
  })
})
