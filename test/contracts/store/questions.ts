import { expect, it } from 'vitest'
import type { TraceId, TurnId } from '../../../src/core/ids.ts'
import type { Answerer, NewQuestion } from '../../../src/core/question.ts'
import { dispatchOf, sessionDraft } from '../../store/sample-rows.ts'
import { type ContractPart, failureOf, WRONG_JSON } from './under-test.ts'

const DAY = 86_400_000
const [SESSION, ANOTHER] = [sessionDraft(1).id, sessionDraft(2).id]
const TURN = 'turn_1' as TurnId
const BY: Answerer = { author: 'telegram:111', sender: { id: '111', kind: 'user' }, identity: { role: 'owner' } }

function question(code: string, more: Partial<NewQuestion> = {}): NewQuestion {
  const call = { turnId: TURN, callId: `call_${code}`, part: 0, traceId: 'tr_1' as TraceId }
  const asked = { text: 'Which?', choices: ['Red', 'Blue'], reply: dispatchOf(1, 1).reply, askedAt: 1_000 }
  return { code, sessionId: SESSION, ...call, ...asked, ...more }
}

export const questionContract: ContractPart = (underTest) => {
  const ask = (...questions: readonly NewQuestion[]) =>
    underTest.store.write(async (tx) => {
      for (const one of questions) await tx.questions.add(one)
    })

  it('S7: a question to people is found by its code and by its call, after a restart too', async () => {
    const whole = question('aaaaa', { to: 'telegram:111', server: 'files', free: { kind: 'integer', max: 3 }, part: 2 })
    await ask(whole)
    const { questions } = (await underTest.reopen()).read
    const row = { ...whole, state: 'asked', late: false }
    expect(await questions.get('aaaaa')).toEqual(row)
    expect(await questions.ofCall(TURN, 'call_aaaaa', 2)).toEqual(row)
    expect(await questions.ofCall(TURN, 'call_aaaaa', 0)).toBeUndefined()
  })

  it('S7: is answered once, and the answer is told to its turn or comes late, never both', async () => {
    await ask(question('aaaaa'), question('bbbbb'), question('ccccc'))
    const answer = { answer: 'Blue', choice: 1, by: BY }
    await underTest.store.write(async ({ questions }) => {
      expect(await questions.answer('aaaaa', answer)).toBe(true)
      expect(await questions.answer('aaaaa', { answer: 'Red', by: BY })).toBe(false)
      expect(await questions.take('aaaaa')).toMatchObject({
        state: 'told',
        late: false,
        answer: 'Blue',
        choice: 1,
        by: BY,
      })
      expect(await questions.take('bbbbb')).toMatchObject({ state: 'asked', late: true })
      expect(await questions.answer('bbbbb', answer)).toBe(true)
      expect(await questions.take('bbbbb')).toMatchObject({ state: 'answered', late: true })
      await questions.end('ccccc')
      expect(await questions.answer('ccccc', answer)).toBe(false)
      await questions.end('aaaaa')
    })
    const { questions } = underTest.store.read
    expect((await questions.owed(0)).map(({ code }) => code)).toEqual(['bbbbb'])
    expect(await questions.get('aaaaa')).toMatchObject({ state: 'told' })
    expect(await questions.get('ccccc')).toMatchObject({ state: 'ended' })
  })

  it('S8: those that are open are listed by age', async () => {
    await ask(question('newer', { askedAt: 3_000 }), question('older', { askedAt: 2_000 }), question('first'))
    const { questions } = underTest.store.read
    expect((await questions.open(1_500)).map(({ code }) => code)).toEqual(['older', 'newer'])
  })

  it.each([
    ...WRONG_JSON.map((json) => ['reply', json]),
    // Without choices it is answered in words.
    ...WRONG_JSON.filter((json) => json !== '[]').map((json) => ['choices', json]),
    ['free', '{"kind":"odd"}'],
    ['answered_by', '[]'],
    ['choices', '[1]'],
  ])('C31: one whose %s reads %s fails by name and is skipped in a list', async (column, json) => {
    await ask(question('aaaaa'), question('bbbbb'))
    const { questions } = (await underTest.reopen(`UPDATE questions SET ${column} = '${json}' WHERE code = 'aaaaa'`))
      .read
    expect((await questions.open(0)).map(({ code }) => code)).toEqual(['bbbbb'])
    expect(await failureOf(questions.get('aaaaa'))).toMatchObject({ code: 'unreadable' })
  })

  it('S41: goes with its session, and after ninety days', async () => {
    await ask(question('aaaaa'), question('bbbbb', { sessionId: ANOTHER }))
    await underTest.store.write((tx) => tx.questions.remove(SESSION))
    const { questions } = underTest.store.read
    expect(await questions.get('aaaaa')).toBeUndefined()
    await ask(question('ccccc', { askedAt: 1_001 + 90 * DAY }))
    expect(await questions.get('bbbbb')).toBeUndefined()
  })
}
