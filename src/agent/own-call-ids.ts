import { randomUUID } from 'node:crypto'
import { approvedCode } from '../core/approval.ts'
import type { ModelMessage, ModelToolCall } from '../core/model.ts'

/**
 * Returns the calls of a step, in their order, with another id for each that has none, or whose id an earlier call of
 * the turn has, or the name of an approval: some compatible servers count calls anew in each answer. Results, approvals
 * and repetitions after a crash are found by the id of a call, so that one id would stand for two calls.
 */
export function withOwnIds(
  calls: readonly ModelToolCall[],
  messages: readonly ModelMessage[],
): readonly ModelToolCall[] {
  if (calls.length === 0) return calls
  const taken = new Set(
    messages.flatMap((message) => (message.role === 'assistant' ? message.calls.map(({ id }) => id) : [])),
  )
  return calls.map((call) => {
    const own = call.id === '' || taken.has(call.id) || approvedCode(call.id) !== undefined
    const id = own ? `call_${randomUUID().replaceAll('-', '')}` : call.id
    taken.add(id)
    return own ? { ...call, id } : call
  })
}
