import { expect, it } from 'vitest'
import { type TraceId, toAccountId, toPersonId, toScheduleId } from '../../../src/core/ids.ts'
import type { CronDefinition, NewSchedule, NewSlot } from '../../../src/core/schedule.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { ids } from '../../store/sample-rows.ts'
import { type ContractPart, failureOf, makeSession, rejection, WRONG_JSON } from './under-test.ts'

const [MORNING, EVENING] = [toScheduleId('morning'), toScheduleId('evening')]

const definition: CronDefinition = {
  cron: '0 8 * * *',
  timezone: 'Europe/Berlin',
  prompt: 'What is new?',
  deliverTo: { channel: 'telegram', account: toAccountId(''), chatType: 'group', chat: '-1001', topic: '7' },
  missed: { kind: 'all', most: 3 },
  overlap: 'queue',
}

const morning: NewSchedule = { id: MORNING, source: 'config', definition }

function slotOf(slotAt: number, changes: Partial<NewSlot> = {}): NewSlot & { readonly traceId: TraceId } {
  return {
    scheduleId: MORNING,
    slotAt,
    state: 'claimed',
    at: slotAt + 1,
    traceId: ids.trace(),
    ...changes,
  } as NewSlot & {
    readonly traceId: TraceId
  }
}

export const scheduleContract: ContractPart = (underTest) => {
  const write = <T>(body: (tx: StoreWriter['schedules']) => Promise<T>) =>
    underTest.store.write((tx) => body(tx.schedules))

  it('a schedule is kept as it was written, over a restart', async () => {
    const made: NewSchedule = { id: EVENING, source: 'command', definition, creator: toPersonId('bob') }
    await write((tx) => tx.put(morning, 5))
    await write((tx) => tx.put(made, 6))
    const rest = { paused: false, createdAt: 6, updatedAt: 6, evaluatedTo: 6 }
    const { schedules } = (await underTest.reopen()).read
    expect((await schedules.all()).map(({ id }) => id)).toEqual([EVENING, MORNING])
    expect(await schedules.get(EVENING)).toEqual({ ...made, ...rest })
    expect(await schedules.get(toScheduleId('nobody'))).toBeUndefined()
  })

  it('F-E15: written again it is the same schedule, changed, and goes on from where it was', async () => {
    await write((tx) => tx.put(morning, 5))
    await write((tx) => tx.setEvaluated(MORNING, 50))
    await write((tx) => tx.setPaused(MORNING, true, 55))
    await write((tx) => tx.put({ ...morning, definition: { ...definition, prompt: 'And now?' } }, 60))
    expect(await underTest.store.read.schedules.all()).toMatchObject([
      { definition: { prompt: 'And now?' }, createdAt: 5, updatedAt: 60, evaluatedTo: 50, paused: true },
    ])
  })

  it('a slot is written once, whatever its second state', async () => {
    const first = slotOf(100)
    expect(await write((tx) => tx.addSlot(first))).toBe(true)
    expect(await write((tx) => tx.addSlot(slotOf(100)))).toBe(false)
    await write((tx) => tx.endSlot(first.traceId, { state: 'done', outcome: 'answered', at: 120 }))
    expect(await write((tx) => tx.addSlot(slotOf(100)))).toBe(false)
    expect(await write((tx) => tx.addSlot(slotOf(100, { scheduleId: EVENING })))).toBe(true)
    expect(await underTest.store.read.schedules.recent(MORNING, 9)).toHaveLength(1)
  })

  it('F-E09: of a thousand claims of one slot one wins', async () => {
    const claims = Array.from({ length: 1_000 }, () => write((tx) => tx.addSlot(slotOf(100))))
    expect((await Promise.all(claims)).filter(Boolean)).toHaveLength(1)
  })

  it('a slot ends once, by the trace of its run, with the turn and how far it read', async () => {
    const slot = slotOf(100)
    const turnId = ids.turn()
    const { id } = await makeSession(underTest.store, 1)
    await write((tx) => tx.addSlot(slot))
    await write((tx) => tx.setReading(slot.traceId, { [id]: 12 }))
    const end = { state: 'done', outcome: 'silent', at: 130, turnId } as const
    expect(await write((tx) => tx.endSlot(slot.traceId, end))).toBe(true)
    expect(await write((tx) => tx.endSlot(slot.traceId, { ...end, state: 'failed' }))).toBe(false)
    const { at: endedAt, ...rest } = end
    const { schedules } = (await underTest.reopen()).read
    expect(await schedules.lastDone(MORNING)).toEqual({ ...slot, ...rest, endedAt, reading: { [id]: 12 } })
    expect(await schedules.claimed()).toEqual([])
  })

  it('claimed slots come by schedule and time, the last completed one is the newest', async () => {
    const [late, early, other] = [slotOf(300), slotOf(100), slotOf(200, { scheduleId: EVENING })]
    for (const slot of [late, early, other]) await write((tx) => tx.addSlot(slot))
    const { schedules } = underTest.store.read
    expect((await schedules.claimed()).map(({ slotAt }) => slotAt)).toEqual([200, 100, 300])
    expect(await schedules.lastDone(MORNING)).toBeUndefined()
    for (const { traceId } of [late, early]) {
      await write((tx) => tx.endSlot(traceId, { state: 'done', outcome: 'answered', at: 400 }))
    }
    expect((await schedules.lastDone(MORNING))?.slotAt).toBe(300)
    expect((await schedules.recent(MORNING, 1)).map(({ slotAt }) => slotAt)).toEqual([300])
  })

  it('pruning forgets what has ended, never what is claimed', async () => {
    const claimed = slotOf(100)
    await write((tx) => tx.addSlot(claimed))
    await write((tx) => tx.addSlot(slotOf(101, { state: 'skipped', outcome: 'missed' })))
    await write((tx) => tx.addSlot(slotOf(200, { state: 'skipped', outcome: 'missed' })))
    expect(await write((tx) => tx.pruneSlots(MORNING, 200))).toBe(1)
    expect((await underTest.store.read.schedules.recent(MORNING, 9)).map(({ slotAt }) => slotAt)).toEqual([200, 100])
  })

  it('a removed schedule leaves its slots, so that none of them runs again', async () => {
    await write((tx) => tx.put(morning, 5))
    await write((tx) => tx.addSlot(slotOf(100)))
    expect(await write((tx) => tx.remove(MORNING))).toBe(true)
    expect(await write((tx) => tx.remove(MORNING))).toBe(false)
    await write((tx) => tx.put(morning, 6))
    expect(await write((tx) => tx.addSlot(slotOf(100)))).toBe(false)
  })

  it('pausing what is not there is not_found', async () => {
    const failure = rejection(underTest.store, (tx) => tx.schedules.setPaused(MORNING, true, 1))
    expect(await failure).toMatchObject({ code: 'not_found' })
  })

  it.each([
    '',
    ...WRONG_JSON,
    '{"prompt":"hello","cron":"0 8 * * *","timezone":"UTC","missed":"skip","overlap":"skip"}',
  ])('C31: a schedule that reads %j does not hide the others', async (definition) => {
    for (const id of [MORNING, EVENING]) await write((tx) => tx.put({ ...morning, id }, 5))
    const store = await underTest.reopen(`UPDATE schedules SET definition = '${definition}' WHERE id = 'morning'`)
    expect((await store.read.schedules.all()).map(({ id }) => id)).toEqual([EVENING])
    expect(await failureOf(store.read.schedules.get(MORNING))).toMatchObject({ code: 'unreadable' })
    expect(underTest.warnings).toMatchObject([{ fields: { table: 'schedules', count: 1 } }])
  })
}
