import type { ScheduleRunReport, ScheduleSummary, StartedRun } from '../../core/operate-schedules.ts'
import { flag, list, maybe, object, oneOf, text, time } from './shape.ts'

export const schedule = object<ScheduleSummary>(
  {
    id: text,
    source: oneOf({ config: true, command: true }),
    cron: text,
    when: maybe(text),
    timezone: text,
    agent: maybe(text),
    prompt: text,
    digestOf: maybe(text),
    deliverTo: text,
    deliverTitle: maybe(text),
    missed: text,
    overlap: text,
    paused: flag,
    nextAt: maybe(time),
    last: maybe(object<ScheduleRunReport>({ slotAt: time, state: text, outcome: maybe(text), traceId: maybe(text) })),
  },
  'Schedule',
)
export const schedules = list(schedule)
export const slots = list(time)
export const startedRun = object<StartedRun>({ slotAt: time, traceId: text }, 'StartedRun')
