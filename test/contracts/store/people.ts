import { expect, it } from 'vitest'
import { type PersonId, toAccountId, toPersonId } from '../../../src/core/ids.ts'
import type { LinkCode } from '../../../src/store/people-port.ts'
import { ids } from '../../store/sample-rows.ts'
import { type ContractPart, rejection } from './under-test.ts'

const [ADA, BOB] = [toPersonId('ada'), toPersonId('bob')]

function codeOf(hash: string, maker: string, expiresAt = 1_000): LinkCode {
  const shownAt = { channel: 'telegram', account: toAccountId(''), chatType: 'direct', chat: '111' } as const
  return { hash, person: ADA, maker, shownAt, expiresAt }
}

export const peopleContract: ContractPart = (underTest) => {
  it('K14: a linked person is known with every id, after a restart too', async () => {
    const { store } = underTest
    await store.write((tx) => tx.people.link(ADA, 'owner', ['telegram:111'], 1))
    await store.write((tx) => tx.people.link(BOB, 'member', ['telegram:112'], 2))
    await store.write((tx) => tx.people.link(ADA, 'owner', ['slack:T01/U333', 'telegram:111'], 3))
    expect(await (await underTest.reopen()).read.people.all()).toEqual([
      { id: ADA, role: 'owner', ids: ['telegram:111', 'slack:T01/U333'] },
      { id: BOB, role: 'member', ids: ['telegram:112'] },
    ])
  })

  it('K16: an id belongs to one person; the refused link leaves nothing behind', async () => {
    const { store } = underTest
    await store.write((tx) => tx.people.link(ADA, 'owner', ['telegram:111'], 1))
    const stolen = await rejection(store, (tx) => tx.people.link(BOB, 'owner', ['telegram:5', 'telegram:111'], 2))
    expect(stolen).toMatchObject({ code: 'conflict' })
    expect(await store.read.people.all()).toEqual([{ id: ADA, role: 'owner', ids: ['telegram:111'] }])
  })

  it('a person without an id is refused', async () => {
    expect(await rejection(underTest.store, (tx) => tx.people.link(ADA, 'owner', [], 1))).toMatchObject({
      code: 'invalid',
    })
  })

  it('an id joined to a person nobody stored makes a guest, and keeps the role of one that is stored', async () => {
    const { store } = underTest
    await store.write((tx) => tx.people.join(BOB, 'telegram:5', 1))
    await store.write((tx) => tx.people.link(ADA, 'owner', ['telegram:111'], 2))
    await store.write((tx) => tx.people.join(ADA, 'discord:222', 3))
    expect(await store.read.people.all()).toEqual([
      { id: BOB, role: 'guest', ids: ['telegram:5'] },
      { id: ADA, role: 'owner', ids: ['telegram:111', 'discord:222'] },
    ])
    expect(await rejection(store, (tx) => tx.people.join(BOB, 'telegram:111', 4))).toMatchObject({ code: 'conflict' })
  })

  it('F-H13: an id that was parted belongs to nobody, then to the next, and made no code', async () => {
    const { store } = underTest
    const unlink = (id: string): Promise<PersonId | undefined> => store.write((tx) => tx.people.unlink(id))
    await store.write((tx) => tx.people.link(ADA, 'owner', ['telegram:111', 'discord:222'], 1))
    await store.write((tx) => tx.people.addLinkCode(codeOf('h1', 'discord:222'), 1))
    expect(await unlink('discord:222')).toBe(ADA)
    expect(await unlink('discord:222')).toBeUndefined()
    expect(await store.read.people.linkCode('h1')).toBeUndefined()
    await store.write((tx) => tx.people.join(BOB, 'discord:222', 2))
    expect((await (await underTest.reopen()).read.people.all()).map(({ ids }) => ids)).toEqual([
      ['telegram:111'],
      ['discord:222'],
    ])
  })

  it('F-H12: a code is used once, the newest of its maker counts, and those that ran out go', async () => {
    const { store } = underTest
    const read = async (hash: string) => (await underTest.store.read.people.linkCode(hash))?.usedBy ?? null
    await store.write((tx) => tx.people.addLinkCode(codeOf('old', 'telegram:111', 500), 1))
    await store.write((tx) => tx.people.addLinkCode(codeOf('h1', 'telegram:111'), 2))
    expect(await store.read.people.linkCode('old')).toBeUndefined()
    const inbox = ids.inbox()
    const use = () => underTest.store.write((tx) => tx.people.useLinkCode('h1', inbox))
    expect([await use(), await use()]).toEqual([true, false])
    await underTest.reopen()
    expect(await read('h1')).toBe(inbox)
    expect(await underTest.store.read.people.linkCode('h1')).toEqual({ ...codeOf('h1', 'telegram:111'), usedBy: inbox })
    await underTest.store.write((tx) => tx.people.addLinkCode(codeOf('h2', 'telegram:5', 3_000), 2_000))
    expect(await underTest.store.read.people.linkCode('h1')).toBeUndefined()
    await underTest.store.write((tx) => tx.people.withdrawLinkCode('h2'))
    expect(await underTest.store.read.people.linkCode('h2')).toBeUndefined()
  })

  it('where somebody wrote in private is kept, one chat for each id and account, the last one used at the end', async () => {
    const { store } = underTest
    const { shownAt } = codeOf('h', 'x')
    const chat = (platformId: string, chat: string, at: number) => ({ platformId, address: { ...shownAt, chat }, at })
    await store.write((tx) => tx.people.metAt(chat('telegram:111', '1', 1)))
    await store.write((tx) => tx.people.metAt(chat('telegram:444', '2', 2)))
    await store.write((tx) => tx.people.metAt(chat('telegram:111', '3', 3)))
    expect(await (await underTest.reopen()).read.people.directChats()).toEqual([
      chat('telegram:444', '2', 2),
      chat('telegram:111', '3', 3),
    ])
  })

  it('changes are on record, newest first', async () => {
    const { store } = underTest
    const change = { person: ADA, platformId: 'discord:222', by: 'telegram:111' }
    await store.write((tx) => tx.people.recordChange({ ...change, kind: 'linked', at: 1 }))
    await store.write((tx) => tx.people.recordChange({ ...change, kind: 'unlinked', at: 2 }))
    expect(await (await underTest.reopen()).read.people.changes(10)).toEqual([
      { ...change, kind: 'unlinked', at: 2 },
      { ...change, kind: 'linked', at: 1 },
    ])
    expect(await underTest.store.read.people.changes(1)).toHaveLength(1)
  })

  it('ids that became the owner by the claim code are known apart, whatever was changed since', async () => {
    const { store } = underTest
    const by = 'telegram:111'
    await store.write((tx) => tx.people.recordChange({ kind: 'claimed', person: ADA, platformId: by, by, at: 1 }))
    await store.write((tx) =>
      tx.people.recordChange({ kind: 'linked', person: ADA, platformId: 'discord:2', by, at: 2 }),
    )
    expect(await (await underTest.reopen()).read.people.claimed()).toEqual([by])
  })
}
