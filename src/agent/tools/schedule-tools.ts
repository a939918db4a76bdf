import type { ChatSchedules } from '../../core/chat-schedules.ts'
import type { Tool } from '../../core/turn.ts'
import { scheduleCancel } from './schedule-cancel.ts'
import { scheduleCreate } from './schedule-create.ts'
import { scheduleList } from './schedule-list.ts'

/** Returns the tools of the group `schedule`. */
export function scheduleTools(schedules: ChatSchedules): readonly Tool[] {
  return [scheduleCreate(schedules), scheduleList(schedules), scheduleCancel(schedules)]
}
