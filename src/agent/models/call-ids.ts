import { createHash, randomUUID } from 'node:crypto'
import { approvedCode } from '../../core/approval.ts'
import type { ModelMessage, ModelToolCall } from '../../core/model.ts'

/** The ids of calls that every server takes: of OpenAI's length and of Anthropic's characters. */
const PORTABLE = /^[a-zA-Z0-9_-]{1,40}$/

/** Returns an id of a call that every server takes: the id itself, or the same one each time in its place. */
export function portableId(id: string): string {
  return PORTABLE.test(id) ? id : `call_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`
}

/** Returns a new id of a call, which every server takes. */
export function newCallId(): string {
  return `call_${randomUUID().replaceAll('-', '')}`
}

/** Returns the id by which we know a call that a server has made: its own, or one of ours that every server takes. */
export function ownId(given: unknown): string {
  return typeof given === 'string' && PORTABLE.test(given) ? given : newCallId()
}

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
    const id = own ? newCallId() : call.id
    taken.add(id)
    return own ? { ...call, id } : call
  })
}
