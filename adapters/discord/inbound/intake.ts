import type { ChannelSink } from '../../../src/channels/adapter.ts'
import { ParleyError } from '../../../src/core/errors.ts'
import { failpoint } from '../../../src/core/failpoint.ts'
import type { AccountId } from '../../../src/core/ids.ts'
import type { InboundEvent } from '../../../src/core/message.ts'
import type { RetryPorts } from '../../shared/backoff.ts'
import { KeyedQueue } from '../../shared/keyed-queue.ts'
import { asAnswered, type Budget } from '../../shared/read-back.ts'
import type { InboundReading } from '../../shared/reading.ts'
import { before, type ChannelFacts, isSnowflake, snowflakeAt, timeOfSnowflake } from '../address.ts'
import type { DiscordClient } from '../connection/client.ts'
import type { GatewayConnection } from '../connection/gateway.ts'
import type { DirectChannels } from '../outbound/direct-channels.ts'
import type { Interactions } from '../outbound/interactions.ts'
import { newBudget, sinceMoment, startOf } from './back-fill.ts'
import { CatchUp, type ReadBack } from './catch-up.ts'
import { findPlace } from './places.ts'
import { type ChannelPositions, directsOf, type KnownChannel, type Seen } from './positions.ts'
import { deletedIds, idsOf, readDelete, readEdit, readMessage } from './read-event.ts'
import { type InboundContext, readableByOthers } from './reading.ts'
import { InteractionIntake } from './take-interactions.ts'

export interface IntakePorts extends RetryPorts {
  readonly account: AccountId
  readonly botId: string
  readonly client: DiscordClient
  readonly directs: DirectChannels
  readonly interactions: Interactions
  readonly positions: ChannelPositions
  readonly seen: Seen
  readonly sink: ChannelSink
  connection(): GatewayConnection | undefined
  commands(): ReadonlySet<string> | undefined
  failed(error: unknown, channelId: string): void
}

/** `moves`: everything up to it was seen, so that the position may move over it. `answered`: an answer of ours was seen. */
type Told = { readonly message: unknown; readonly moves: boolean; readonly answered?: boolean }

type Reader = (context: InboundContext) => InboundReading

/** More than a busy channel says while a disk is full for minutes; beyond it the platform's history is the queue. */
const MOST_WAITING = 500
/** Channels read back after a resume. What it leaves out is left out in busy ones. */
const LATEST = 50
const LOCATE_WITHIN_MS = 10_000
/** The key of what belongs to no channel. */
const ACCOUNT = '0'

/**
 * Everything that was said, live or read back, goes through here: one reader, one gate, one order for each channel. The
 * gateway wants no acknowledgement; instead each message is committed with its position, and what came later than the
 * position is read back after every interruption.
 */
export class Intake {
  readonly #ports: IntakePorts
  readonly #queue: KeyedQueue
  readonly #catchUp: CatchUp
  readonly #interactions: InteractionIntake
  /** The end of what was told before this session. */
  #missedSince: number | undefined
  readonly #waits = (channelId: string): boolean => this.#queue.has(channelId)
  /** No session is proven to tell everything: between two messages that are told one may be missing. */
  #interrupted = true
  /** Channels that told something during the interruption. */
  readonly #toldMeanwhile = new Set<string>()

  constructor(ports: IntakePorts) {
    this.#ports = ports
    const { clock, signal, failed } = ports
    const makeUp = (id: string) => () => this.#catchUp.run(id, newBudget())
    this.#interactions = new InteractionIntake(ports)
    const take = (channelId: string, id: string, read: ReadBack) => this.#take(channelId, id, { ...read, moves: true })
    this.#catchUp = new CatchUp({ ...ports, take })
    const random = () => ports.random()
    this.#queue = new KeyedQueue({ clock, signal, failed, random, makeUp, mostWaiting: MOST_WAITING })
  }

  /** Called for whatever a session tells. Before it is proven it may yet have to tell what came earlier. */
  heard(): void {
    if (!this.#interrupted) this.#ports.seen.heard()
  }

  message(message: unknown): void {
    failpoint('CP1-received')
    const ids = idsOf(message)
    if (ids === undefined) {
      this.#ports.sink.unknown('malformed:message')
      return
    }
    this.#ports.seen.told(timeOfSnowflake(ids.id))
    if (this.#interrupted) this.#toldMeanwhile.add(ids.channelId)
    const moves = !this.#interrupted && !this.#queue.isBehind(ids.channelId)
    this.#queue.push(ids.channelId, () => this.#take(ids.channelId, ids.id, { message, moves }))
  }

  edit(message: unknown): void {
    const ids = idsOf(message)
    if (ids === undefined) this.#ports.sink.unknown('malformed:edit')
    else this.#queue.push(ids.channelId, () => this.#takeChange(ids.channelId, message, (at) => readEdit(message, at)))
  }

  interaction(data: unknown): void {
    this.#interactions.take(data)
  }

  delete(data: unknown): void {
    const { ids, channelId } = deletedIds(data)
    if (ids.length === 0) this.#ports.sink.unknown('malformed:delete')
    const person = this.#ports.positions.get(channelId)?.person
    const read = (id: string) => () => this.#takeChange(channelId, null, (at) => readDelete(id, { ...at, person }))
    for (const id of ids) this.#queue.push(channelId, read(id))
  }

  /** Called when a connection breaks: until the next session, or this one again, positions stay where they are. */
  interrupted(): void {
    this.#interrupted = true
  }

  /** After a new session: whatever has a newer message than we have read, and every direct chat we know. */
  ready(connection: GatewayConnection): void {
    const { positions, seen } = this.#ports
    const [visible, now] = [connection.channels(), seen.now()]
    this.#missedSince = seen.at
    const met = visible.map((channel) => ({ id: channel.id, after: startOf(channel, this.#missedSince) }))
    // At once: each is read back by itself, and does not wait for what the account has to store.
    positions.meet(met, this.#waits)
    this.#queue.push(ACCOUNT, () => positions.write().then(() => seen.saw(now)))
    const further = new Set([...directsOf(this.#ports.positions).map(({ id }) => id), ...this.#toldMeanwhile])
    const budget = newBudget()
    for (const { id, lastMessageId: newest } of visible)
      if (newest !== null && !further.has(id)) this.#queue.push(id, () => this.#catchUp.run(id, budget, newest))
    this.#readBack(further, budget)
    this.#proven()
  }

  /** After a resume: the platform has told what was missed, and is known to have forgotten some of it. */
  resumed(): void {
    const { positions } = this.#ports
    this.#readBack(
      new Set([
        ...positions
          .values()
          .slice(-LATEST)
          .map(({ id }) => id),
        ...this.#toldMeanwhile,
      ]),
    )
    this.#proven()
  }

  /** Called while the line is alive and the session not interrupted: everything up to now was told. */
  seen(): void {
    this.#queue.push(ACCOUNT, () => this.#ports.seen.keepHeard())
  }

  /**
   * People whose direct chat is to be known before they first write in it: what they write while nobody listens is in no
   * list of the platform's, only in that chat. Rejects when the platform did not answer.
   */
  async expect(people: readonly string[]): Promise<void> {
    const { directs, signal, seen } = this.#ports
    const known = new Set(directsOf(this.#ports.positions).map(({ person }) => person))
    const after = this.#missedSince === undefined ? snowflakeAt(seen.now()) : sinceMoment(this.#missedSince)
    for (const person of people.filter((id) => isSnowflake(id) && !known.has(id))) {
      const located = await directs.locate({ kind: 'person', id: person }, { signal, deadlineMs: LOCATE_WITHIN_MS })
      if (!('id' in located)) continue
      await this.#note({ id: located.id, after, person })
      this.#readBack(new Set([located.id]))
    }
  }

  async idle(): Promise<void> {
    await Promise.all([this.#queue.idle(), this.#interactions.idle()])
  }

  /** Reads each from its position on, behind what was told meanwhile. */
  #readBack(channels: ReadonlySet<string>, budget: Budget = newBudget()): void {
    for (const id of channels) this.#queue.push(id, () => this.#catchUp.run(id, budget))
  }

  #proven(): void {
    this.#toldMeanwhile.clear()
    this.#interrupted = false
    this.heard()
  }

  async #take(channelId: string, messageId: string, { message, moves, answered }: Told): Promise<void> {
    const place = await this.#placeOf(channelId, message)
    const reading = place && readMessage(message, this.#context(place))
    const shown = readableByOthers(place, message)
    if (reading?.kind !== 'event') return this.#drop(reading, shown)
    await this.#meet(channelId, messageId, reading.event)
    this.#stopIfOver()
    const { positions, sink } = this.#ports
    const cursor = moves ? positions.cursorFor(channelId, messageId) : undefined
    await sink.accept(answered === true ? asAnswered(reading.event) : reading.event, cursor, shown)
    failpoint('CP2-committed')
    if (cursor !== undefined) positions.moved(channelId, messageId)
    // The position is all the acknowledgement there is, and it was committed with the message.
    failpoint('CP3-acked')
  }

  /** An edit or a deletion; it moves no position. */
  async #takeChange(channelId: string, hint: unknown, read: Reader): Promise<void> {
    const place = await this.#placeOf(channelId, hint)
    const reading = place && read(this.#context(place))
    const shown = readableByOthers(place, hint)
    if (reading?.kind !== 'event') return this.#drop(reading, shown)
    this.#stopIfOver()
    await this.#ports.sink.accept(reading.event, undefined, shown)
  }

  /** A channel met for the first time begins right before this message, also after a crash. */
  async #meet(channelId: string, messageId: string, { address, sender }: InboundEvent): Promise<void> {
    const person = address.chatType === 'direct' ? { person: sender.id } : {}
    if (address.chatType === 'direct') this.#ports.directs.learn(sender.id, channelId)
    if (this.#ports.positions.heard(channelId)) return
    this.#stopIfOver()
    await this.#note({ id: channelId, after: before(messageId), ...person })
  }

  async #note(channel: KnownChannel): Promise<void> {
    this.#ports.positions.meet([channel], this.#waits)
    await this.#ports.positions.write()
  }

  #placeOf(channelId: string, hint: unknown): Promise<ChannelFacts | undefined> {
    const { client, signal, positions, connection } = this.#ports
    const cached = (id: string) => connection()?.channel(id)
    return findPlace({ client, signal, cached, personOf: (id) => positions.get(id)?.person }, channelId, hint)
  }

  #context(place: ChannelFacts): InboundContext {
    const { account, botId } = this.#ports
    return { account, botId, place, commands: this.#ports.commands() }
  }

  /** `shown`: what others could read all the same. */
  #drop(reading: InboundReading | undefined, shown?: unknown): void {
    if (this.#ports.signal.aborted) return
    this.#ports.sink.unknown(reading?.kind === 'dropped' ? reading.why : 'message:unknown_channel', shown)
  }

  #stopIfOver(): void {
    if (this.#ports.signal.aborted) throw new ParleyError('aborted', 'the channel was stopped')
  }
}
