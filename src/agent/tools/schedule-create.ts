import * as z from 'zod'
import type { ChatSchedules } from '../../core/chat-schedules.ts'
import { callKey } from '../../core/schedule.ts'
import type { Tool } from '../../core/turn.ts'
import { flag, readArgs, text } from './read-args.ts'
import { shownSchedules } from './shown-schedules.ts'

const ARGS = z.object({
  text,
  at: text.exactOptional(),
  every: text.exactOptional(),
  cron: text.exactOptional(),
  timezone: text.exactOptional(),
  task: flag,
})

/** Makes a reminder or a task for this conversation. Keyed by its call: after a crash it is made once. */
export function scheduleCreate(schedules: Pick<ChatSchedules, 'create' | 'askerOf'>): Tool {
  return {
    class: 'keyed',
    reach: 'inside',
    doing: 'making a note of that',
    spec: {
      name: 'schedule_create',
      description:
        'Makes a reminder for this conversation, or a task that you carry out here later. Give exactly one of at, every and cron. Say the local time it returns, so that people can correct it.',
      parameters: {
        type: 'object',
        properties: {
          text: { type: 'string', description: 'What is said then; of a task, what you are asked then.' },
          at: { type: 'string', description: 'Once: local time such as 2026-11-27T17:00.' },
          every: { type: 'string', description: 'Again and again: 30m, 2h, 1d.' },
          cron: { type: 'string', description: 'Five fields, such as 0 8 * * 1-5.' },
          timezone: { type: 'string', description: 'IANA name. Default: that of the person.' },
          task: { type: 'boolean', description: 'You are asked then, instead of the text being said. Default: false.' },
        },
        required: ['text'],
        additionalProperties: false,
      },
    },
    async run(args, { turnId, sessionId, agentId, callId }) {
      const wish = readArgs(ARGS, args)
      const asker = await schedules.askerOf({ id: turnId, sessionId, agentId }, callId)
      return shownSchedules([await schedules.create(wish, asker, callKey(turnId, callId))], ([made]) => made)
    },
  }
}
