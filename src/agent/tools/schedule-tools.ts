import * as z from 'zod'
import type { ChatSchedule, ChatSchedules } from '../../core/chat-schedules.ts'
import { textContent } from '../../core/content.ts'
import { callKey } from '../../core/schedule.ts'
import type { Tool, ToolOutput } from '../../core/turn.ts'
import { flag, readArgs, text } from './read-args.ts'

/** Returns the tools of the group `schedule`. */
export function scheduleTools(schedules: ChatSchedules): readonly Tool[] {
  return [scheduleCreate(schedules), scheduleList(schedules), scheduleCancel(schedules)]
}

const CREATE_ARGS = z.object({
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
          every: { type: 'string', description: 'Again and again: 2h, "monday and thursday at 8 until 5 may".' },
          cron: { type: 'string', description: 'Five fields, such as 0 8 * * 1-5.' },
          timezone: { type: 'string', description: 'IANA name. Default: that of the person.' },
          task: { type: 'boolean', description: 'You are asked then, instead of the text being said. Default: false.' },
        },
        required: ['text'],
        additionalProperties: false,
      },
    },
    async run(args, { turnId, sessionId, agentId, callId }) {
      const wish = readArgs(CREATE_ARGS, args)
      const asker = await schedules.askerOf({ id: turnId, sessionId, agentId }, callId)
      return shownSchedules([await schedules.create(wish, asker, callKey(turnId, callId))], ([made]) => made)
    },
  }
}

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

const CANCEL_ARGS = z.object({ id: text })

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
      const { id } = readArgs(CANCEL_ARGS, args)
      const asker = await schedules.askerOf({ id: turnId, sessionId, agentId }, callId)
      const cancelled = await schedules.cancel(id, asker, `${turnId} ${callId}`)
      if (cancelled === undefined) return { content: textContent(JSON.stringify({ cancelled: { id } })) }
      return shownSchedules([cancelled], ([one]) => ({ cancelled: one }))
    },
  }
}

/** Returns what a model is shown of schedules: their texts are the words of whoever had a part in them. */
function shownSchedules(
  all: readonly ChatSchedule[],
  inWords: (rows: readonly Omit<ChatSchedule, 'authors'>[]) => unknown,
): ToolOutput {
  const rows = all.map(({ authors: _, ...row }) => row)
  const authors = new Set(all.flatMap((one) => one.authors))
  return { content: textContent(JSON.stringify(inWords(rows))), authors: [...authors] }
}
