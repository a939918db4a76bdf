import type { ChannelSink } from '../../../src/channels/adapter.ts'
import { ParleyError } from '../../../src/core/errors.ts'
import { failpoint } from '../../../src/core/failpoint.ts'
import type { InboundEvent } from '../../../src/core/message.ts'
import { isFields } from '../../shared/fields.ts'
import { asAnswered } from '../../shared/read-back.ts'
import { dropped, type InboundReading } from '../../shared/reading.ts'
import { before, type ChannelFacts, readChannel, toKind } from '../address.ts'
import type { DiscordClient } from '../connection/client.ts'
import type { GatewayConnection } from '../connection/gateway.ts'
import type { DirectChannels } from '../outbound/direct-channels.ts'
import type { KnownNames } from './known-names.ts'
import type { ChannelPositions, KnownChannel } from './positions.ts'
import { isLoading, readDelete, readEdit, readMessage } from './read-event.ts'
import { type InboundContext, readableByOthers } from './reading.ts'

export interface MessagePorts {
  readonly account: InboundContext['account']
  readonly botId: string
  readonly client: DiscordClient
  readonly directs: DirectChannels
  readonly positions: ChannelPositions
  readonly sink: ChannelSink
  readonly signal: AbortSignal
  readonly names: KnownNames
  connection(): GatewayConnection | undefined
  commands(): ReadonlySet<string> | undefined
}

/**
 * `moves`: everything up to it was seen, so that the position may move over it. `answered`: an answer of ours was seen.
 */
type ReceivedMessage = { readonly message: unknown; readonly moves: boolean; readonly answered?: boolean }

type Reader = (context: InboundContext) => InboundReading

const MOST_SHOWN = 500
/** The value of an answer whose words are still to come. */
const LOADING = ''

/** Takes in one message at a time, an edit or a deletion of one: by one reader, whether it is live or read back. */
export class MessageReceiver {
  readonly #ports: MessagePorts
  readonly #meet: (channels: readonly KnownChannel[]) => void
  /** The words of the newest messages of apps and of edited ones, by id: updates may change something else. */
  readonly #shown = new Map<string, string>()

  /** `meet` remembers channels that are met for the first time. */
  constructor(ports: MessagePorts, meet: (channels: readonly KnownChannel[]) => void) {
    this.#ports = ports
    this.#meet = meet
  }

  /** Rejects when it could not be stored. */
  async take(channelId: string, messageId: string, { message, moves, answered }: ReceivedMessage): Promise<void> {
    const place = await this.#placeOf(channelId, message)
    const reading = place && readMessage(message, this.#context(place))
    const shown = readableByOthers(place, message)
    if (isLoading(message)) this.#keep(messageId, LOADING)
    if (reading?.kind !== 'event') return this.#drop(reading, shown)
    await this.#know(channelId, messageId, reading.event)
    this.#stopIfOver()
    const { positions, sink } = this.#ports
    const cursor = moves ? positions.cursorFor(channelId, messageId) : undefined
    await sink.accept(answered === true ? asAnswered(reading.event) : reading.event, cursor, shown)
    failpoint('CP2-committed')
    this.#note(reading.event, message)
    if (cursor !== undefined) positions.moved(channelId, messageId)
    // The position is all the acknowledgement there is, and it was committed with the message.
    failpoint('CP3-acked')
  }

  /** Returns what a message of a thread says, without storing it; undefined for one that is none of ours to read. */
  async read(channelId: string, message: unknown): Promise<InboundEvent | undefined> {
    const place = await this.#placeOf(channelId, message)
    const reading = place && readMessage(message, { ...this.#context(place), readsOwn: true })
    return reading?.kind === 'event' ? reading.event : undefined
  }

  /** The words of an answer that was announced before they were there come as an update, and are its first. */
  edit(channelId: string, messageId: string, message: unknown): Promise<void> {
    if (this.#shown.get(messageId) === LOADING && !isLoading(message))
      return this.take(channelId, messageId, { message, moves: false })
    return this.#takeChange(channelId, message, (at) => {
      const reading = readEdit(message, at)
      const isSame = reading.kind === 'event' && wordsOf(reading.event) === (this.#shown.get(messageId) ?? null)
      return isSame ? dropped('edit:same_words') : reading
    })
  }

  delete(channelId: string, messageId: string): Promise<void> {
    const person = this.#ports.positions.get(channelId)?.person
    return this.#takeChange(channelId, null, (at) => readDelete(messageId, { ...at, person }))
  }

  /** An edit or a deletion; it moves no position. */
  async #takeChange(channelId: string, hint: unknown, read: Reader): Promise<void> {
    const place = await this.#placeOf(channelId, hint)
    const reading = place && read(this.#context(place))
    const shown = readableByOthers(place, hint)
    if (reading?.kind !== 'event') return this.#drop(reading, shown)
    this.#stopIfOver()
    await this.#ports.sink.accept(reading.event, undefined, shown)
    this.#note(reading.event, hint)
  }

  /** Later updates of a person's message are edits only once it was edited, as they then have the time of that. */
  #note(event: InboundEvent, message: unknown): void {
    if (event.sender.kind !== 'bot' && !(isFields(message) && typeof message.edited_timestamp === 'string')) return
    const words = wordsOf(event)
    if (words !== undefined && 'messageId' in event) this.#keep(event.messageId, words)
  }

  #keep(messageId: string, words: string): void {
    this.#shown.delete(messageId)
    this.#shown.set(messageId, words)
    const [oldest] = this.#shown.keys()
    if (this.#shown.size > MOST_SHOWN && oldest !== undefined) this.#shown.delete(oldest)
  }

  /** A channel met for the first time begins right before this message, also after a crash. */
  async #know(channelId: string, messageId: string, { address, sender }: InboundEvent): Promise<void> {
    const person = address.chatType === 'direct' ? { person: sender.id } : {}
    if (address.chatType === 'direct') this.#ports.directs.learn(sender.id, channelId)
    if (this.#ports.positions.received(channelId)) return
    this.#stopIfOver()
    this.#meet([{ id: channelId, after: before(messageId), ...person }])
    await this.#ports.positions.write()
  }

  #placeOf(channelId: string, hint: unknown): Promise<ChannelFacts | undefined> {
    const { client, signal, positions, connection } = this.#ports
    const cached = (id: string) => connection()?.channel(id)
    return findPlace({ client, signal, cached, personOf: (id) => positions.get(id)?.person }, channelId, hint)
  }

  #context(place: ChannelFacts): InboundContext {
    const { account, botId, names, commands } = this.#ports
    return { account, botId, place, names, commands: commands() }
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

/** Returns what people read of a message; previews of pages come and go under one. */
function wordsOf(event: InboundEvent): string | undefined {
  if (!('text' in event)) return undefined
  const { text, forwarded, attachments } = event
  return JSON.stringify([text, forwarded?.text, attachments.map(({ ref }) => ref)])
}

interface PlacePorts {
  readonly client: DiscordClient
  readonly signal: AbortSignal
  /** Returns the gateway's data about a channel. */
  cached(id: string): ChannelFacts | undefined
  personOf(id: string): string | undefined
}

const DEADLINE_MS = 10_000

/**
 * The facts of a channel: from the gateway, from the dispatch itself (direct chats are in no list), or asked for.
 * Undefined where the platform does not say. Throws when it did not answer.
 */
async function findPlace(ports: PlacePorts, id: string, hint: unknown): Promise<ChannelFacts | undefined> {
  const known = ports.cached(id) ?? fromDispatch(id, hint)
  if (known !== undefined) return known
  if (ports.personOf(id) !== undefined) return { id, kind: 'direct' }
  const { client, signal } = ports
  const outcome = await client.call({ verb: 'GET', path: `/channels/${id}` }, { signal, deadlineMs: DEADLINE_MS })
  if (outcome.kind === 'failed') throw new Error(`a channel could not be looked up: ${outcome.reason}`)
  return outcome.kind === 'answered' && isFields(outcome.result) ? readChannel({ ...outcome.result, id }) : undefined
}

/** `channel_type` alone says it for direct chats; a place in a guild needs its parent too. */
function fromDispatch(id: string, hint: unknown): ChannelFacts | undefined {
  if (!isFields(hint)) return undefined
  const kind = toKind(hint.channel_type)
  return kind === 'direct' || kind === 'group' ? { id, kind } : undefined
}
