import { isDeepStrictEqual } from 'node:util'
import { isObject, type RequestMessage } from './request.ts'

export interface SentToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
  readonly extra_content?: { readonly google: { readonly thought_signature: string } }
}

/** A step that a server has sent, as far as it must come back. */
export interface SentStep {
  readonly model: string
  readonly calls: readonly SentToolCall[]
  /** The words of its thoughts. */
  readonly thoughts: string
  /** The signature of its first call. */
  readonly signature: string
  /** The fields in which its server wants the thoughts back (`reasoning_details`, `thinking_blocks`). */
  readonly fields: Readonly<Record<string, unknown>>
}

/** The steps with calls that one server has sent. */
export class SentSteps {
  readonly #steps: SentStep[] = []

  add(step: SentStep): void {
    if (step.calls.length > 0) this.#steps.push(step)
  }

  /** Returns the steps of a model that a message of the history can be; the ids of its calls may have changed since. */
  matching({ tool_calls: calls = [] }: RequestMessage, model: string): readonly SentStep[] {
    if (calls.length === 0) return []
    const asked = calls.map(({ function: { name, arguments: json } }) => [name, argumentsIn(json)])
    return this.#steps.filter(
      (step) =>
        step.model === model &&
        isDeepStrictEqual(
          asked,
          step.calls.map(({ function: { name, arguments: json } }) => [name, argumentsIn(json)]),
        ),
    )
  }
}

/** Torn arguments come back as an object, whatever it holds. */
function argumentsIn(json: string): unknown {
  try {
    return JSON.parse(json === '' ? '{}' : json)
  } catch {
    return {}
  }
}

/** Returns the positions of the messages of a turn that runs: what follows the last word of a user. */
export function runningFrom(messages: readonly RequestMessage[]): number {
  return messages.findLastIndex(({ role }) => role === 'user') + 1
}

/** Joins the pieces of one thought, which a client may hand back as they came. */
export function joined(pieces: unknown): unknown {
  if (!Array.isArray(pieces)) return pieces
  const whole: Record<string, unknown>[] = []
  for (const piece of pieces) {
    const last = whole.at(-1)
    if (!isObject(piece)) return pieces
    if (last === undefined || last.type !== piece.type || last.index !== piece.index) whole.push({ ...piece })
    else for (const [name, value] of Object.entries(piece)) last[name] = grown(name, last[name], value)
  }
  return whole
}

function grown(name: string, before: unknown, value: unknown): unknown {
  const grows = ['text', 'thinking', 'summary'].includes(name) && typeof before === 'string'
  return grows ? `${before}${value ?? ''}` : (value ?? before)
}
