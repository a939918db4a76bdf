import { randomUUID } from 'node:crypto'
import { parseAddress } from '../../core/address.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Clock } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import type { ForgetSubject, ForgottenPlace } from '../../core/forgetting.ts'
import type { MessageLink } from '../../core/message-link.ts'
import type { ForgetRequest, ForgettingOperator } from '../../core/operate-forgetting.ts'
import type { InboxRow } from '../../store/store.ts'
import { addressOf } from '../service/address-of.ts'
import { readSince } from './asked-words.ts'
import type { ForgettingService } from './forgetting.ts'
import { personSubject, placeOf, type SubjectPorts } from './read-subject.ts'

export interface OperateForgettingDeps extends SubjectPorts {
  readonly clock: Clock
  readonly forgetting: ForgettingService
  readonly retention: Pick<ForgettingOperator, 'retention' | 'runRetention'>
  findMessages(this: void, asked: string | MessageLink): Promise<readonly InboxRow[]>
  readLink(this: void, text: string): MessageLink | null
}

const MACHINE = Intl.DateTimeFormat().resolvedOptions().timeZone

/** Returns forgetting as the operator has it done: of anybody, anywhere. */
export function operateForgetting(deps: OperateForgettingDeps): ForgettingOperator {
  const { clock, forgetting } = deps
  const { retention, runRetention } = deps.retention
  return {
    async forget(request) {
      const now = clock.now()
      const since = request.since === undefined ? {} : { since: readSince(request.since, { now, zone: MACHINE }) }
      // If the clock was set back, what was said has a later time.
      const before = Math.max(now, (await deps.store.read.forgetting.latestTime()) + 1)
      const target = { ...(await subjectOf(request, deps)), before, ...since }
      return request.confirmed ? forgetting.forget(`operator ${randomUUID()}`, target) : forgetting.preview(target)
    },
    ...{ retention, runRetention },
  }
}

async function subjectOf({ kind, name }: ForgetRequest, deps: OperateForgettingDeps): Promise<ForgetSubject> {
  switch (kind) {
    case 'person':
      return personSubject(deps, name)
    case 'chat':
      return chatNamed(deps, name)
    case 'message': {
      const rows = (await deps.findMessages(deps.readLink(name) ?? name)).filter(
        ({ decision }) => decision.kind !== 'control',
      )
      if (rows.length === 0) throw new ParleyError('not_found', `There is no message ${name}.`)
      const chats = new Set(rows.map(({ dispatch: { event } }) => `${event.address.channel} ${event.address.chat}`))
      if (chats.size > 1)
        throw new ParleyError(
          'invalid',
          `Several chats have a message ${name}; give its link, or its trace id from parley why.`,
        )
      return { kind, rows: rows.map(({ id }) => id) }
    }
  }
}

async function chatNamed({ store: { read }, channels }: OperateForgettingDeps, name: string): Promise<ForgetSubject> {
  const session = await read.sessions.resolve(name)
  if (session === undefined) throw new ParleyError('not_found', `There is no conversation ${name}.`)
  if (session.scope.values.chat !== undefined)
    return { kind: 'chat', place: placeOf(addressOf(session)), session: session.id }
  // Its address is that of the chat in which something was said last, or to which a schedule delivers: others have
  // spoken there, or it joins several. So its log is meant, or the one chat by which it was named.
  const place = chatIn(name, channels)
  if (place === undefined) return { kind: 'session', session: session.id }
  const isKnown = channels.traits(place.channel).ids.directChatIsPerson || place.chat === session.metadata.chat_id
  if (isKnown) return { kind: 'chat', place }
  const all = `${session.displayKey} joins several chats`
  throw new ParleyError('invalid', `${all}: say /forget chat in ${name}, or name ${session.id} for all of them.`)
}

/** Returns the chat that a name means; undefined where it is no address of a platform. */
function chatIn(name: string, { platforms }: Channels): ForgottenPlace | undefined {
  const [channel = ''] = name.trim().split(/[:@]/)
  if (!platforms.includes(channel) || !/:(direct|group|channel):/.test(name)) return undefined
  const { account: _, ...place } = placeOf(parseAddress(name.trim()))
  return place
}
