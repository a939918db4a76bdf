import type { ChannelSink } from '../../../src/channels/adapter.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { ParleyError } from '../../../src/core/errors.ts'
import { failpoint } from '../../../src/core/failpoint.ts'
import type { AccountId } from '../../../src/core/ids.ts'
import type { InboundEvent } from '../../../src/core/message.ts'
import { before, type ChannelFacts, isNewer, isSnowflake, snowflakeAt } from '../address.ts'
import type { DiscordClient } from '../connection/client.ts'
import type { GatewayConnection } from '../connection/gateway.ts'
import type { DirectChannels } from '../outbound/direct-channels.ts'
import type { Interactions } from '../outbound/interactions.ts'
import { type BackFillBudget, backFill, newBudget, sinceMoment, startOf } from './back-fill.ts'
import { Lanes } from './lanes.ts'
import { findPlace } from './places.ts'
import { Cursors, cursorFor, type Positions } from './positions.ts'
import { deletedIds, idsOf, readDelete, readEdit, readMessage } from './read-event.ts'
import { type InboundContext, type InboundReading, readableByOthers } from './reading.ts'
import { Slots } from './slots.ts'
import { InteractionIntake } from './take-interactions.ts'

export interface IntakePorts {
  readonly account: AccountId
  readonly botId: string
  readonly client: DiscordClient
  readonly directs: DirectChannels
  readonly interactions: Interactions
  readonly positions: Positions
  readonly sink: ChannelSink
  readonly clock: Clock
  readonly signal: AbortSignal
  random(): number
  connection(): GatewayConnection | undefined
  commands(): ReadonlySet<string> | undefined
  failed(error: unknown, channelId: string): void
}

interface Told {
  readonly message: unknown
  /** Everything up to this message was seen, so that the position may move over it. */
  readonly moves: boolean
}

type Reader = (context: InboundContext) => InboundReading

/** Channels read back at a time: the platform takes 50 requests a second, and answers have to leave too. */
const BACK_FILL_SLOTS = 5
const LOCATE_WITHIN_MS = 10_000
/** The lane of what belongs to no channel. */
const ACCOUNT_LANE = '0'

/**
 * Everything that was said, live or read back, goes through here: one reader, one gate, one order for each channel. The
 * gateway wants no acknowledgement; instead each message is committed with its position, and what came later than the
 * position is read back after every interruption.
 */
export class Intake {
  readonly #ports: IntakePorts
  readonly #lanes: Lanes
  readonly #slots = new Slots(BACK_FILL_SLOTS)
  readonly #interactions: InteractionIntake
  /** The end of what was told before this session. */
  #missedSince: number | undefined
  readonly #cursors: Cursors
  readonly #waits = (channelId: string): boolean => this.#lanes.has(channelId)
  /** No session is proven to tell everything: between two messages that are told one may be missing. */
  #interrupted = true
  /** Channels that told something during the interruption. */
  readonly #toldMeanwhile = new Set<string>()

  constructor(ports: IntakePorts) {
    this.#ports = ports
    const { clock, signal, failed } = ports
    const catchUp = (id: string) => () => this.#catchUp(id, newBudget())
    this.#interactions = new InteractionIntake(ports)
    this.#cursors = new Cursors(ports.positions)
    this.#lanes = new Lanes({ clock, signal, failed, random: () => ports.random(), catchUp })
  }

  /** Called for whatever a session tells. Before it is proven it may yet have to tell what came earlier. */
  heard(): void {
    if (!this.#interrupted) this.#ports.positions.heard(this.#ports.clock.now())
  }

  message(message: unknown): void {
    failpoint('CP1-received')
    const ids = idsOf(message)
    if (ids === undefined) {
      this.#ports.sink.unknown('malformed:message')
      return
    }
    const moves = !this.#interrupted
    if (!moves) this.#toldMeanwhile.add(ids.channelId)
    this.#lanes.push(ids.channelId, () => this.#take(ids.channelId, ids.id, { message, moves }))
  }

  edit(message: unknown): void {
    const ids = idsOf(message)
    if (ids === undefined) this.#ports.sink.unknown('malformed:edit')
    else this.#lanes.push(ids.channelId, () => this.#takeChange(ids.channelId, message, (at) => readEdit(message, at)))
  }

  interaction(data: unknown): void {
    this.#interactions.take(data)
  }

  delete(data: unknown): void {
    const { ids, channelId } = deletedIds(data)
    if (ids.length === 0) this.#ports.sink.unknown('malformed:delete')
    const person = this.#ports.positions.personOf(channelId)
    const read = (id: string) => () => this.#takeChange(channelId, null, (at) => readDelete(id, { ...at, person }))
    for (const id of ids) this.#lanes.push(channelId, read(id))
  }

  /** Called when a connection breaks: until the next session, or this one again, positions stay where they are. */
  interrupted(): void {
    this.#interrupted = true
  }

  /** After a new session: whatever has a newer message than we have read, and every direct chat we know. */
  ready(connection: GatewayConnection): void {
    const { positions, clock } = this.#ports
    const [visible, now] = [connection.channels(), clock.now()]
    this.#missedSince = positions.seenAt
    const met = visible.map((channel) => ({ id: channel.id, after: startOf(channel, this.#missedSince) }))
    // At once: each is read back in its own lane, which does not wait for that of the account.
    positions.add(met, this.#waits)
    this.#lanes.push(ACCOUNT_LANE, () => positions.saw(now))
    const further = new Set([...positions.directs().map(({ id }) => id), ...this.#toldMeanwhile])
    const budget = newBudget()
    for (const { id, lastMessageId: newest } of visible)
      if (newest !== null && !further.has(id)) this.#lanes.push(id, () => this.#catchUp(id, budget, newest))
    this.#readBack(further, budget)
    this.#proven()
  }

  /** After a resume: the platform has told what was missed, and is known to have forgotten some of it. */
  resumed(): void {
    this.#readBack(new Set([...this.#cursors.latest(), ...this.#toldMeanwhile]))
    this.#proven()
  }

  /** Called while the line is alive and the session not interrupted: everything up to now was told. */
  seen(): void {
    this.#lanes.push(ACCOUNT_LANE, () => this.#ports.positions.keepHeard())
  }

  /**
   * People whose direct chat is to be known before they first write in it: what they write while nobody listens is in no
   * list of the platform's, only in that chat. Rejects when the platform did not answer.
   */
  async expect(people: readonly string[]): Promise<void> {
    const { directs, positions, signal, clock } = this.#ports
    const known = new Set(positions.directs().map(({ person }) => person))
    const after = this.#missedSince === undefined ? snowflakeAt(clock.now()) : sinceMoment(this.#missedSince)
    for (const person of people.filter((id) => isSnowflake(id) && !known.has(id))) {
      const located = await directs.locate({ kind: 'person', id: person }, { signal, deadlineMs: LOCATE_WITHIN_MS })
      if (!('id' in located)) continue
      await positions.note([{ id: located.id, after, person }], this.#waits)
      this.#readBack(new Set([located.id]))
    }
  }

  async idle(): Promise<void> {
    await Promise.all([this.#lanes.idle(), this.#interactions.idle()])
  }

  /** Reads each from its position on, behind what was told meanwhile. */
  #readBack(channels: ReadonlySet<string>, budget: BackFillBudget = newBudget()): void {
    for (const id of channels) this.#lanes.push(id, () => this.#catchUp(id, budget))
  }

  #proven(): void {
    this.#toldMeanwhile.clear()
    this.#interrupted = false
    this.heard()
  }

  async #take(channelId: string, messageId: string, { message, moves: inOrder }: Told): Promise<void> {
    const place = await this.#placeOf(channelId, message)
    const reading = place && readMessage(message, this.#context(place))
    const shown = readableByOthers(place, message)
    if (reading?.kind !== 'event') return this.#drop(reading, shown)
    const cursor = await this.#meet(channelId, messageId, reading.event)
    this.#stopIfOver()
    const moves = inOrder && isNewer(messageId, cursor) && this.#ports.positions.isKnown(channelId)
    await this.#ports.sink.accept(reading.event, moves ? cursorFor(channelId, messageId) : undefined, shown)
    failpoint('CP2-committed')
    if (moves) this.#cursors.moved(channelId, messageId)
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

  async #catchUp(channelId: string, budget: BackFillBudget, newest?: string): Promise<void> {
    const cursor = await this.#cursors.of(channelId)
    if (cursor === undefined || (newest !== undefined && !isNewer(newest, cursor))) return
    const { client, signal, positions, sink } = this.#ports
    const found = await this.#slots.run(() => backFill({ client, signal }, { channelId, after: cursor, budget }))
    for (const { id, message } of found.messages) await this.#take(channelId, id, { message, moves: true })
    const last = found.messages.at(-1)?.id
    // What stood last was none of ours, such as our own answer: it need not be read again.
    if (last !== undefined && isNewer(last, (await this.#cursors.of(channelId)) ?? cursor)) {
      this.#stopIfOver()
      await positions.pass(channelId, last)
      this.#cursors.moved(channelId, last)
    }
    if (found.left !== undefined) sink.unknown(`back_fill:${found.left}`)
  }

  /** The channel's position. One met for the first time begins right before this message, also after a crash. */
  async #meet(channelId: string, messageId: string, { address, sender }: InboundEvent): Promise<string> {
    const person = address.chatType === 'direct' ? { person: sender.id } : {}
    if (address.chatType === 'direct') this.#ports.directs.learn(sender.id, channelId)
    if (!this.#ports.positions.met(channelId)) {
      this.#stopIfOver()
      await this.#ports.positions.note([{ id: channelId, after: before(messageId), ...person }], this.#waits)
    }
    return (await this.#cursors.of(channelId)) ?? before(messageId)
  }

  #placeOf(channelId: string, hint: unknown): Promise<ChannelFacts | undefined> {
    const { client, signal, positions, connection } = this.#ports
    const cached = (id: string) => connection()?.channel(id)
    return findPlace({ client, signal, cached, personOf: (id) => positions.personOf(id) }, channelId, hint)
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
