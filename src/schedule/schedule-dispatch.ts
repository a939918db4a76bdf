import type { Dispatch, Identity } from '../core/dispatch.ts'
import { scheduleSessionId, type TraceId } from '../core/ids.ts'
import type { Schedule } from '../core/schedule.ts'

export interface ScheduleRun {
  readonly slotAt: number
  readonly traceId: TraceId
  readonly creator: Identity
  /** The text of the digest. */
  readonly data?: string
  readonly receivedAt: number
}

/**
 * Returns a slot as a dispatch, like that of a platform's message. Its event key is the slot's own, so that it is
 * accepted once whatever crashes between the claim and the accept.
 */
export function scheduleDispatch({ id, definition }: Schedule, run: ScheduleRun): Dispatch {
  const { slotAt, traceId, receivedAt, creator, data } = run
  const { deliverTo, prompt, agent } = definition
  const name = scheduleSessionId(id)
  const key = `${name}@${new Date(slotAt).toISOString()}`
  return {
    origin: 'schedule',
    traceId,
    receivedAt,
    reply: { address: deliverTo },
    event: {
      kind: 'message',
      eventKey: key,
      messageId: key,
      address: deliverTo,
      sender: { id: name, kind: 'user', displayName: `schedule ${id}` },
      sentAt: slotAt,
      text: prompt,
      mentioned: true,
      mentionsOthers: false,
      attachments: [],
    },
    schedule: { id, creator, ...(agent === undefined ? {} : { agent }), ...(data === undefined ? {} : { data }) },
  }
}
