import { expect, it } from 'vitest'
import type { NewApproval } from '../../../src/core/approval.ts'
import type { TraceId, TurnId } from '../../../src/core/ids.ts'
import { dispatchOf, sessionDraft } from '../../store/sample-rows.ts'
import { type ContractPart, failureOf, WRONG_JSON } from './under-test.ts'

const DAY = 86_400_000
const [SESSION, ANOTHER] = [sessionDraft(1).id, sessionDraft(2).id]
const REPLY = dispatchOf(1, 1).reply
const [TURN, OTHER] = ['turn_1' as TurnId, 'turn_2' as TurnId]

function question(code: string, more: Partial<NewApproval> = {}): NewApproval {
  const call = { turnId: TURN, callId: `call_${code}`, traceId: 'tr_1' as TraceId, tool: 'pay', args: { to: 'cy' } }
  return { code, sessionId: SESSION, ...call, reply: REPLY, askedAt: 1_000, ...more }
}

export const approvalContract: ContractPart = (underTest) => {
  const ask = (...questions: readonly NewApproval[]) =>
    underTest.store.write(async (tx) => {
      for (const one of questions) await tx.approvals.add(one)
    })

  it('S7: a question is found by its code and by its call, after a restart too', async () => {
    await ask(question('aaaaa', { forOwners: true }), question('bbbbb'))
    const { approvals } = (await underTest.reopen()).read
    const row = { ...question('aaaaa'), forOwners: true, state: 'asked', late: false }
    expect(await approvals.get('aaaaa')).toEqual(row)
    expect(await approvals.ofCall(TURN, 'call_aaaaa')).toEqual(row)
    expect(await approvals.ofCall(OTHER, 'call_aaaaa')).toBeUndefined()
    expect(await approvals.get('bbbbb')).toEqual({ ...question('bbbbb'), state: 'asked', late: false })
  })

  it('S7: is answered once, and an approval is good for one turn', async () => {
    await ask(question('aaaaa'))
    await underTest.store.write(async ({ approvals }) => {
      expect(await approvals.use('aaaaa', TURN)).toBe(false)
      expect(await approvals.decide('aaaaa', { state: 'allowed', by: 'ada', at: 2_000 })).toBe(true)
      expect(await approvals.decide('aaaaa', { state: 'denied', by: 'bob', at: 2_001 })).toBe(false)
      expect(await approvals.use('aaaaa', TURN)).toBe(true)
      expect(await approvals.use('aaaaa', OTHER)).toBe(false)
    })
    const used = { state: 'used', decidedBy: 'ada', decidedAt: 2_000, usedBy: TURN }
    expect(await underTest.store.read.approvals.get('aaaaa')).toMatchObject(used)
  })

  it.each([...WRONG_JSON.map((json) => ['reply', json]), ['args', 'null'], ['args', '5']])(
    'C31: one whose %s reads %s fails by name and is skipped in a list',
    async (column, json) => {
      await ask(question('aaaaa'), question('bbbbb'))
      const { approvals } = (await underTest.reopen(`UPDATE approvals SET ${column} = '${json}' WHERE code = 'aaaaa'`))
        .read
      expect((await approvals.open(0)).map(({ code }) => code)).toEqual(['bbbbb'])
      expect(await failureOf(approvals.get('aaaaa'))).toMatchObject({ code: 'unreadable' })
    },
  )

  it('S8: those that are open are listed by age, and those that were allowed too late are owed', async () => {
    await ask(question('newer', { askedAt: 3_000 }), question('older', { askedAt: 2_000 }), question('first'))
    await underTest.store.write(async ({ approvals }) => {
      for (const code of ['newer', 'older']) await approvals.leave(TURN, `call_${code}`)
      await approvals.decide('newer', { state: 'allowed', by: 'ada', at: 3_500 })
    })
    const { approvals } = underTest.store.read
    expect((await approvals.open(1_500)).map(({ code }) => code)).toEqual(['older'])
    expect((await approvals.open(0)).map(({ code }) => code)).toEqual(['first', 'older'])
    expect((await approvals.owed(0)).map(({ code }) => code)).toEqual(['newer'])
    await underTest.store.write((tx) => tx.approvals.use('newer', OTHER))
    expect(await approvals.owed(0)).toEqual([])
  })

  it('S41: goes with its session, and after ninety days', async () => {
    await ask(question('aaaaa'), question('bbbbb', { sessionId: ANOTHER }))
    await underTest.store.write((tx) => tx.approvals.remove(SESSION))
    const { approvals } = underTest.store.read
    expect([await approvals.get('aaaaa'), (await approvals.get('bbbbb'))?.code]).toEqual([undefined, 'bbbbb'])
    await ask(question('ccccc', { askedAt: 1_001 + 90 * DAY }))
    expect(await approvals.get('bbbbb')).toBeUndefined()
  })
}
