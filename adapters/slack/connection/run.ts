import type { AdapterServices, ChannelSink } from '../../../src/channels/adapter.ts'
import { ParleyError, toError } from '../../../src/core/errors.ts'
import type { AccountId } from '../../../src/core/ids.ts'
import type { InboundEvent } from '../../../src/core/message.ts'
import type { AccountHealth } from '../../shared/account-health.ts'
import { type Fields, isFields } from '../../shared/fields.ts'
import type { InboundReading } from '../../shared/reading.ts'
import { ReceiptProof } from '../../shared/receipt-proof.ts'
import { toChatType } from '../address.ts'
import type { SlackConfig } from '../config.ts'
import { CatchUp } from '../inbound/catch-up.ts'
import { CommandNames } from '../inbound/command-names.ts'
import { Directory } from '../inbound/directory.ts'
import { createIntake } from '../inbound/intake.ts'
import { type ChatPositions, createPositions } from '../inbound/positions.ts'
import { innerEvent, readEventBody } from '../inbound/read-event.ts'
import { sharedAuthor, sharesOf } from '../inbound/read-message.ts'
import { isSlashCommand, readSlashCommand } from '../inbound/read-slash-command.ts'
import type { BotFacts, InboundContext } from '../inbound/reading.ts'
import type { SlackClient } from './client.ts'
import { askWho } from './greet.ts'
import { HttpReceiver } from './http-receiver.ts'
import { Silence } from './silence.ts'
import { type ReceiverPorts, SocketReceiver } from './socket-receiver.ts'
import { TokenWatch } from './token-watch.ts'

interface RunParts {
  readonly account: AccountId
  readonly bot: BotFacts
  readonly config: SlackConfig
  readonly services: AdapterServices
  readonly health: AccountHealth
  readonly client: SlackClient
  readonly sink: ChannelSink
  readonly abort: AbortController
}

/** What began with one `start` and ends with `stop`. */
export interface AccountRun {
  readonly abort: AbortController
  readonly receiver: SocketReceiver | HttpReceiver
  readonly tokens: TokenWatch
  readonly commands: CommandNames
  /** Resolves once messages can arrive. @throws ChannelDown */
  start(): Promise<void>
}

/** Events after which the bot token may be good for nothing. */
const TOKEN_EVENTS: ReadonlySet<unknown> = new Set(['tokens_revoked', 'app_uninstalled'])

export function createRun(parts: RunParts): AccountRun {
  const { health, client, sink, abort, services } = parts
  const { signal } = abort
  const tokens = new TokenWatch({
    client,
    clock: services.clock,
    signal,
    onRefused: (detail) => health.trouble('token', detail),
    onGood: () => health.mended('token'),
  })
  const commands = new CommandNames(sink.state)
  const positions = createPositions(sink.state)
  let greeted = false
  const silence = new Silence(services.clock)
  const ports: ReceiverPorts = {
    unknown: (kind) => sink.unknown(kind),
    onAlive: () => silence.heard(),
    onProof: () => {
      health.proven()
      proof.found()
    },
    onTrouble: (detail) => {
      silence.begins()
      proof.lost()
      health.trouble('connection', detail)
    },
    onConnected: () => {
      // A token that was revoked meanwhile shows only here: its events simply stop.
      if (!proof.seek() && greeted) tokens.check()
      if (!greeted) catchUp.begin()
      greeted = true
    },
  }
  const receiver = createReceiver(parts, ports)
  const proof = new ReceiptProof({
    clock: services.clock,
    signal,
    async ask(asking) {
      const outcome = await askWho(client, asking)
      if (asking.aborted) return false
      if (outcome.kind === 'answered') health.proven()
      tokens.see(outcome)
      // A refusal of the platform is an answer too; what is wrong with the token is told by itself.
      return outcome.kind === 'answered' || (outcome.kind === 'refused' && outcome.stranger === undefined)
    },
    proven: () => {
      health.mended('connection')
      if (silence.ends() > REPEATED_MS) catchUp.begin()
    },
    unproven: () => receiver instanceof SocketReceiver && receiver.giveUp(),
  })
  const door = new Door(parts, { tokens, commands, positions })
  const accept = (body: Fields): Promise<void> => door.accept(body)
  const catchUp = new CatchUp({
    client,
    clock: services.clock,
    random: () => services.random(),
    signal,
    positions,
    accept,
    sink,
  })
  receiver.use(createIntake(receiver, { accept, unknown: ports.unknown }))
  return {
    abort,
    receiver,
    tokens,
    commands,
    async start() {
      await Promise.all([commands.load(), positions.load()])
      await receiver.start()
    },
  }
}

/** Shorter interruptions the platform bridges by itself: it repeats what was not acknowledged. */
const REPEATED_MS = 60_000

function createReceiver({ config, services }: RunParts, ports: ReceiverPorts): AccountRun['receiver'] {
  const { mode, appToken = '', signingSecret = '', apiRoot, listen } = config
  const { clock } = services
  if (mode === 'http') return new HttpReceiver({ signingSecret, listen, clock }, ports)
  return new SocketReceiver({ appToken, apiRoot, clock, random: () => services.random() }, ports)
}

/** Where both receivers come in: what an event leaves out is looked up, then it is read and stored. */
class Door {
  readonly #parts: RunParts
  readonly #tokens: TokenWatch
  readonly #commands: CommandNames
  readonly #positions: ChatPositions
  readonly #directory: Directory
  /** Events are stored in the order they came, whatever each had to look up. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(
    parts: RunParts,
    { tokens, commands, positions }: Pick<AccountRun, 'tokens' | 'commands'> & { readonly positions: ChatPositions },
  ) {
    const { client, services, abort } = parts
    this.#parts = parts
    this.#tokens = tokens
    this.#commands = commands
    this.#positions = positions
    this.#directory = new Directory({ client, clock: services.clock, signal: abort.signal })
  }

  /** Resolves after the commit; rejects when it could not be stored. */
  async accept(body: Fields): Promise<void> {
    const { sink, abort, health } = this.#parts
    const reading = isSlashCommand(body) ? this.#readSlash(body) : await this.#readEvent(body)
    if (abort.signal.aborted) throw new ParleyError('aborted', 'the channel was stopped')
    if (reading.kind === 'dropped') {
      if (TOKEN_EVENTS.has(innerEvent(body)?.type)) this.#tokens.check()
      sink.unknown(reading.why, readableByOthers(body))
      return
    }
    try {
      await this.#store(reading.event, readableByOthers(body))
      health.mended('store')
    } catch (error) {
      const detail = `messages cannot be stored, Slack repeats them for about 5 minutes: ${toError(error).message}`
      if (!abort.signal.aborted) health.trouble('store', detail)
      throw error
    }
  }

  /** A message is stored with the position of its conversation. */
  async #store(event: InboundEvent, shown: unknown): Promise<void> {
    const { sink } = this.#parts
    const written = event.kind === 'message' || (event.kind === 'command' && event.answerBy === undefined)
    if (!written) return sink.accept(event, undefined, shown)
    const { chat, chatType } = event.address
    this.#positions.heard(chat)
    this.#positions.meet([{ id: chat, chatType }], () => false)
    // Handed over before anything is waited for: events are stored in the order they came.
    await sink.accept(event, this.#positions.cursorFor(chat, event.messageId), shown)
    this.#positions.moved(chat, event.messageId)
    await this.#positions.write()
  }

  async #readEvent(body: Fields): Promise<InboundReading> {
    const context = this.#contextOf(body)
    this.#turn = context
    return readEventBody(body, await context)
  }

  /** Waits behind nothing: it says all there is to know, and the platform waits three seconds. */
  #readSlash(body: Fields): InboundReading {
    const { account, bot, services } = this.#parts
    return readSlashCommand(body, { account, bot, commands: this.#commands.all, receivedAt: services.clock.now() })
  }

  /** Never rejects; ends after those before it. */
  async #contextOf(body: Fields): Promise<InboundContext> {
    const before = this.#turn
    const { account, bot } = this.#parts
    const event = innerEvent(body) ?? {}
    // An edit's author stands in the message inside.
    const said = isFields(event.message) ? event.message : event
    const author = typeof said.user === 'string' ? said.user : undefined
    const ofPerson = author !== undefined && author !== bot.userId && said.bot_id === undefined
    const shared = sharedAuthor(said)
    const [chatType, sender, sharedBy] = await Promise.all([
      this.#chatTypeOf(event),
      ofPerson ? this.#directory.personOf(author) : undefined,
      shared === undefined ? undefined : this.#directory.personOf(shared),
    ])
    await before
    return {
      ...{ account, bot, commands: this.#commands.all, chatType },
      ...(sender?.name === undefined ? {} : { senderName: sender.name }),
      ...(sharedBy?.team === undefined ? {} : { authorTeam: sharedBy.team }),
    }
  }

  async #chatTypeOf({ channel, channel_type: told }: Fields): Promise<InboundContext['chatType']> {
    const known = toChatType(told)
    if (typeof channel !== 'string') return known ?? 'channel'
    if (known !== undefined) this.#directory.learnChat(channel, known)
    return known ?? this.#directory.chatTypeOf(channel)
  }
}

/**
 * Returns what others could read of an event: all of it in a place with several people in it, in a direct chat the messages
 * that are shared there.
 */
function readableByOthers(body: Fields): unknown {
  const event = innerEvent(body)
  if (typeof event?.channel !== 'string') return undefined
  if (toChatType(event.channel_type) !== 'direct' && !event.channel.startsWith('D')) return event
  const shares = sharesOf(isFields(event.message) ? event.message : event)
  return shares.length === 0 ? undefined : shares
}
