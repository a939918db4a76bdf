import type { Address } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import type { Dispatch, Identity, ReadWords } from '../core/dispatch.ts'
import { errorCode, ParleyError, toError } from '../core/errors.ts'
import { type AgentId, type ChannelId, type PersonId, scheduleSessionId, type TraceId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { Schedule, ScheduleDefinition, ScheduleSlot, SlotEnd } from '../core/schedule.ts'
import type { Role, Session } from '../core/session.ts'
import type { InboxRow } from '../store/inbox-port.ts'
import type { Store } from '../store/store.ts'
import { ON_TIME_MS } from './decide-slots.ts'
import { type Digest, readDigest } from './read-digest.ts'
import { nextSlot } from './slots.ts'
import { localTime } from './when-words.ts'

export interface BeginRunDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  /** The agents that may have a session with messages to digest. */
  readonly agents: readonly AgentId[]
  /** The channels whose ids are case-sensitive. */
  readonly caseSensitive: readonly ChannelId[]
  /** Returns the session that holds a chat with others, or a topic with the rest of its chat; undefined for none. */
  joinedAt(this: void, address: Address): Promise<Session | undefined>
  /** Returns the present address of a place. */
  follow(this: void, address: Address): Address
  /** Accepts a dispatch; resolves once it is on disk. */
  accept(dispatch: Dispatch): Promise<void>
  /** Returns the present role of a person who made a schedule. */
  roleOf(person: PersonId): Promise<Role>
}

export type OwedSlot = ScheduleSlot & { readonly traceId: TraceId }

/**
 * Advances the oldest owed slot of a schedule: hands it to the pipeline, or records how its run ended. Returns true
 * when it has ended, so that the next one may begin. May be called again at any time, since a slot is accepted once.
 */
export async function advanceRun(deps: BeginRunDeps, slot: OwedSlot): Promise<boolean> {
  const [row] = await deps.store.read.inbox.find(slot.traceId)
  if (row === undefined) return begin(deps, slot)
  if (row.state !== 'done') return false
  await end(deps, slot, await endOf(deps, row))
  return true
}

async function begin(deps: BeginRunDeps, slot: OwedSlot): Promise<boolean> {
  const { store, clock } = deps
  const since = await store.read.forgetting.removals()
  const schedule = await store.read.schedules.get(slot.scheduleId)
  if (!schedule) {
    await end(deps, slot, { state: 'skipped', outcome: 'removed', at: clock.now() })
    return true
  }
  try {
    const creator = await authorityOf(deps, schedule)
    const digest = await digestFor(deps, schedule, creator)
    if (digest) await store.write((tx) => tx.schedules.setReading(slot.traceId, digest.reading))
    const madeOf = { sessions: digest?.sessions ?? [], since }
    const run = { ...slot, creator, madeOf, receivedAt: clock.now(), ...(digest ? { data: digest.text } : {}) }
    await deps.accept(scheduleDispatch(schedule, run))
    return false
  } catch (error) {
    // Something of the digest was forgotten while it waited for a hook: it is read again with the next tick.
    if (errorCode(error) === 'conflict') return false
    if (errorCode(error) !== 'forbidden') throw error
    await end(deps, slot, { state: 'failed', outcome: `refused: ${toError(error).message}`, at: clock.now() })
    return true
  }
}

async function authorityOf({ roleOf }: BeginRunDeps, { creator }: Schedule): Promise<Identity> {
  if (creator === undefined) return { role: 'owner' }
  const role = await roleOf(creator)
  if (role === 'guest') throw new ParleyError('forbidden', `${creator}, who made it, is nobody I know any more`)
  return { person: creator, role }
}

async function digestFor(
  { store, agents, caseSensitive, joinedAt, follow }: BeginRunDeps,
  { id, definition }: Schedule,
  creator: Identity,
): Promise<Digest | undefined> {
  const { digestOf, timezone } = definition
  if (digestOf === undefined) return undefined
  const since = (await store.read.schedules.lastDone(id))?.reading ?? {}
  return readDigest(store.read, { of: digestOf, timezone, creator, since, agents, caseSensitive, joinedAt, follow })
}

/** Returns the end of a run: an answer and silence complete it, every other outcome is a failure. */
async function endOf({ store, clock }: BeginRunDeps, { outcome, turnId }: InboxRow): Promise<SlotEnd> {
  const turn = turnId && (await store.read.turns.get(turnId))
  const what = outcome ?? 'failed'
  return {
    state: outcome === 'answered' || outcome === 'silent' ? 'done' : 'failed',
    outcome: turn?.error === undefined ? what : `${what}: ${turn.error}`,
    at: clock.now(),
    ...(turnId === undefined ? {} : { turnId }),
  }
}

async function end(
  { store, logger }: BeginRunDeps,
  { scheduleId, slotAt, traceId }: OwedSlot,
  by: SlotEnd,
): Promise<void> {
  const ended = await store.write(async (tx) => {
    if (!(await tx.schedules.endSlot(traceId, by))) return false
    const schedule = await tx.schedules.get(scheduleId)
    if (schedule && isOver(schedule, slotAt)) await tx.schedules.remove(scheduleId)
    return true
  })
  if (!ended) return
  const fields = { schedule: scheduleId, slot: new Date(slotAt).toISOString(), outcome: by.outcome, traceId }
  if (by.state === 'failed') logger.warn('A scheduled run failed', fields)
  else logger.info('A scheduled run ended', fields)
}

/** Returns true for a schedule that was made in a chat, once its last time has come. */
function isOver({ source, definition, evaluatedTo }: Schedule, slotAt: number): boolean {
  // The last time may have come, and been left out, while this run was under way.
  return source === 'command' && nextSlot(definition, Math.max(slotAt, evaluatedTo)) === undefined
}

interface ScheduleRun {
  readonly slotAt: number
  readonly traceId: TraceId
  readonly creator: Identity
  /** The text of the digest. */
  readonly data?: string
  /** The words that it is made of. */
  readonly madeOf: ReadWords
  readonly receivedAt: number
}

/**
 * Returns a slot as a dispatch, like that of a platform's message. Its event key is the slot's own, so that it is
 * accepted once whatever crashes between the claim and the accept.
 */
function scheduleDispatch({ id, definition }: Schedule, run: ScheduleRun): Dispatch {
  const { slotAt, traceId, receivedAt, creator, data, madeOf } = run
  const { deliverTo, agent, said, authors, askers, addresses, madeIn, reader } = definition
  const name = scheduleSessionId(id)
  const key = `${name}@${new Date(slotAt).toISOString()}`
  return {
    origin: 'schedule',
    madeOf,
    traceId,
    receivedAt,
    reply: { address: deliverTo, ...(reader ? { reader } : {}) },
    event: {
      kind: 'message',
      eventKey: key,
      messageId: key,
      address: deliverTo,
      sender: { id: name, kind: 'user', displayName: `schedule ${id}` },
      sentAt: slotAt,
      text: textOf(definition, run),
      mentioned: true,
      mentionsOthers: false,
      attachments: [],
    },
    schedule: {
      ...{ id, creator },
      ...(agent === undefined ? {} : { agent }),
      ...(data === undefined ? {} : { data }),
      ...(authors === undefined ? {} : { authors }),
      ...(askers === undefined ? {} : { askers }),
      ...(addresses === undefined ? {} : { addresses }),
      ...(madeIn === undefined ? {} : { madeIn }),
      ...(said ? { said } : {}),
    },
  }
}

/** Returns the task for the model, or the line that is said without one, which says when it is late. */
function textOf(definition: ScheduleDefinition, { slotAt, receivedAt, creator }: ScheduleRun): string {
  const { prompt, said, deliverTo, timezone } = definition
  if (!said) return prompt
  const whose = deliverTo.chatType === 'direct' || creator.person === undefined ? '' : ` for ${creator.person}`
  const late = receivedAt - slotAt > ON_TIME_MS ? `\n(It was due on ${localTime(slotAt, timezone)}.)` : ''
  return `Reminder${whose}: ${prompt}${late}`
}
