import type { ChatSchedules } from '../../core/chat-schedules.ts'
import type { Tool } from '../../core/turn.ts'
import { shownSchedules } from './shown-schedules.ts'

/** Lists the reminders and tasks of this conversation. */
export function scheduleList(schedules: Pick<ChatSchedules, 'list' | 'askerOf'>): Tool {
  return {
    class: 'pure',
    reach: 'inside',
    doing: 'looking through reminders',
    spec: {
      name: 'schedule_list',
      description: 'Lists the reminders and tasks of this conversation, the next first.',
      parameters: { type: 'object', properties: {}, additionalProperties: false },
    },
    async run(_args, { turnId, sessionId, agentId, callId }) {
      const asker = await schedules.askerOf({ id: turnId, sessionId, agentId }, callId)
      return shownSchedules(await schedules.list(asker), (rows) => ({ schedules: rows }))
    },
  }
}
