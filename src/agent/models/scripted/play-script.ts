import { type Clock, sleep } from '../../../core/clock.ts'
import { ParleyError } from '../../../core/errors.ts'
import type { Model, ModelEvent, ModelRequest, ModelToolCall, Usage } from '../../../core/model.ts'
import { chooseStep, type Script, type ScriptStep } from './script.ts'

/**
 * A model that plays a script. It keeps no state: the step follows from the messages alone, hence a turn that a crash
 * interrupted continues where it was. Usage is counted at four characters a token.
 */
export function playScript(id: string, script: Script, clock: Clock): Model {
  return {
    id,
    async *stream(request, signal) {
      const step = chooseStep(script, request.messages)
      if (!step)
        throw new ParleyError('model_failed', `No rule of ${id} matches; a rule without "when" matches always.`)
      const text = step.silence ? '<NO_REPLY>' : (step.text ?? '')
      yield* speak(text, step, { clock, signal })
      await breakDown(step, { clock, signal })
      const calls = callsOf(step, request)
      for (const call of calls) yield { type: 'tool_call', call }
      const stop = step.stop ?? (calls.length > 0 ? 'tools' : 'end')
      yield { type: 'end', stop, usage: usageOf(request, text), model: id }
    },
  }
}

interface Pace {
  readonly clock: Clock
  readonly signal: AbortSignal
}

async function* speak(text: string, { chunk, delayMs = 0 }: ScriptStep, pace: Pace): AsyncGenerator<ModelEvent> {
  const characters = Array.from(text)
  const size = chunk ?? characters.length
  for (let at = 0; at < characters.length; at += size) {
    if (delayMs > 0) await sleep(pace.clock, delayMs, pace.signal)
    stopIfAborted(pace.signal)
    yield { type: 'text', delta: characters.slice(at, at + size).join('') }
  }
}

async function breakDown({ stallMs, fail }: ScriptStep, { clock, signal }: Pace): Promise<void> {
  if (stallMs !== undefined) {
    await sleep(clock, stallMs, signal)
    stopIfAborted(signal)
    throw new ParleyError('model_stalled', `The script stalled for ${stallMs} ms.`)
  }
  if (fail !== undefined) throw new ParleyError(fail, 'The script failed as it says.')
}

function stopIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new ParleyError('aborted', 'The model call was stopped.')
}

/** Ids are unique within a turn and the same after a crash. */
function callsOf({ calls = [] }: ScriptStep, { messages }: ModelRequest): ModelToolCall[] {
  return calls.map(({ tool, args }, index) => ({ id: `call_${messages.length}_${index}`, name: tool, args }))
}

function usageOf({ system, messages }: ModelRequest, text: string): Usage {
  const input = system.length + JSON.stringify(messages).length
  return { input: Math.ceil(input / 4), output: Math.ceil(text.length / 4) }
}
