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
  WantedFile,
} from '../../src/channels/capabilities.ts'
import type { Address } from '../../src/core/address.ts'
import { within } from '../../src/core/clock.ts'
import { ParleyError, toError } from '../../src/core/errors.ts'
import type { AccountId } from '../../src/core/ids.ts'
import { toAccountId } from '../../src/core/ids.ts'
import type { FetchedFile } from '../../src/core/media.ts'
import type { DeliveryReceipt } from '../../src/core/outbound.ts'
import type { ThreadPlace, ThreadRead } from '../../src/core/thread.ts'
import { AccountHealth } from '../shared/account-health.ts'
import { linkedAbort } from '../shared/deadline.ts'
import { receivesBy, type SlackConfig } from './config.ts'
import { type CallOutcome, createClient, type SlackClient, type SlackUploads } from './connection/client.ts'
import { greet } from './connection/greet.ts'
import { type AccountRun, createRun } from './connection/run.ts'
import { fetchFile, MOST_FILE_BYTES } from './inbound/fetch-file.ts'
import { readThread } from './inbound/read-thread.ts'
import { findOwnMessage } from './outbound/find-own.ts'
import { createOutbound, type SlackOutbound } from './outbound/send.ts'
import { sendFile } from './outbound/send-file.ts'

/** `stop` waits this long for accepts in flight. */
const STOP_GRACE_MS = 5000
/** chat.update is allowed about fifty times a minute. */
const EDIT_INTERVAL_MS = 1200

/** One bot of one app in one workspace. */
export class SlackAdapter
  implements
    ChannelAdapter,
    AnswersPrivately,
    EditsMessages,
    FetchesFiles,
    DeletesMessages,
    Reacts,
    FindsOwnMessages,
    ProvesSending,
    ReadsThreads,
    RegistersCommands,
    SendsFiles
{
  readonly id = 'slack'
  readonly mostFileBytes = MOST_FILE_BYTES
  /** The platform has no key that makes a repeated send harmless; the message is looked up instead. */
  readonly sameKeyWindowMs = 0
  readonly #account: AccountId
  readonly #config: SlackConfig
  readonly #services: AdapterServices
  /** Two pools of connections: what is asked cannot leave a send on a connection the platform has closed. */
  readonly #askClient: SlackClient
  readonly #sendClient: SlackClient & SlackUploads
  readonly #outbound: SlackOutbound
  readonly #health: AccountHealth
  #run: AccountRun | undefined

  constructor({ account, config, services }: AccountSettings<SlackConfig>) {
    const { botToken, apiRoot } = config
    const { clock, logger } = services
    this.#account = toAccountId(account)
    this.#config = config
    this.#services = services
    this.#askClient = createClient({ token: botToken, apiRoot, clock })
    this.#sendClient = createClient({ token: botToken, apiRoot, clock })
    this.#outbound = createOutbound(this.#sendClient, (outcome) => this.#run?.tokens.see(outcome))
    this.#health = new AccountHealth({
      platform: 'Slack',
      account: this.#account,
      receives: receivesBy(config),
      clock,
      logger,
    })
  }

  async start(sink: ChannelSink, signal: AbortSignal): Promise<void> {
    if (this.#run !== undefined) throw new ParleyError('conflict', 'this Slack account was started already')
    const abort = linkedAbort(signal)
    this.#health.enter('starting')
    try {
      const { bot, identity, hints } = await greet(this.#askClient, abort.signal)
      this.#health.know(identity, hints)
      const parts = {
        account: this.#account,
        bot,
        config: this.#config,
        services: this.#services,
        health: this.#health,
      }
      const run = createRun({ ...parts, client: this.#askClient, sink, abort })
      this.#run = run
      await run.start()
      this.#health.proven()
      if (!abort.signal.aborted) this.#health.enter('running')
    } catch (error) {
      abort.abort()
      this.#run?.receiver.kill()
      this.#run = undefined
      if (error instanceof ChannelDown) this.#health.trouble('connection', error.message)
      throw error instanceof ChannelDown
        ? error
        : new ChannelDown(toError(error).message, { permanent: false, cause: error })
    }
  }

  async stop(): Promise<void> {
    const run = this.#run
    if (run !== undefined) {
      run.abort.abort()
      await within(this.#services.clock, STOP_GRACE_MS, run.receiver.stop())
      run.receiver.kill()
      if (this.#run === run) this.#run = undefined
    }
    this.#askClient.close()
    this.#sendClient.close()
    this.#health.enter('stopped')
  }

  send(part: OutboundPart, signal: AbortSignal): Promise<DeliveryReceipt> {
    return this.#outbound.send(part, signal)
  }

  sendFile(part: FilePart, signal: AbortSignal): Promise<DeliveryReceipt> {
    const onOutcome = (outcome: CallOutcome): void => this.#run?.tokens.see(outcome)
    return sendFile({ client: this.#sendClient, clock: this.#services.clock, onOutcome }, part, signal)
  }

  answerPrivately(part: PrivatePart, signal: AbortSignal): Promise<DeliveryReceipt> {
    return this.#outbound.answerPrivately(part, signal)
  }

  edit(target: MessageTarget, rendered: RenderedPart, signal: AbortSignal): Promise<DeliveryReceipt> {
    return this.#outbound.edit(target, rendered, signal)
  }

  react(target: MessageTarget, emoji: string, signal: AbortSignal): Promise<DeliveryReceipt> {
    return this.#outbound.react(target, emoji, signal)
  }

  delete(target: MessageTarget, signal: AbortSignal): Promise<DeliveryReceipt> {
    return this.#outbound.delete(target, signal)
  }

  findOwn(lost: LostMessage, signal: AbortSignal): Promise<FoundMessage> {
    return findOwnMessage(this.#askClient, lost, signal, this.#health.identity?.id)
  }

  proveSending(address: Address, signal: AbortSignal): Promise<SendingProof> {
    return this.#outbound.proveSending(address, signal)
  }

  readThread(place: ThreadPlace, signal: AbortSignal): Promise<ThreadRead> {
    const run = this.#run
    if (run === undefined) return Promise.resolve({ kind: 'cannot_tell', reason: 'the channel is down' })
    return readThread({ client: this.#askClient, signal, read: run.read }, place)
  }

  editIntervalMs(): number {
    return EDIT_INTERVAL_MS
  }

  /** The app's manifest declares its slash commands; the names say which of them, and which `!name`, is ours. */
  async registerCommands(commands: readonly MenuCommand[]): Promise<void> {
    if (this.#run === undefined) throw new ParleyError('unavailable', 'Slack takes commands only after the start')
    await this.#run.commands.learn(commands.map(({ name }) => name))
  }

  fetchFile(file: WantedFile, signal: AbortSignal): Promise<FetchedFile> {
    const { botToken: token, apiRoot } = this.#config
    return fetchFile({ client: this.#askClient, clock: this.#services.clock, token, apiRoot }, file, signal)
  }

  health(): ChannelHealth {
    return this.#health.read()
  }
}
