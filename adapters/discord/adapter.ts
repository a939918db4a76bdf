import {
  type AccountSettings,
  type AdapterServices,
  type ChannelAdapter,
  ChannelDown,
  type ChannelHealth,
  type ChannelSink,
  type OutboundPart,
  type RenderedPart,
} from '../../src/channels/adapter.ts'
import type {
  AnswersPrivately,
  DeletesMessages,
  EditsMessages,
  FetchesFiles,
  FilePart,
  FindsOwnMessages,
  FoundMessage,
  LostMessage,
  MenuCommand,
  MessageTarget,
  PrivatePart,
  ProvesSending,
  Reacts,
  ReadsThreads,
  RegistersCommands,
  SendingProof,
  SendsFiles,
  ShowsTyping,
  WantedFile,
} from '../../src/channels/capabilities.ts'
import type { Address } from '../../src/core/address.ts'
import { within } from '../../src/core/clock.ts'
import { ParleyError } from '../../src/core/errors.ts'
import { type AccountId, toAccountId } from '../../src/core/ids.ts'
import type { FetchedFile } from '../../src/core/media.ts'
import type { DeliveryReceipt } from '../../src/core/outbound.ts'
import type { ThreadPlace, ThreadRead } from '../../src/core/thread.ts'
import { AccountHealth } from '../shared/account-health.ts'
import { linkedAbort } from '../shared/deadline.ts'
import type { DiscordConfig } from './config.ts'
import { createClient, type DiscordClient } from './connection/client.ts'
import { greet } from './connection/greet.ts'
import { type AccountRun, createRun, type RunDeps } from './connection/run.ts'
import { fetchFile, MOST_FILE_BYTES } from './inbound/fetch-file.ts'
import { createPositions, Seen } from './inbound/positions.ts'
import { readThread } from './inbound/read-thread.ts'
import { answerPrivately } from './outbound/answer-privately.ts'
import { registerMenu } from './outbound/command-menu.ts'
import { DirectChannels } from './outbound/direct-channels.ts'
import { findOwn } from './outbound/find-own.ts'
import { Interactions } from './outbound/interactions.ts'
import { createOutbound, type DiscordOutbound, type Ports } from './outbound/send.ts'
import { sendFile } from './outbound/send-file.ts'

/** `stop` waits this long for accepts in flight. */
const STOP_GRACE_MS = 5000

/** One bot account on Discord: receives by the gateway library of discord.js, sends by its REST client. */
export class DiscordAdapter
  implements
    ChannelAdapter,
    AnswersPrivately,
    EditsMessages,
    FetchesFiles,
    DeletesMessages,
    Reacts,
    ShowsTyping,
    ProvesSending,
    ReadsThreads,
    RegistersCommands,
    FindsOwnMessages,
    SendsFiles
{
  readonly id = 'discord'
  readonly mostFileBytes = MOST_FILE_BYTES
  /** The platform's ten seconds, less the way. */
  readonly typingLastsMs = 9000
  /** The documentation says "the past few minutes"; two are safe. */
  readonly sameKeyWindowMs = 120_000
  readonly #account: AccountId
  readonly #config: DiscordConfig
  readonly #services: AdapterServices
  readonly #client: DiscordClient
  readonly #directs: DirectChannels
  readonly #sending: Ports
  readonly #outbound: DiscordOutbound
  readonly #interactions: Interactions
  #commands: ReadonlySet<string> | undefined
  readonly #health: AccountHealth
  #run: AccountRun | undefined

  constructor({ account, config, services }: AccountSettings<DiscordConfig>) {
    const { token, apiRoot } = config
    const { clock, logger } = services
    this.#account = toAccountId(account)
    this.#config = config
    this.#services = services
    const onPaused = (ms: number): void =>
      logger.warn('Discord refuses so much that nothing is sent for a while.', { account, pauseMs: ms })
    this.#client = createClient({ token, apiRoot, clock, onPaused })
    this.#directs = new DirectChannels(this.#client)
    this.#sending = { client: this.#client, directs: this.#directs, clock, answerless: new Map() }
    this.#outbound = createOutbound(this.#sending)
    this.#interactions = new Interactions({ client: this.#client, clock })
    this.#health = new AccountHealth({
      platform: 'Discord',
      account: this.#account,
      receives: 'by its gateway',
      clock,
      logger,
    })
  }

  async start(sink: ChannelSink, signal: AbortSignal): Promise<void> {
    if (this.#run?.abort.signal.aborted === false)
      throw new ParleyError('conflict', 'this Discord account was started already')
    const abort = linkedAbort(signal)
    this.#health.enter('starting')
    try {
      const identity = await greet(this.#client, abort.signal)
      this.#health.know(identity, [])
      const positions = createPositions(sink.state)
      const seen = new Seen(sink.state, this.#services.clock)
      await Promise.all([positions.load(), seen.load()])
      for (const { id, person } of positions.values()) if (person !== undefined) this.#directs.learn(person, id)
      const run = this.#begin(abort, { sink, positions, seen, botId: identity.id, botName: identity.displayName })
      this.#run = run
      await run.keeper.start()
      if (!abort.signal.aborted) this.#health.enter('running')
    } catch (error) {
      abort.abort()
      await this.#run?.keeper.stop()
      this.#run = undefined
      if (error instanceof ChannelDown) this.#health.trouble('connection', error.message)
      throw error
    }
  }

  async stop(): Promise<void> {
    const run = this.#run
    this.#interactions.close()
    this.#client.close()
    if (run === undefined) return
    run.abort.abort()
    const ended = Promise.all([run.keeper.stop(), run.receiver.idle()])
    await within(this.#services.clock, STOP_GRACE_MS, ended)
    if (this.#run !== run) return
    this.#run = undefined
    this.#health.enter('stopped')
  }

  send(part: OutboundPart, signal: AbortSignal): Promise<DeliveryReceipt> {
    return this.#outbound.send(part, signal)
  }

  sendFile(part: FilePart, signal: AbortSignal): Promise<DeliveryReceipt> {
    return sendFile(this.#sending, part, signal)
  }

  answerPrivately(part: PrivatePart, signal: AbortSignal): Promise<DeliveryReceipt> {
    return answerPrivately({ outbound: this.#outbound, interactions: this.#interactions }, part, signal)
  }

  edit(target: MessageTarget, rendered: RenderedPart, signal: AbortSignal): Promise<DeliveryReceipt> {
    return this.#outbound.edit(target, rendered, signal)
  }

  delete(target: MessageTarget, signal: AbortSignal): Promise<DeliveryReceipt> {
    return this.#outbound.delete(target, signal)
  }

  react(target: MessageTarget, emoji: string, signal: AbortSignal): Promise<DeliveryReceipt> {
    return this.#outbound.react(target, emoji, signal)
  }

  showTyping(address: Address, signal: AbortSignal): Promise<void> {
    return this.#outbound.showTyping(address, signal)
  }

  proveSending(address: Address, signal: AbortSignal): Promise<SendingProof> {
    return this.#outbound.proveSending(address, signal)
  }

  /** Five edits in five seconds a channel, and some room for the rest. */
  editIntervalMs(): number {
    return 1200
  }

  findOwn(lost: LostMessage, signal: AbortSignal): Promise<FoundMessage> {
    const botId = this.#health.identity?.id
    if (botId === undefined) return Promise.resolve({ kind: 'cannot_tell', reason: 'the bot was never connected' })
    return findOwn({ client: this.#client, directs: this.#directs, botId }, lost, signal)
  }

  readThread(place: ThreadPlace, signal: AbortSignal): Promise<ThreadRead> {
    const receiver = this.#run?.receiver
    if (receiver === undefined) return Promise.resolve({ kind: 'cannot_tell', reason: 'the channel is down' })
    const read = receiver.read.bind(receiver)
    return readThread({ client: this.#client, signal, read }, place)
  }

  /** The names say which typed `!name` is a command of ours; the platform's own menu is filled with the same. */
  async registerCommands(commands: readonly MenuCommand[], owners: readonly string[]): Promise<void> {
    this.#commands = new Set(commands.map(({ name }) => name))
    const run = this.#run
    const botId = this.#health.identity?.id
    if (run === undefined || botId === undefined)
      throw new ParleyError('unavailable', 'Discord takes commands only after the start')
    const { signal } = run.abort
    await run.receiver.expect(owners)
    await registerMenu({ client: this.#client, state: run.sink.state, signal, botId }, commands)
  }

  fetchFile(file: WantedFile, signal: AbortSignal): Promise<FetchedFile> {
    const { apiRoot } = this.#config
    return fetchFile({ client: this.#client, clock: this.#services.clock, apiRoot }, file, signal)
  }

  health(): ChannelHealth {
    const minutes = Math.ceil(this.#client.pausedMs() / 60_000)
    if (minutes === 0) return this.#health.read()
    const detail = `Discord refused so many requests that nothing is sent for ${minutes} min: see that the bot may write where it is asked to`
    return { ...this.#health.read(), status: 'down', detail }
  }

  #begin(abort: AbortController, what: Pick<RunDeps, 'sink' | 'positions' | 'seen' | 'botId' | 'botName'>): AccountRun {
    return createRun({
      ...what,
      abort,
      account: this.#account,
      config: this.#config,
      services: this.#services,
      client: this.#client,
      directs: this.#directs,
      interactions: this.#interactions,
      commands: () => this.#commands,
      proven: () => {
        this.#health.proven()
        this.#health.mended('connection')
      },
      received: () => this.#health.proven(),
      down: (detail) => this.#health.trouble('connection', detail),
    })
  }
}
