import type { OwnCommand, OwnTool } from '../../config/own-tools.d.ts'
import { type Clock, within } from '../core/clock.ts'
import type { ChatCommand } from '../core/command.ts'
import { ParleyError, toError } from '../core/errors.ts'
import { offerSchema } from '../core/tool-schema.ts'
import type { Tool } from '../core/turn.ts'

/** An answer in a chat is waited for so long; the code may still run behind it. */
const COMMAND_MS = 60_000
/** The default of calls of tool servers too. */
const TOOL_SECONDS = 60

export interface OwnDeps {
  readonly clock: Clock
  /** Returns a text without the values of configured secrets. */
  redact(this: void, text: string): string
}

/**
 * Returns an operator's tool as one of the agent's; whatever it does not say of itself is the careful answer. Throws
 * `config` for one that cannot be offered.
 */
export function toolOf(own: OwnTool, { clock }: Pick<OwnDeps, 'clock'>): Tool {
  const { name, description, reach = 'beyond', timeoutSeconds = TOOL_SECONDS } = own
  const offered = offerSchema(own.parameters)
  if (typeof offered === 'string') throw new ParleyError('config', `the tool ${name} cannot be offered: ${offered}`)
  const { parameters, restore } = offered
  return {
    class: own.repeatable ? 'keyed' : 'once',
    reach,
    ...(own.foreign === false ? {} : { foreign: true }),
    doing: `using ${name}`,
    spec: { name, description, parameters },
    async run(args, { callId, signal }) {
      const given = typeof args === 'object' && args !== null && !Array.isArray(args) ? { ...args } : {}
      const over = new AbortController()
      const context = { callId, signal: AbortSignal.any([signal, over.signal]) }
      const running = (async () => checked(name, await own.run(restore(given), context)))()
      const result = running.catch((error: unknown) => {
        throw new ParleyError('invalid', wordsOf(error))
      })
      if (await within(clock, timeoutSeconds * 1_000, result)) return result
      const message = `${name} has not answered within ${timeoutSeconds} seconds; what it has begun may still happen.`
      const late = new ParleyError('unavailable', message)
      over.abort(late)
      throw late
    },
  }
}

/** The answer of a command is stored, and read by others: no secret of the configuration is in it (C29). */
export function chatCommandOf(
  { name, description, args, who = 'owner', run }: OwnCommand,
  { clock, redact }: OwnDeps,
): ChatCommand {
  return {
    ...{ name, description, who },
    ...(args === undefined ? {} : { args }),
    async run(call) {
      try {
        const answer = await inTime(clock, name, run(call.args.trim()))
        return answer === null ? null : redact(checked(name, answer))
      } catch (error) {
        throw new ParleyError('invalid', redact(wordsOf(error)))
      }
    },
  }
}

async function inTime<Answer>(clock: Clock, name: string, running: Answer): Promise<Awaited<Answer>> {
  const answer = Promise.resolve(running)
  if (await within(clock, COMMAND_MS, answer)) return answer
  throw new ParleyError('unavailable', `/${name} has not answered within ${COMMAND_MS / 1_000} seconds.`)
}

/** Anything can be thrown, also what has no words or throws at whoever asks for them. */
function wordsOf(thrown: unknown): string {
  try {
    return String(toError(thrown).message)
  } catch {
    return 'It failed without words.'
  }
}

/** The file is anybody's code: it may return what its type does not say. */
function checked(name: string, answer: unknown): string {
  if (typeof answer === 'string') return answer
  throw new ParleyError('invalid', `${name} has returned no text.`)
}
