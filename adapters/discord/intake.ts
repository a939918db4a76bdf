import type { ChannelSink } from '../../src/channels/adapter.ts'
import type { Clock } from '../../src/core/clock.ts'
import { ParleyError } from '../../src/core/errors.ts'
import { failpoint } from '../../src/core/failpoint.ts'
import type { AccountId } from '../../src/core/ids.ts'
import { before, type ChannelFacts, isNewer, isSnowflake, snowflakeAt } from './address.ts'
import { type BackFillBudget, backFill, startOf } from './back-fill.ts'
import type { DiscordClient } from './client.ts'
import type { DirectChannels } from './direct-channels.ts'
import { fieldsOf } from './fields.ts'
import type { GatewayConnection } from './gateway.ts'
import { deletedIds, idsOf, readDelete, readEdit, readMessage } from './inbound.ts'
import { interactionIds, readInteraction } from './inbound-interaction.ts'
import type { Interactions } from './interactions.ts'
import { Lanes } from './lanes.ts'
import { findPlace } from './places.ts'
import { cursorFor, type Positions } from './positions.ts'
import type { InboundContext, InboundReading } from './reading.ts'
import { Slots } from './slots.ts'

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

/** Messages read back after one interruption, over all channels (RELIABILITY 3.1: bounded in total). */
const BACK_FILL_TOTAL = 2000
/** Channels read back at a time: the platform takes 50 requests a second, and answers have to leave too. */
const BACK_FILL_SLOTS = 5
/** Channels looked at after a resume, the ones read last first: what is missed there is missed in busy ones. */
const RESUMED_CHANNELS = 50
const LOCATE_WITHIN_MS = 10_000

/**
 * Everything that was said, live or read back, goes through here: one reader, one gate, one order for each channel. The
 * gateway wants no acknowledgement; instead each message is committed with its position, and what came later than the
 * position is read back after every interruption.
 */
export class Intake {
  readonly #ports: IntakePorts
  readonly #lanes: Lanes
  readonly #slots = new Slots(BACK_FILL_SLOTS)
  readonly #interactions = new Set<Promise<void>>()
  /** The end of what was told before this session. */
  #missedSince: number | undefined
  /** The position of each channel read in this process, the one read last at the end. */
  readonly #cursors = new Map<string, string>()

  constructor(ports: IntakePorts) {
    this.#ports = ports
    const { clock, signal, failed } = ports
    const catchUp = (id: string) => () => this.#catchUp(id, { left: BACK_FILL_TOTAL })
    this.#lanes = new Lanes({ clock, signal, failed, random: () => ports.random(), catchUp })
  }

  message(message: unknown): void {
    failpoint('CP1-received')
    const ids = idsOf(message)
    if (ids === undefined) this.#ports.sink.unknown('malformed:message')
    else this.#lanes.push(ids.channelId, () => this.#take(ids.channelId, ids.id, message))
  }

  edit(message: unknown): void {
    const ids = idsOf(message)
    if (ids === undefined) this.#ports.sink.unknown('malformed:edit')
    else this.#lanes.push(ids.channelId, () => this.#takeChange(ids.channelId, message, (at) => readEdit(message, at)))
  }

  /**
   * A slash command waits behind nothing: the platform gives up on it after three seconds, and gives none a second time.
   * It is acknowledged after its commit.
   */
  interaction(data: unknown): void {
    failpoint('CP1-received')
    const work = this.#takeInteraction(data)
      .catch((error: unknown) => this.#ports.failed(error, 'interaction'))
      .finally(() => this.#interactions.delete(work))
    this.#interactions.add(work)
  }

  delete(data: unknown): void {
    const { ids, channelId } = deletedIds(data)
    if (ids.length === 0) this.#ports.sink.unknown('malformed:delete')
    const person = this.#ports.positions.personOf(channelId)
    const read = (id: string) => () => this.#takeChange(channelId, null, (at) => readDelete(id, { ...at, person }))
    for (const id of ids) this.#lanes.push(channelId, read(id))
  }

  /** After a new session: whatever has a newer message than we have read, and every direct chat we know. */
  ready(connection: GatewayConnection): void {
    const visible = connection.channels()
    this.#missedSince = this.#ports.positions.seenAt
    const met = visible.map((channel) => ({ id: channel.id, after: startOf(channel, this.#missedSince) }))
    this.seen()
    this.#lanes.push('0', () => this.#ports.positions.note(met))
    const budget = { left: BACK_FILL_TOTAL }
    for (const { id, lastMessageId } of visible) {
      if (lastMessageId !== null) this.#lanes.push(id, () => this.#catchUp(id, budget, lastMessageId))
    }
    for (const { id } of this.#ports.positions.directs()) this.#lanes.push(id, () => this.#catchUp(id, budget))
  }

  /** After a resume: the platform has told what was missed, and is known to have forgotten some of it. */
  resumed(): void {
    const budget = { left: BACK_FILL_TOTAL }
    for (const id of [...this.#cursors.keys()].slice(-RESUMED_CHANNELS)) {
      this.#lanes.push(id, () => this.#catchUp(id, budget))
    }
  }

  /** Everything said up to now was told, or is being read back. */
  seen(): void {
    const { positions, clock, failed } = this.#ports
    positions.saw(clock.now()).catch((error: unknown) => failed(error, 'seen'))
  }

  /**
   * People whose direct chat is to be known before they first write in it: what they write while nobody listens is in no
   * list of the platform's, only in that chat. Rejects when the platform did not answer.
   */
  async expect(people: readonly string[]): Promise<void> {
    const { directs, positions, signal, clock } = this.#ports
    const known = new Set(positions.directs().map(({ person }) => person))
    for (const person of people.filter((id) => isSnowflake(id) && !known.has(id))) {
      const located = await directs.locate({ kind: 'person', id: person }, { signal, deadlineMs: LOCATE_WITHIN_MS })
      if (!('id' in located)) continue
      const { id } = located
      await positions.note([{ id, after: snowflakeAt(this.#missedSince ?? clock.now()), person }])
      this.#lanes.push(id, () => this.#catchUp(id, { left: BACK_FILL_TOTAL }))
    }
  }

  async idle(): Promise<void> {
    await Promise.all([this.#lanes.idle(), ...this.#interactions])
  }

  async #takeInteraction(data: unknown): Promise<void> {
    const { account, botId, sink, interactions, signal } = this.#ports
    const reading = readInteraction(data, { account, botId })
    if (reading.kind !== 'event') return this.#drop(reading)
    this.#stopIfOver()
    await sink.accept(reading.event)
    failpoint('CP2-committed')
    const outcome = await interactions.acknowledge(interactionIds(fieldsOf(data)), signal)
    if (outcome.kind !== 'answered') sink.unknown('interaction:not_acknowledged')
    failpoint('CP3-acked')
  }

  async #take(channelId: string, messageId: string, message: unknown): Promise<void> {
    const place = await this.#placeOf(channelId, message)
    const reading = place && readMessage(message, this.#context(place))
    if (reading?.kind !== 'event') return this.#drop(reading, place?.kind === 'direct' ? undefined : message)
    const cursor = await this.#meet(channelId, messageId, reading)
    this.#stopIfOver()
    const moves = isNewer(messageId, cursor)
    await this.#ports.sink.accept(reading.event, moves ? cursorFor(channelId, messageId) : undefined)
    failpoint('CP2-committed')
    if (moves) this.#moved(channelId, messageId)
    // The position is all the acknowledgement there is, and it was committed with the message.
    failpoint('CP3-acked')
  }

  /** An edit or a deletion; it moves no position. */
  async #takeChange(
    channelId: string,
    hint: unknown,
    read: (context: InboundContext) => InboundReading,
  ): Promise<void> {
    const place = await this.#placeOf(channelId, hint)
    const reading = place && read(this.#context(place))
    if (reading?.kind !== 'event') return this.#drop(reading, place?.kind === 'direct' ? undefined : hint)
    this.#stopIfOver()
    await this.#ports.sink.accept(reading.event)
  }

  async #catchUp(channelId: string, budget: BackFillBudget, newest?: string): Promise<void> {
    const cursor = await this.#cursorOf(channelId)
    if (cursor === undefined || (newest !== undefined && !isNewer(newest, cursor))) return
    const { client, signal, positions, sink } = this.#ports
    const found = await this.#slots.run(() => backFill({ client, signal }, { channelId, after: cursor, budget }))
    for (const { id, message } of found.messages) await this.#take(channelId, id, message)
    const last = found.messages.at(-1)?.id
    // What stood last was none of ours, such as our own answer: it need not be read again.
    if (last !== undefined && isNewer(last, this.#cursors.get(channelId) ?? cursor)) {
      this.#stopIfOver()
      await positions.pass(channelId, last)
      this.#moved(channelId, last)
    }
    if (found.left !== undefined) sink.unknown(`back_fill:${found.left}`)
  }

  /** The channel's position. One met for the first time begins right before this message, also after a crash. */
  async #meet(
    channelId: string,
    messageId: string,
    reading: Extract<InboundReading, { kind: 'event' }>,
  ): Promise<string> {
    const { address, sender } = reading.event
    const person = address.chatType === 'direct' ? { person: sender.id } : {}
    if (address.chatType === 'direct') this.#ports.directs.learn(sender.id, channelId)
    if (!this.#ports.positions.isKnown(channelId)) {
      this.#stopIfOver()
      await this.#ports.positions.note([{ id: channelId, after: before(messageId), ...person }])
    }
    return (await this.#cursorOf(channelId)) ?? before(messageId)
  }

  async #cursorOf(channelId: string): Promise<string | undefined> {
    const cursor = this.#cursors.get(channelId) ?? (await this.#ports.positions.read(channelId))
    if (cursor !== undefined && !this.#cursors.has(channelId)) this.#cursors.set(channelId, cursor)
    return cursor
  }

  #moved(channelId: string, messageId: string): void {
    this.#cursors.delete(channelId)
    this.#cursors.set(channelId, messageId)
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
