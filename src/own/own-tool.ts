import type { OwnCommand, OwnTool } from '../../config/own-tools.d.ts'
import type { ChatCommand } from '../core/command.ts'
import { ParleyError, toError } from '../core/errors.ts'
import type { Tool } from '../core/turn.ts'

/** Returns an operator's tool as one of the agent's; whatever it does not say of itself is the careful answer. */
export function toolOf(own: OwnTool): Tool {
  const { name, description, parameters = { type: 'object', properties: {} }, reach = 'beyond' } = own
  return {
    class: own.repeatable ? 'keyed' : 'once',
    reach,
    ...(own.foreign === false ? {} : { foreign: true }),
    doing: `using ${name}`,
    spec: { name, description, parameters },
    async run(args, { callId, signal }) {
      const given = typeof args === 'object' && args !== null && !Array.isArray(args) ? { ...args } : {}
      return checked(name, await own.run(given, { callId, signal }))
    },
  }
}

export function chatCommandOf({ name, description, args, who = 'owner', run }: OwnCommand): ChatCommand {
  return {
    ...{ name, description, who },
    ...(args === undefined ? {} : { args }),
    async run(call) {
      try {
        const answer = await run(call.args.trim())
        return answer === null ? null : checked(name, answer)
      } catch (error) {
        throw new ParleyError('invalid', toError(error).message)
      }
    },
  }
}

/** The file is anybody's code: it may return what its type does not say. */
function checked(name: string, answer: unknown): string {
  if (typeof answer === 'string') return answer
  throw new ParleyError('invalid', `${name} has returned no text.`)
}
