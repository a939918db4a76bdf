import { describe, expect, it } from 'vitest'
import { withOwnIds } from '../../../src/agent/models/call-ids.ts'
import { approvedCallId } from '../../../src/core/approval.ts'
import type { ModelMessage } from '../../../src/core/model.ts'
import { call } from '../turns.ts'

const OURS = /^call_[0-9a-f]{32}$/
const step = (...ids: readonly string[]): ModelMessage => ({
  ...{ role: 'assistant', text: '' },
  calls: ids.map((id) => call(id, 'look')),
})
const result = (id: string): ModelMessage => ({ role: 'tool', results: [{ id, content: [], isError: false }] })
const idsOf = (ids: readonly string[], messages: readonly ModelMessage[] = []) =>
  withOwnIds(
    ids.map((id) => call(id, 'look')),
    messages,
  ).map(({ id }) => id)

describe('the ids of the calls of a step', () => {
  it.each([approvedCallId('k7m2'), approvedCallId(''), 'approved_another', `${approvedCallId('k7m2')}_2`])(
    '%s, the name of an approval, is never one that a model has given',
    (id) => {
      expect(idsOf([id])).toEqual([expect.stringMatching(OURS)])
      expect(idsOf(['a', id, 'b'])).toEqual(['a', expect.stringMatching(OURS), 'b'])
    },
  )

  it.each(['Approved_k7m2', 'call_approved_k7m2', 'approved', 'call_1'])('%s is no such name', (id) =>
    expect(idsOf([id])).toEqual([id]),
  )

  it('one of an earlier step of the turn is another', () => {
    const earlier = [step('call_0'), result('call_0'), step('call_1', 'call_2'), result('call_1')]
    const own = expect.stringMatching(OURS)
    expect(idsOf(['call_2', 'call_3', 'call_0'], earlier)).toEqual([own, 'call_3', own])
  })

  it('one that is empty, or that comes twice, is another; all are different', () => {
    const ids = idsOf(['', 'a', '', 'a'])
    expect(ids).toEqual([expect.stringMatching(OURS), 'a', expect.stringMatching(OURS), expect.stringMatching(OURS)])
    expect(new Set(ids).size).toBe(4)
  })

  it('the calls stay in their order, with their names and arguments', () => {
    const calls = [call('', 'look', { at: 1 }), call('b', 'note', { at: 2 }), call('b', 'look', { at: 3 })]
    expect(withOwnIds(calls, []).map(({ name, args }) => [name, args])).toEqual(
      calls.map(({ name, args }) => [name, args]),
    )
  })
})
