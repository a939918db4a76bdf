import { expect, it } from 'vitest'
import type { Applicant } from '../../../src/core/admission.ts'
import type { InboxId } from '../../../src/core/ids.ts'
import { addressOf, ids } from '../../store/sample-rows.ts'
import type { ContractPart } from './under-test.ts'

const CY: Applicant = { kind: 'person', key: 'telegram:555' }
const CLUB: Applicant = { kind: 'place', key: 'telegram:group:-1001' }
const asking = (applicant: Applicant, code: string) =>
  ({ ...applicant, code, name: 'Cy', address: addressOf(1), traceId: ids.trace() }) as const

const refused = (inbox: InboxId, at: number, bytes = 1) => ({ inbox, at, bytes })
const since = (at: number) => ({ since: at, messages: 9, bytes: 900 })

export const admissionContract: ContractPart = (underTest) => {
  it('an applicant asks once, is found by key and code, and stays decided over a restart', async () => {
    const { store } = underTest
    const first = asking(CY, 'aaaaa')
    await store.write((tx) => tx.admissions.ask(first, 1))
    await store.write((tx) => tx.admissions.ask(asking(CY, 'bbbbb'), 2))
    await store.write((tx) => tx.admissions.ask(asking(CLUB, 'ccccc'), 3))
    expect((await store.read.admissions.unnotified(9)).map(({ code }) => code)).toEqual(['aaaaa', 'ccccc'])
    await store.write((tx) => tx.admissions.notified(CY.key, 4))
    await store.write((tx) => tx.admissions.decide(CLUB.key, { state: 'admitted', by: 'ada' }, 5))
    const { admissions } = (await underTest.reopen()).read
    expect(await admissions.unnotified(9)).toEqual([])
    expect(await admissions.find('aaaaa')).toEqual({ ...first, state: 'asked', askedAt: 1, toldAt: 4 })
    expect(await admissions.find(CLUB.key)).toMatchObject({ state: 'admitted', decidedBy: 'ada', decidedAt: 5 })
    expect(await admissions.find('bbbbb')).toBeUndefined()
    expect((await admissions.all()).map(({ key }) => key)).toEqual([CLUB.key, CY.key])
  })

  it('a code belongs to one applicant', async () => {
    const { store } = underTest
    const ask = (one: Applicant, code: string) => store.write((tx) => tx.admissions.ask(asking(one, code), 1))
    expect(await ask(CY, 'aaaaa')).toBe('added')
    expect(await ask(CLUB, 'aaaaa')).toBe('code_taken')
    expect(await ask(CLUB, 'bbbbb')).toBe('added')
    expect(await ask(CLUB, 'aaaaa')).toBe('known')
  })

  it('refused messages wait for the admission: the newest, oldest first, none that is too old', async () => {
    const { store } = underTest
    const made = [ids.inbox(), ids.inbox(), ids.inbox(), ids.inbox()]
    const [first, second, third, fourth] = made
    if (!first || !second || !third || !fourth) throw new Error('four ids')
    await store.write((tx) => tx.admissions.ask(asking(CY, 'aaaaa'), 1))
    await store.write((tx) => tx.admissions.refuse(CY.key, refused(first, 10), since(0)))
    await store.write((tx) => tx.admissions.refuse(CY.key, refused(second, 20), since(0)))
    await store.write((tx) => tx.admissions.refuse(CY.key, refused(third, 30), since(15)))
    await store.write((tx) => tx.admissions.refuse(CLUB.key, refused(fourth, 30), since(15)))
    const waiting = (since: number, limit: number) => underTest.store.read.admissions.refusals(CY.key, since, limit)
    expect(await waiting(0, 9)).toEqual([second, third])
    expect([await waiting(21, 9), await waiting(0, 1)]).toEqual([[third], [third]])
    expect(await store.read.admissions.unhandled()).toEqual([])
    await store.write((tx) => tx.admissions.decide(CY.key, { state: 'admitted', by: 'ada' }, 40))
    expect(await (await underTest.reopen()).read.admissions.unhandled()).toEqual([CY.key])
    await underTest.store.write((tx) => tx.admissions.forget(CY.key, second))
    expect(await waiting(0, 9)).toEqual([third])
    await underTest.store.write((tx) => tx.admissions.forget(CY.key))
    expect(await underTest.store.read.admissions.unhandled()).toEqual([])
    expect(await underTest.store.read.admissions.refusals(CLUB.key, 0, 9)).toEqual([fourth])
  })

  it('what waits for one admission is bounded in messages and bytes, the newest stays, and what goes is told', async () => {
    const { store } = underTest
    const made = Array.from({ length: 5 }, () => ids.inbox())
    const bounds = { since: 0, messages: 3, bytes: 10 }
    const gone = []
    for (const [index, inbox] of made.entries()) {
      const bytes = index === 4 ? 99 : 4
      gone.push(await store.write((tx) => tx.admissions.refuse(CY.key, refused(inbox, 1, bytes), bounds)))
    }
    const [first, second, third, fourth, fifth] = made
    expect(gone).toEqual([[], [], [first], [second], [fourth, third]])
    expect(await store.read.admissions.refusals(CY.key, 0, 9)).toEqual([fifth])
  })

  it('of those who asked and are undecided what lies beyond a bound is told, the oldest, and can be withdrawn', async () => {
    const { store } = underTest
    const keys = ['telegram:1', 'telegram:2', 'telegram:3', 'telegram:4']
    for (const [index, key] of keys.entries()) {
      const asked = await store.write((tx) => tx.admissions.ask(asking({ kind: 'person', key }, `aaaa${index}`), index))
      expect(asked).toBe('added')
    }
    const beyond = (which: 'notified' | 'unnotified', most: number) =>
      store.write((tx) => tx.admissions.beyond(which, most))
    expect([await beyond('unnotified', 4), await beyond('unnotified', 3), await beyond('notified', 0)]).toEqual([
      [],
      [keys[0]],
      [],
    ])
    await store.write((tx) => tx.admissions.notified('telegram:2', 9))
    await store.write((tx) => tx.admissions.decide('telegram:3', { state: 'admitted', by: 'ada' }, 9))
    expect([await beyond('unnotified', 1), await beyond('notified', 0)]).toEqual([[keys[0]], [keys[1]]])
    await store.write((tx) => tx.admissions.refuse('telegram:2', refused(ids.inbox(), 1), since(0)))
    for (const key of keys) await store.write((tx) => tx.admissions.withdraw(key))
    expect((await store.read.admissions.all()).map(({ key }) => key)).toEqual(['telegram:3'])
    expect(await store.read.admissions.refusals('telegram:2', 0, 9)).toEqual([])
  })

  it('F-C07: a place with a new id takes its admission and what waits for it along', async () => {
    const { store } = underTest
    const waiting = ids.inbox()
    const moved = { ...CLUB, key: 'telegram:group:-1002' }
    await store.write((tx) => tx.admissions.ask(asking(CLUB, 'aaaaa'), 1))
    await store.write((tx) => tx.admissions.refuse(CLUB.key, refused(waiting, 1), since(0)))
    await store.write((tx) => tx.admissions.decide(CLUB.key, { state: 'admitted', by: 'ada' }, 2))
    await store.write((tx) => tx.admissions.ask(asking(moved, 'bbbbb'), 3))
    await store.write((tx) => tx.admissions.rekey(CLUB.key, moved.key, addressOf(2)))
    const { admissions } = (await underTest.reopen()).read
    expect(await admissions.all()).toMatchObject([{ key: moved.key, code: 'aaaaa', state: 'admitted' }])
    expect(await admissions.refusals(moved.key, 0, 9)).toEqual([waiting])
  })
}
