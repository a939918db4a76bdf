import { expect, it } from 'vitest'
import { parseNamespace } from '../../../src/core/caller.ts'
import { mediaId, toAccountId } from '../../../src/core/ids.ts'
import type { RequestId } from '../../../src/core/keyed-request.ts'
import type { StoredToken } from '../../../src/core/token.ts'
import { sessionDraft } from '../../store/sample-rows.ts'
import type { ContractPart } from './under-test.ts'

const [FIRST, SECOND] = [toAccountId('default'), toAccountId('second')]

export const smallContract: ContractPart = (underTest) => {
  it('channel state is kept apart by channel, account and key, last write wins', async () => {
    await underTest.store.write(async (tx) => {
      await tx.channelState.set('telegram', FIRST, 'cursor', '1')
      await tx.channelState.set('telegram', SECOND, 'cursor', '2')
      await tx.channelState.set('telegram', FIRST, 'cursor', '3')
    })
    const { channelState } = (await underTest.reopen()).read
    expect(await channelState.get('telegram', FIRST, 'cursor')).toBe('3')
    expect(await channelState.get('telegram', SECOND, 'cursor')).toBe('2')
    expect(await channelState.get('slack', FIRST, 'cursor')).toBeUndefined()
  })

  it('what was heard in a recording is kept once, until nothing names it any more', async () => {
    const [one, other] = [mediaId('1'.repeat(64)), mediaId('2'.repeat(64))]
    await underTest.store.write(async (tx) => {
      await tx.transcripts.add(one, 'first', 5)
      await tx.transcripts.add(one, 'second', 6)
      await tx.transcripts.add(other, 'late', 20)
    })
    const { transcripts } = (await underTest.reopen()).read
    expect([await transcripts.of(one), await transcripts.of(other)]).toEqual(['first', 'late'])
    expect(await underTest.store.write((tx) => tx.transcripts.sweep(10))).toBe(1)
    expect([await underTest.store.read.transcripts.of(one), await underTest.store.read.transcripts.of(other)]).toEqual([
      undefined,
      'late',
    ])
  })

  it('channel state is removed by its key alone, and what is not there is no error', async () => {
    await underTest.store.write(async (tx) => {
      for (const key of ['one', 'two']) await tx.channelState.set('telegram', FIRST, key, '1')
      await tx.channelState.set('telegram', SECOND, 'one', '1')
      await tx.channelState.delete('telegram', FIRST, 'one')
      await tx.channelState.delete('telegram', FIRST, 'never')
    })
    const { channelState } = underTest.store.read
    expect(await channelState.get('telegram', FIRST, 'one')).toBeUndefined()
    expect(await channelState.get('telegram', FIRST, 'two')).toBe('1')
    expect(await channelState.get('telegram', SECOND, 'one')).toBe('1')
  })

  it('a notice is told once until its window has passed, also over a restart', async () => {
    const once = (key: string, at: number) => underTest.store.write((tx) => tx.notices.once(key, at, 100))
    expect(await once('full', 1_000)).toBe(true)
    expect(await once('full', 1_099)).toBe(false)
    expect(await once('other', 1_099)).toBe(true)
    await underTest.reopen()
    expect(await once('full', 1_099)).toBe(false)
    expect(await once('full', 1_100)).toBe(true)
    expect(await once('full', 1_101)).toBe(false)
  })

  it('a mute is kept with its end or without one, over a restart, until it is cleared', async () => {
    const { store } = underTest
    await store.write(async (tx) => {
      await tx.mutes.set({ conversation: 'telegram:group:-1', until: 9 }, 1)
      await tx.mutes.set({ conversation: 'telegram:group:-2', until: 9 }, 1)
      await tx.mutes.set({ conversation: 'telegram:group:-3', until: 9 }, 1)
      await tx.mutes.set({ conversation: 'telegram:group:-2' }, 2)
      await tx.mutes.clear('telegram:group:-3')
    })
    expect(await (await underTest.reopen()).read.mutes.all()).toEqual([
      { conversation: 'telegram:group:-1', until: 9 },
      { conversation: 'telegram:group:-2' },
    ])
  })

  it('S42: of a token only the hash is kept, and the first revocation counts', async () => {
    const namespace = parseNamespace('telegram')
    if (!namespace) throw new Error('telegram is a namespace')
    const token: StoredToken = {
      id: 'tok_1',
      hash: 'abc',
      namespace,
      scopes: ['sessions:read', 'hooks'],
      label: 'bridge',
      createdAt: 1,
    }
    const owners: StoredToken = { id: 'tok_0', hash: 'def', scopes: ['metrics'], label: '', createdAt: 0, expiresAt: 9 }
    await underTest.store.write((tx) => tx.tokens.add(token))
    await underTest.store.write((tx) => tx.tokens.add(owners))
    await underTest.store.write((tx) => tx.tokens.used('tok_0', 7))
    expect(await underTest.store.write((tx) => tx.tokens.revoke('tok_1', 5))).toEqual(['tok_1'])
    await underTest.store.write((tx) => tx.tokens.revoke('tok_1', 9))
    expect(await underTest.store.write((tx) => tx.tokens.revoke('tok_2', 5))).toEqual([])
    const { tokens } = (await underTest.reopen()).read
    expect(await tokens.get('tok_1')).toEqual({ ...token, revokedAt: 5 })
    expect(await tokens.all()).toEqual([
      { ...token, revokedAt: 5 },
      { ...owners, usedAt: 7 },
    ])
    expect(await tokens.get('tok_2')).toBeUndefined()
  })

  it('F-K08: a keyed request is begun, has its effect and its answer, and is forgotten', async () => {
    const request = { key: 'k', id: 'r1' as RequestId, holder: 'operator', content: 'c', begunAt: 5 }
    await underTest.store.write((tx) => tx.keyedRequests.begin(request, { requests: 9, bodies: 9 }))
    await underTest.store.write((tx) => tx.keyedRequests.took(request.id, 'made'))
    await underTest.store.write((tx) => tx.keyedRequests.answered(request.id, 200, '{}'))
    const { keyedRequests } = (await underTest.reopen()).read
    const kept = { ...request, effect: 'made' }
    expect(await keyedRequests.get('k')).toEqual({ ...kept, answer: { status: 200, body: '{}' } })
    expect(await keyedRequests.effect(request.id)).toBe('made')
    await underTest.store.write((tx) => tx.keyedRequests.forgetAnswers())
    expect(await keyedRequests.get('k')).toEqual({ ...kept, answer: { status: 200 } })
    await underTest.store.write((tx) =>
      tx.keyedRequests.begin({ ...request, id: 'r2' as RequestId }, { requests: 9, bodies: 9 }),
    )
    expect(await keyedRequests.get('k')).toEqual({ ...request, id: 'r2' })
    await underTest.store.write((tx) => tx.keyedRequests.drop('r2' as RequestId))
    expect(await keyedRequests.get('k')).toBeUndefined()
  })

  it('T32: authors are those of the session, its participants among them, and are copied and removed with it', async () => {
    const [one, two] = await underTest.store.write(async (tx) => [
      await tx.sessions.create(sessionDraft(1), 1),
      await tx.sessions.create(sessionDraft(2), 1),
    ])
    await underTest.store.write(async (tx) => {
      await tx.participants.add(one.id, 'telegram:111', 1)
      await tx.authors.add(one.id, 'telegram:444')
      await tx.authors.add(one.id, 'telegram:444')
      await tx.authors.add(one.id, 'telegram:111')
      await tx.authors.copy(one.id, two.id)
      await tx.authors.copy(one.id, one.id)
    })
    const { authors } = (await underTest.reopen()).read
    expect([...(await authors.of(one.id))].sort()).toEqual(['telegram:111', 'telegram:444'])
    expect([...(await authors.of(two.id))].sort()).toEqual(['telegram:111', 'telegram:444'])
    await underTest.store.write((tx) => tx.authors.remove(one.id))
    expect(await underTest.store.read.authors.of(one.id)).toEqual(['telegram:111'])
  })

  it('T32: words of before a session began are not of those who wrote in it: another one had its id', async () => {
    const [one, two, three] = await underTest.store.write(async (tx) => [
      await tx.sessions.create(sessionDraft(1), 500),
      await tx.sessions.create(sessionDraft(2), 500),
      await tx.sessions.create(sessionDraft(3), 500),
    ])
    await underTest.store.write(async (tx) => {
      await tx.participants.add(one.id, 'telegram:444', 500)
      await tx.authors.copy(one.id, two.id, 499)
      await tx.authors.copy(one.id, three.id, 500)
    })
    expect(await underTest.store.read.authors.of(two.id)).toEqual(['nobody'])
    expect(await underTest.store.read.authors.of(three.id)).toEqual(['telegram:444'])
  })

  it('T32: words of a session that was deleted meanwhile are nobody’s', async () => {
    const [one, two, three] = await underTest.store.write(async (tx) => [
      await tx.sessions.create(sessionDraft(1), 1),
      await tx.sessions.create(sessionDraft(2), 1),
      await tx.sessions.create(sessionDraft(3), 1),
    ])
    await underTest.store.write(async (tx) => {
      await tx.participants.add(one.id, 'telegram:444', 1)
      await tx.sessions.remove(one.id, 2)
      await tx.authors.copy(one.id, two.id)
      await tx.participants.remove(one.id)
      await tx.sessions.purge(one.id)
      await tx.authors.copy(one.id, three.id)
    })
    expect(await underTest.store.read.authors.of(two.id)).toEqual(['nobody'])
    expect(await underTest.store.read.authors.of(three.id)).toEqual(['nobody'])
  })

  it('T32: more authors than anybody would name are copied as nobody', async () => {
    const [one, two] = await underTest.store.write(async (tx) => [
      await tx.sessions.create(sessionDraft(1), 1),
      await tx.sessions.create(sessionDraft(2), 1),
    ])
    await underTest.store.write(async (tx) => {
      for (let no = 0; no <= 200; no++) await tx.authors.add(one.id, `telegram:${no}`)
      await tx.authors.copy(one.id, two.id)
    })
    expect(await underTest.store.read.authors.of(two.id)).toEqual(['nobody'])
  })

  it('T32: of any number of people who write or are quoted in a session 200 are told, and nobody for the others', async () => {
    const { store } = underTest
    const [wrote, quoted] = await store.write(async (tx) => [
      await tx.sessions.create(sessionDraft(1), 1),
      await tx.sessions.create(sessionDraft(2), 1),
    ])
    await store.write(async (tx) => {
      for (let no = 0; no < 300; no++) await tx.participants.add(wrote.id, `telegram:${no}`, 1)
      for (let no = 0; no < 300; no++) await tx.authors.add(quoted.id, `telegram:${no}`)
      await tx.authors.add(quoted.id, 'telegram:0')
    })
    for (const { id } of [wrote, quoted]) {
      const authors = await store.read.authors.of(id)
      expect(authors).toHaveLength(201)
      expect(new Set(authors).size).toBe(201)
      expect(authors).toContain('nobody')
    }
  })
}
