import * as z from 'zod'
import type { Tool } from '../../core/turn.ts'
import { formatLocalTime } from '../local-time.ts'
import { readArgs } from './read-args.ts'

const ARGS = z.object({ timezone: z.string('must be an IANA name such as Europe/Berlin').exactOptional() })

/** Tells the time in a zone; without one, in `homeZone`. */
export function currentTime(homeZone: string): Tool {
  return {
    class: 'pure',
    reach: 'inside',
    doing: 'looking at the clock',
    spec: {
      name: 'current_time',
      description: 'The current date and time in a time zone.',
      parameters: {
        type: 'object',
        properties: {
          timezone: { type: 'string', description: `IANA name such as Europe/Berlin. Default: ${homeZone}.` },
        },
        additionalProperties: false,
      },
    },
    run: async (args, context) => formatLocalTime(context.now(), readArgs(ARGS, args).timezone ?? homeZone),
  }
}
