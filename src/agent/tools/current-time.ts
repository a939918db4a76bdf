import { ParleyError } from '../../core/errors.ts'
import type { Tool } from '../../core/turn.ts'
import { formatLocalTime } from '../local-time.ts'

/** Tells the time in a zone; without one, in `homeZone`. */
export function currentTime(homeZone: string): Tool {
  return {
    class: 'pure',
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
    run: async (args, context) => formatLocalTime(context.now(), zoneOf(args) ?? homeZone),
  }
}

function zoneOf(args: unknown): string | undefined {
  const zone = typeof args === 'object' && args !== null && 'timezone' in args ? args.timezone : undefined
  if (zone === undefined || typeof zone === 'string') return zone
  throw new ParleyError('invalid', 'timezone must be an IANA name such as Europe/Berlin.')
}
