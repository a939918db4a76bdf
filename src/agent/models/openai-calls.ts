import { randomUUID } from 'node:crypto'
import type { ModelToolCall } from '../../core/model.ts'
import { parseArguments } from './tool-arguments.ts'

/** A piece of a tool call. Compatible servers leave out what OpenAI promises. */
export interface CallDelta {
  readonly index?: number
  readonly id?: string | null
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null }
}

interface GrowingCall {
  readonly index: number | undefined
  readonly id: string
  name: string
  json: string
}

/** The tool calls of one answer, as far as they have come. */
export type GrowingCalls = GrowingCall[]

/** Adds a piece to the call it belongs to. */
export function addDelta(calls: GrowingCalls, delta: CallDelta): void {
  const call = callOf(calls, delta)
  call.name ||= delta.function?.name ?? ''
  call.json += delta.function?.arguments ?? ''
}

/** Returns the calls, which are complete once the answer is. */
export function wholeCalls(calls: readonly GrowingCall[]): ModelToolCall[] {
  return calls.map(({ id, name, json }) => ({ id: usableId(id), name, args: parseArguments(json) }))
}

/**
 * A piece belongs to the call of its index; without one, to the last. Some servers give every call the same index, or
 * none: then another id begins another call, and without ids another name does.
 */
function callOf(calls: GrowingCalls, { index, id, function: called }: CallDelta): GrowingCall {
  const known = index === undefined ? calls.at(-1) : calls.findLast((call) => call.index === index)
  if (known !== undefined && !beginsAnother(known, { id, name: called?.name })) return known
  const call: GrowingCall = { index, id: id ?? '', name: '', json: '' }
  calls.push(call)
  return call
}

function beginsAnother(
  known: GrowingCall,
  { id, name }: { readonly id: string | null | undefined; readonly name: string | null | undefined },
): boolean {
  if (id) return id !== known.id
  return known.id === '' && Boolean(name) && known.name !== ''
}

/**
 * An id is kept if every provider takes it, because a conversation may continue with another one. The rules are those
 * of OpenAI for the length, of Anthropic for the characters.
 */
function usableId(id: string): string {
  return /^[a-zA-Z0-9_-]{1,40}$/.test(id) ? id : `call_${randomUUID().replaceAll('-', '')}`
}
