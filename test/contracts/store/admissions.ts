import { expect, it } from 'vitest'
import type { Applicant } from '../../../src/core/admission.ts'
import { addressOf, ids } from '../../store/sample-rows.ts'
import { type ContractPart, rejection } from './under-test.ts'

const CY: Applicant = { kind: 'person', key: 'telegram:555' }
const CLUB: Applicant = { kind: 'place', key: 'telegram:group:-1001' }
const asking = (applicant: Applicant, code: string) =>
  ({ ...applicant, code, name: 'Cy', address: addressOf(1), traceId: ids.trace() }) as const

export const admissionContract: ContractPart = (underTest) => {
  it('an applicant asks once, is found by key and code, and stays decided over a restart', async () => {
    const { store } = underTest
    const first = asking(CY, 'aaaaa')
    await store.write((tx) => tx.admissions.ask(first, 1))
    await store.write((tx) => tx.admissions.ask(asking(CY, 'bbbbb'), 2))
    await store.write((tx) => tx.admissions.ask(asking(CLUB, 'ccccc'), 3))
    expect((await store.read.admissions.untold()).map(({ code }) => code)).toEqual(['aaaaa', 'ccccc'])
    await store.write((tx) => tx.admissions.told(CY.key, 4))
    await store.write((tx) => tx.admissions.decide(CLUB.key, { state: 'admitted', by: 'ada' }, 5))
    const { admissions } = (await underTest.reopen()).read
    expect(await admissions.untold()).toEqual([])
    expect(await admissions.find('aaaaa')).toEqual({ ...first, state: 'asked', askedAt: 1, toldAt: 4 })
    expect(await admissions.find(CLUB.key)).toMatchObject({ state: 'admitted', decidedBy: 'ada', decidedAt: 5 })
    expect(await admissions.find('bbbbb')).toBeUndefined()
    expect((await admissions.all()).map(({ key }) => key)).toEqual([CLUB.key, CY.key])
  })

  it('a code belongs to one applicant', async () => {
    const { store } = underTest
    await store.write((tx) => tx.admissions.ask(asking(CY, 'aaaaa'), 1))
    expect(await rejection(store, (tx) => tx.admissions.ask(asking(CLUB, 'aaaaa'), 1))).toBeDefined()
  })

  it('refused messages wait for the admission: the newest, oldest first, none that is too old', async () => {
    const { store } = underTest
    const made = [ids.inbox(), ids.inbox(), ids.inbox(), ids.inbox()]
    const [first, second, third, fourth] = made
    if (!first || !second || !third || !fourth) throw new Error('four ids')
    await store.write((tx) => tx.admissions.ask(asking(CY, 'aaaaa'), 1))
    await store.write((tx) => tx.admissions.refuse(CY.key, first, { at: 10, since: 0 }))
    await store.write((tx) => tx.admissions.refuse(CY.key, second, { at: 20, since: 0 }))
    await store.write((tx) => tx.admissions.refuse(CY.key, third, { at: 30, since: 15 }))
    await store.write((tx) => tx.admissions.refuse(CLUB.key, fourth, { at: 30, since: 15 }))
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

  it('C07: a place with a new id takes its admission and what waits for it along', async () => {
    const { store } = underTest
    const waiting = ids.inbox()
    const moved = { ...CLUB, key: 'telegram:group:-1002' }
    await store.write((tx) => tx.admissions.ask(asking(CLUB, 'aaaaa'), 1))
    await store.write((tx) => tx.admissions.refuse(CLUB.key, waiting, { at: 1, since: 0 }))
    await store.write((tx) => tx.admissions.decide(CLUB.key, { state: 'admitted', by: 'ada' }, 2))
    await store.write((tx) => tx.admissions.ask(asking(moved, 'bbbbb'), 3))
    await store.write((tx) => tx.admissions.rekey(CLUB.key, moved.key, addressOf(2)))
    const { admissions } = (await underTest.reopen()).read
    expect(await admissions.all()).toMatchObject([{ key: moved.key, code: 'aaaaa', state: 'admitted' }])
    expect(await admissions.refusals(moved.key, 0, 9)).toEqual([waiting])
  })
}
