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
  MenuCommand,
  MessageTarget,
  PrivatePart,
  ProvesSending,
  RegistersCommands,
  SendingProof,
  ShowsTyping,
} from '../../src/channels/capabilities.ts'
import type { Address } from '../../src/core/address.ts'
import { within } from '../../src/core/clock.ts'
import { ParleyError } from '../../src/core/errors.ts'
import type { AccountId } from '../../src/core/ids.ts'
import { toAccountId } from '../../src/core/ids.ts'
import type { DeliveryReceipt } from '../../src/core/outbound.ts'
import { AccountHealth } from '../shared/account-health.ts'
import { linkedAbort } from '../shared/deadline.ts'
import { directPart } from '../shared/direct-part.ts'
import { createGuard } from '../shared/guard.ts'
import type { TelegramConfig } from './config.ts'
import { createClient, type TelegramClient } from './connection/client.ts'
import { type BotProfile, greet } from './connection/greet.ts'
import { keepPolling } from './connection/keep-polling.ts'
import { readUpdate } from './inbound/read-event.ts'
import { readableByOthers } from './inbound/reading.ts'
import { registerMenus } from './outbound/command-menu.ts'
import { createOutbound, type TelegramOutbound } from './outbound/send.ts'

/** How long `stop` waits for accepts in flight. */
const STOP_GRACE_MS = 5000

/** What began with one `start` and ends with `stop`. */
interface Run {
  readonly abort: AbortController
  readonly sink: ChannelSink
  polling: Promise<void>
}

/** One bot account on Telegram. Polls, questions and sends use connections of their own: none can hold up another. */
export class TelegramAdapter
  implements
    ChannelAdapter,
    AnswersPrivately,
    EditsMessages,
    DeletesMessages,
    ShowsTyping,
    ProvesSending,
    RegistersCommands
{
  readonly id = 'telegram'
  readonly typingLastsMs = 5000
  readonly #account: AccountId
  readonly #apiRoot: string | undefined
  readonly #services: AdapterServices
  readonly #openClient: () => TelegramClient
  readonly #askClient: TelegramClient
  readonly #sendClient: TelegramClient
  readonly #outbound: TelegramOutbound
  readonly #health: AccountHealth
  #run: Run | undefined

  constructor({ account, config, services }: AccountSettings<TelegramConfig>) {
    const { token, apiRoot } = config
    const { clock, logger } = services
    this.#account = toAccountId(account)
    this.#apiRoot = apiRoot
    this.#services = services
    this.#openClient = () => createClient({ token, apiRoot, clock })
    this.#askClient = this.#openClient()
    this.#sendClient = this.#openClient()
    this.#outbound = createOutbound(this.#sendClient, clock)
    this.#health = new AccountHealth({ platform: 'Telegram', account: this.#account, clock, logger })
  }

  async start(sink: ChannelSink, signal: AbortSignal): Promise<void> {
    if (this.#run?.abort.signal.aborted === false)
      throw new ParleyError('conflict', 'this Telegram account was started already')
    const run: Run = { abort: linkedAbort(signal), sink, polling: Promise.resolve() }
    this.#run = run
    this.#health.enter('starting')
    try {
      const profile = await greet(this.#askClient, run.abort.signal)
      this.#health.know(profile.identity, profile.hints)
      await this.#listen(run, profile)
      // The bot was greeted and its poll is out; the first poll may be answered only when somebody writes.
      if (this.#health.read().status === 'starting') this.#health.proven()
      if (this.#run === run) this.#health.enter('running')
    } catch (error) {
      run.abort.abort()
      this.#run = undefined
      if (error instanceof ChannelDown) this.#health.trouble('connection', error.message)
      throw error
    }
  }

  async stop(): Promise<void> {
    const run = this.#run
    if (run === undefined) return
    run.abort.abort()
    await within(this.#services.clock, STOP_GRACE_MS, run.polling)
    this.#askClient.close()
    this.#sendClient.close()
    this.#endRun(run)
  }

  send(part: OutboundPart, signal: AbortSignal): Promise<DeliveryReceipt> {
    return this.#outbound.send(part, signal)
  }

  edit(target: MessageTarget, rendered: RenderedPart, signal: AbortSignal): Promise<DeliveryReceipt> {
    return this.#outbound.edit(target, rendered, signal)
  }

  delete(target: MessageTarget, signal: AbortSignal): Promise<DeliveryReceipt> {
    return this.#outbound.delete(target, signal)
  }

  showTyping(address: Address, signal: AbortSignal): Promise<void> {
    return this.#outbound.showTyping(address, signal)
  }

  editIntervalMs({ chatType }: Address): number {
    return chatType === 'direct' ? 1000 : 3000
  }

  /** The platform shows everything in a group to all of it: what is for one person's eyes goes to their direct chat. */
  answerPrivately({ recipient, ...part }: PrivatePart, signal: AbortSignal): Promise<DeliveryReceipt> {
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

  health(): ChannelHealth {
    return this.#health.read()
  }

  /** Resolves once the first poll is out. */
  #listen(run: Run, profile: BotProfile): Promise<void> {
    return new Promise((listening) => {
      const ports = {
        openClient: this.#openClient,
        askClient: this.#askClient,
        clock: this.#services.clock,
        random: () => this.#services.random(),
        accept: (update: unknown) => this.#accept(update, run, profile),
        onListening: listening,
        onProof: () => this.#proven(),
        onTrouble: (detail: string) => this.#health.trouble('connection', detail),
        onDeaf: (detail: string) => this.#health.trouble('hearing', detail),
        onHearing: () => this.#health.mended('hearing'),
        onHeld: (holds: boolean) => this.#pace(holds, profile),
      }
      run.polling = keepPolling(ports, run.abort.signal).then(() => this.#endRun(run))
    })
  }

  #proven(): void {
    this.#health.proven()
    this.#health.mended('connection')
  }

  /** Says once that the server holds no poll, and takes it back when it does. */
  #pace(holds: boolean, { identity, hints }: BotProfile): void {
    if (!holds) this.#services.logger.warn('Polls are not held.', { account: this.#account, hint: this.#unheldHint() })
    this.#health.know(identity, holds ? hints : [...hints, this.#unheldHint()])
  }

  #unheldHint(): string {
    const where = this.#apiRoot === undefined ? 'the Bot API server' : `the server at ${new URL(this.#apiRoot).host}`
    return `${where} answers polls at once instead of holding them, so it is asked once a second: use one that heeds "timeout"`
  }

  #accept(update: unknown, { abort, sink }: Run, { bot }: BotProfile): Promise<void> {
    if (abort.signal.aborted) return Promise.reject(new ParleyError('aborted', 'the channel was stopped'))
    const receivedAt = this.#services.clock.now()
    let accept: () => Promise<void> = () => Promise.resolve()
    // Only what is read is guarded: what could not be stored is not confirmed, and comes again.
    createGuard({ sink, logger: this.#services.logger, account: this.#account })('update', () => {
      const reading = readUpdate(update, { account: this.#account, bot, receivedAt })
      const shown = readableByOthers(update)
      if (reading.kind === 'event') accept = () => sink.accept(reading.event, undefined, shown)
      else sink.unknown(reading.why, shown)
    })
    return accept()
  }

  /** Does nothing for a run that another one has replaced. */
  #endRun(run: Run): void {
    if (this.#run !== run) return
    this.#run = undefined
    this.#health.enter('stopped')
  }
}
