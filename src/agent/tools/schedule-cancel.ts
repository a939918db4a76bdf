import * as z from 'zod'
import type { ChatSchedules } from '../../core/chat-schedules.ts'
import { textContent } from '../../core/content.ts'
import type { Tool } from '../../core/turn.ts'
import { readArgs, text } from './read-args.ts'
import { shownSchedules } from './shown-schedules.ts'

const ARGS = z.object({ id: text })

/** Ends a reminder or a task; the service asks whose words have led to it. */
export function scheduleCancel(schedules: Pick<ChatSchedules, 'cancel' | 'askerOf'>): Tool {
  return {
    class: 'keyed',
    keepsWords: false,
    reach: 'judged',
    doing: 'cancelling a reminder',
    spec: {
      name: 'schedule_cancel',
      description: 'Cancels a reminder or a task by its id.',
      parameters: {
        type: 'object',
        properties: { id: { type: 'string', description: 'An id from schedule_list.' } },
        required: ['id'],
        additionalProperties: false,
      },
    },
    async run(args, { turnId, sessionId, agentId, callId }) {
      const { id } = readArgs(ARGS, args)
      const asker = await schedules.askerOf({ id: turnId, sessionId, agentId }, callId)
      const cancelled = await schedules.cancel(id, asker, `${turnId} ${callId}`)
      if (cancelled === undefined) return { content: textContent(JSON.stringify({ cancelled: { id } })) }
      return shownSchedules([cancelled], ([one]) => ({ cancelled: one }))
    },
  }
}
