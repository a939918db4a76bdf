import { failpoint } from '../../../src/core/failpoint.ts'
import type { InboundEvent } from '../../../src/core/message.ts'
import { KeyedQueue } from '../../shared/keyed-queue.ts'
import type { Budget } from '../../shared/read-back.ts'
import type { RetryPorts } from '../../shared/until-done.ts'
import { isSnowflake, timeOfSnowflake } from '../address.ts'
import type { GatewayConnection } from '../connection/gateway.ts'
import type { VisibleChannel } from '../connection/visible-channels.ts'
import type { Interactions } from '../outbound/interactions.ts'
import { newBudget, raiseUnlessTold, startOf, startOfDirect } from './back-fill.ts'
import { CatchUp, type ReadBack } from './catch-up.ts'
import { directsOf, type KnownChannel, type Seen } from './positions.ts'
import { deletedIds, idsOf } from './read-event.ts'
import { InteractionReceiver } from './take-interactions.ts'
import { type MessagePorts, MessageReceiver } from './take-messages.ts'

export interface EventReceiverDeps extends RetryPorts, MessagePorts {
  readonly interactions: Interactions
  readonly seen: Seen
  failed(error: unknown, channelId: string): void
}

/** More than a busy channel says while a disk is full for minutes; beyond it the platform's history is the queue. */
const MOST_WAITING = 500
/** Channels read back after a resume, and of those that a new session does not show. */
const LATEST = 50
const LOCATE_WITHIN_MS = 10_000
/** The key of what belongs to no channel. */
const ACCOUNT = '0'

/**
 * Everything that was said, live or read back, goes through here: one reader, one sink, one order for each channel. The
 * gateway wants no acknowledgement; instead each message is committed with its position, and what came later than the
 * position is read back after every interruption.
 */
export class EventReceiver {
  readonly #ports: EventReceiverDeps
  readonly #queue: KeyedQueue
  readonly #catchUp: CatchUp
  readonly #messages: MessageReceiver
  readonly #interactions: InteractionReceiver
  /** The end of what had arrived before this session. */
  #missedSince: number | undefined
  /** When the first session was proven. */
  #begunAt: number | undefined
  /** No session is proven to bring everything: between two messages that arrive one may be missing. */
  #interrupted = true
  /** Channels from which something arrived during the interruption. */
  readonly #receivedMeanwhile = new Set<string>()
  /** Channels we know that this session did not show, and in which something may have been missed before it. */
  #outOfSight = new Set<string>()

  constructor(ports: EventReceiverDeps) {
    this.#ports = ports
    const { clock, signal, failed } = ports
    const makeUp = (id: string) => () => this.#catchUp.run(id, newBudget())
    this.#interactions = new InteractionReceiver(ports)
    this.#messages = new MessageReceiver(ports, (channels) => this.#meet(channels))
    const take = (channelId: string, id: string, read: ReadBack) =>
      this.#messages.take(channelId, id, { ...read, moves: true })
    this.#catchUp = new CatchUp({ ...ports, take })
    const random = () => ports.random()
    this.#queue = new KeyedQueue({ clock, signal, failed, random, makeUp, mostWaiting: MOST_WAITING })
  }

  /** Called for whatever a session brings. Before it is proven it may still bring what was said earlier. */
  received(): void {
    if (!this.#interrupted) this.#ports.seen.received()
  }

  message(message: unknown): void {
    failpoint('CP1-received')
    const ids = idsOf(message)
    if (ids === undefined) {
      this.#ports.sink.unknown('malformed:message')
      return
    }
    this.#ports.seen.proveUpTo(timeOfSnowflake(ids.id))
    this.#ports.names.meet(message)
    if (this.#interrupted) this.#receivedMeanwhile.add(ids.channelId)
    else if (this.#outOfSight.delete(ids.channelId)) this.#readBack(new Set([ids.channelId]))
    const moves = !this.#interrupted && !this.#queue.isBehind(ids.channelId)
    this.#queue.push(ids.channelId, () => this.#messages.take(ids.channelId, ids.id, { message, moves }))
  }

  edit(message: unknown): void {
    const ids = idsOf(message)
    if (ids === undefined) this.#ports.sink.unknown('malformed:edit')
    else this.#queue.push(ids.channelId, () => this.#messages.edit(ids.channelId, ids.id, message))
  }

  interaction(data: unknown): void {
    this.#interactions.take(data)
  }

  delete(data: unknown): void {
    const { ids, channelId } = deletedIds(data)
    if (ids.length === 0) this.#ports.sink.unknown('malformed:delete')
    for (const id of ids) this.#queue.push(channelId, () => this.#messages.delete(channelId, id))
  }

  /** Called when a connection breaks: until the next session, or this one again, positions stay where they are. */
  interrupted(): void {
    this.#interrupted = true
  }

  /**
   * After a new session: whatever has a newer message than we have read, every direct chat we know, and the latest of
   * what it does not show, such as a thread that was closed or a guild that arrives late. The rest of those is read
   * back before anything that is said there moves its position.
   */
  ready(connection: GatewayConnection): void {
    const { positions, seen } = this.#ports
    const [visible, now] = [connection.channels(), seen.now()]
    this.#missedSince = seen.at
    this.#begunAt ??= now
    this.#meetAll(visible, this.#missedSince, () => seen.saw(now))
    const shown = new Set(visible.map(({ id }) => id))
    const directs = directsOf(positions).map(({ id }) => id)
    const unshown = positions.values().filter(({ id, person }) => person === undefined && !shown.has(id))
    const known = unshown.map(({ id }) => id)
    const further = new Set([...directs, ...this.#receivedMeanwhile, ...known.slice(-LATEST)])
    this.#outOfSight = new Set(known.filter((id) => !further.has(id)))
    const budget = newBudget()
    this.#readNewest(
      visible.filter(({ id }) => !further.has(id)),
      budget,
    )
    this.#readBack(further, budget)
    this.#proven()
  }

  /** Called after a guild arrived later than its session began: what was said there may have been missed before it. */
  shown(channels: readonly VisibleChannel[]): void {
    for (const { id } of channels) this.#outOfSight.delete(id)
    this.#meetAll(channels, this.#missedSince, () => Promise.resolve())
    this.#readNewest(channels, newBudget())
  }

  /** Called after a resume: the platform has repeated what was missed, and is known to forget some of it. */
  resumed(): void {
    const { positions, seen, connection } = this.#ports
    const unknown = (connection()?.channels() ?? []).filter(({ id }) => positions.of(id) === undefined)
    const begun = unknown.filter(({ kind }) => kind !== 'direct').slice(-LATEST)
    this.#meetAll(begun, seen.at, () => Promise.resolve())
    const latest = positions.values().slice(-LATEST)
    this.#readBack(new Set([...[...latest, ...begun].map(({ id }) => id), ...this.#receivedMeanwhile]))
    this.#proven()
  }

  /** Called while the line is alive and the session not interrupted: everything up to now arrived. */
  seen(): void {
    this.#queue.push(ACCOUNT, () => this.#ports.seen.storeReceived())
  }

  /**
   * People whose direct chat is to be known before they first write in it: what they write while nobody listens is in
   * no list of the platform's, only in that chat. Resolves once each was asked for; one of which the platform says
   * nothing is asked for until it does.
   */
  async expect(people: readonly string[]): Promise<void> {
    const known = new Set(directsOf(this.#ports.positions).map(({ person }) => person))
    for (const person of people.filter((id) => isSnowflake(id) && !known.has(id))) {
      const find = () => this.#findDirect(person)
      await find().catch(() => this.#queue.push(`person:${person}`, find))
    }
  }

  /** Rejects where the platform has not said which chat it is. */
  async #findDirect(person: string): Promise<void> {
    const { directs, signal, positions, seen } = this.#ports
    const opened = await directs.open(person, { signal, deadlineMs: LOCATE_WITHIN_MS })
    if ('outcome' in opened) return raiseUnlessTold(opened.outcome, 'a direct chat could not be opened')
    const since = { missedSince: this.#missedSince, begunAt: this.#begunAt ?? seen.now() }
    this.#meet([{ id: opened.id, after: startOfDirect(opened, since), person }])
    await positions.write()
    this.#readBack(new Set([opened.id]))
  }

  /** Returns what a message says, without storing it. */
  read(channelId: string, message: unknown): Promise<InboundEvent | undefined> {
    return this.#messages.read(channelId, message)
  }

  async idle(): Promise<void> {
    await Promise.all([this.#queue.idle(), this.#interactions.idle()])
  }

  #meet(channels: readonly KnownChannel[]): void {
    this.#ports.positions.meet(channels, (channelId) => this.#queue.has(channelId))
  }

  /** At once: each is read back by itself, and does not wait for what the account has to store. */
  #meetAll(channels: readonly VisibleChannel[], missedSince: number | undefined, stored: () => Promise<void>): void {
    const { positions } = this.#ports
    // The person of a direct chat is known only from its first message.
    const places = channels.filter(({ kind }) => kind !== 'direct')
    this.#meet(places.map((channel) => ({ id: channel.id, after: startOf(channel, missedSince) })))
    this.#queue.push(ACCOUNT, () => positions.write().then(stored))
  }

  /** Reads those that have a newer message than we have read. */
  #readNewest(channels: readonly VisibleChannel[], budget: Budget): void {
    for (const { id, lastMessageId: newest } of channels)
      if (newest !== null) this.#queue.push(id, () => this.#catchUp.run(id, budget, newest))
  }

  /** Reads each from its position on, behind what arrived meanwhile. */
  #readBack(channels: ReadonlySet<string>, budget: Budget = newBudget()): void {
    for (const id of channels) this.#queue.push(id, () => this.#catchUp.run(id, budget))
  }

  #proven(): void {
    this.#receivedMeanwhile.clear()
    this.#interrupted = false
    this.received()
  }
}
