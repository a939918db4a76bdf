import type {
  AccountSettings,
  AdapterServices,
  ChannelAdapter,
  ChannelHealth,
  ChannelSink,
  OutboundPart,
  RenderedPart,
} from '../../src/channels/adapter.ts'
import { ChannelDown } from '../../src/channels/adapter.ts'
import type {
  AnswersPrivately,
  DeletesMessages,
  EditsMessages,
  FetchesFiles,
  FilePart,
  MenuCommand,
  MessageTarget,
  PrivatePart,
  ProvesSending,
  Reacts,
  RegistersCommands,
  SendingProof,
  SendsFiles,
  ShowsTyping,
  WantedFile,
} from '../../src/channels/capabilities.ts'
import type { Address } from '../../src/core/address.ts'
import { within } from '../../src/core/clock.ts'
import { ParleyError } from '../../src/core/errors.ts'
import type { AccountId } from '../../src/core/ids.ts'
import { toAccountId } from '../../src/core/ids.ts'
import type { FetchedFile } from '../../src/core/media.ts'
import type { DeliveryReceipt } from '../../src/core/outbound.ts'
import { AccountHealth } from '../shared/account-health.ts'
import { linkedAbort } from '../shared/deadline.ts'
import { directPart } from '../shared/direct-part.ts'
import { stripNoReply } from '../shared/no-reply.ts'
import { receivesBy, type TelegramConfig } from './config.ts'
import { createClient, type TelegramClient } from './connection/client.ts'
import { greet } from './connection/greet.ts'
import { type AccountRun, createRun, type RunDeps } from './connection/run.ts'
import { fetchFile, MOST_FILE_BYTES } from './inbound/fetch-file.ts'
import { Posts, TopicNames } from './inbound/known-threads.ts'
import { registerMenus } from './outbound/command-menu.ts'
import { Presses } from './outbound/presses.ts'
import { createOutbound, type TelegramOutbound } from './outbound/send.ts'
import { sendFile } from './outbound/send-file.ts'

/** `stop` waits this long for accepts in flight. */
const STOP_GRACE_MS = 5000

/** One bot account on Telegram. Polls, questions and sends use connections of their own: none can hold up another. */
export class TelegramAdapter
  implements
    ChannelAdapter,
    AnswersPrivately,
    EditsMessages,
    FetchesFiles,
    DeletesMessages,
    Reacts,
    ShowsTyping,
    ProvesSending,
    RegistersCommands,
    SendsFiles
{
  readonly id = 'telegram'
  readonly mostFileBytes = MOST_FILE_BYTES
  readonly typingLastsMs = 5000
  readonly #account: AccountId
  readonly #config: TelegramConfig
  readonly #services: AdapterServices
  readonly #openClient: () => TelegramClient
  readonly #askClient: TelegramClient
  readonly #sendClient: TelegramClient
  readonly #outbound: TelegramOutbound
  readonly #presses: Presses
  readonly #health: AccountHealth
  /** Ends the start that is under way, or what it began. */
  #abort: AbortController | undefined
  #run: AccountRun | undefined

  constructor({ account, config, services }: AccountSettings<TelegramConfig>) {
    const { token, webhookSecret, apiRoot } = config
    const { clock, logger } = services
    this.#account = toAccountId(account)
    this.#config = config
    this.#services = services
    this.#openClient = () => createClient({ token, otherSecret: webhookSecret, apiRoot, clock })
    this.#askClient = this.#openClient()
    this.#sendClient = this.#openClient()
    this.#outbound = createOutbound(this.#sendClient, clock)
    this.#presses = new Presses({ client: this.#sendClient, clock })
    this.#health = new AccountHealth({
      platform: 'Telegram',
      account: this.#account,
      receives: receivesBy(config),
      clock,
      logger,
    })
  }

  async start(sink: ChannelSink, signal: AbortSignal): Promise<void> {
    if (this.#abort?.signal.aborted === false)
      throw new ParleyError('conflict', 'this Telegram account was started already')
    const abort = linkedAbort(signal)
    this.#abort = abort
    this.#health.enter('starting')
    try {
      const profile = await greet(this.#askClient, this.#config.mode, abort.signal)
      this.#health.know(profile.identity, profile.hints)
      const topics = new TopicNames(sink.state)
      const posts = new Posts(sink.state)
      await topics.load()
      await posts.load()
      const run = this.#begin(abort, { sink, profile, topics, posts })
      this.#run = run
      await run.start()
      void run.ended().then(() => this.#end(abort))
      // The bot was greeted, and its poll is out or its webhook set; more may come only when somebody writes.
      if (this.#health.read().status === 'starting') this.#health.proven()
      if (this.#run === run) this.#health.enter('running')
    } catch (error) {
      abort.abort()
      this.#abort = undefined
      this.#run = undefined
      if (error instanceof ChannelDown) this.#health.trouble('connection', error.message)
      throw error
    }
  }

  async stop(): Promise<void> {
    const abort = this.#abort
    if (abort === undefined) return
    abort.abort()
    await within(this.#services.clock, STOP_GRACE_MS, this.#run?.ended() ?? Promise.resolve())
    this.#askClient.close()
    this.#sendClient.close()
    this.#end(abort)
  }

  send(part: OutboundPart, signal: AbortSignal): Promise<DeliveryReceipt> {
    return this.#outbound.send(part, signal)
  }

  sendFile(part: FilePart, signal: AbortSignal): Promise<DeliveryReceipt> {
    return sendFile({ client: this.#sendClient, clock: this.#services.clock }, part, signal)
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

  editIntervalMs({ chatType }: Address): number {
    return chatType === 'direct' ? 1000 : 3000
  }

  /**
   * A press is answered by a notice. Every message in a group is shown to all of it: what is for one person's eyes goes
   * to their direct chat.
   */
  async answerPrivately({ recipient, partNo, ...part }: PrivatePart, signal: AbortSignal): Promise<DeliveryReceipt> {
    const rendered = stripNoReply(part.rendered)
    if (recipient.handle !== undefined && rendered !== null && partNo === 0) {
      const receipt = await this.#presses.answer(recipient.handle, rendered, signal)
      if (receipt !== undefined) return receipt
    }
    return this.send(recipient.otherwise === 'here' ? part : directPart(part, recipient), signal)
  }

  proveSending(address: Address, signal: AbortSignal): Promise<SendingProof> {
    return this.#outbound.proveSending(address, signal)
  }

  async registerCommands(commands: readonly MenuCommand[], owners: readonly string[]): Promise<void> {
    const run = this.#run
    if (run === undefined) throw new ParleyError('unavailable', 'Telegram takes commands only after the start')
    const bot = this.#health.identity?.id ?? ''
    const ports = { client: this.#sendClient, state: run.sink.state, signal: run.abort.signal }
    await registerMenus(ports, { bot, commands, owners })
  }

  fetchFile(file: WantedFile, signal: AbortSignal): Promise<FetchedFile> {
    const { token, apiRoot } = this.#config
    return fetchFile({ client: this.#askClient, clock: this.#services.clock, token, apiRoot }, file, signal)
  }

  health(): ChannelHealth {
    return this.#health.read()
  }

  #begin(abort: AbortController, what: Pick<RunDeps, 'sink' | 'profile' | 'topics' | 'posts'>): AccountRun {
    return createRun({
      ...what,
      abort,
      account: this.#account,
      config: this.#config,
      services: this.#services,
      health: this.#health,
      presses: this.#presses,
      openClient: this.#openClient,
      client: this.#askClient,
    })
  }

  /** Does nothing for a start that another one has replaced. */
  #end(abort: AbortController): void {
    if (this.#abort !== abort) return
    this.#abort = undefined
    this.#run = undefined
    this.#health.enter('stopped')
  }
}
