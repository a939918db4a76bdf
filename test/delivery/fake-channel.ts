import type { ChannelAdapter, OutboundPart } from '../../src/channels/adapter.ts'
import type {
  DeletesMessages,
  EditsMessages,
  FilePart,
  MessageTarget,
  ProvesSending,
  SendingProof,
  SendsFiles,
  ShowsTyping,
} from '../../src/channels/capabilities.ts'
import { type Address, formatAddress } from '../../src/core/address.ts'
import type { Clock } from '../../src/core/clock.ts'
import type { DeliveryOp, DeliveryReceipt, RenderedPart } from '../../src/core/outbound.ts'

export interface Call {
  readonly op: DeliveryOp
  readonly to: string
  readonly text: string
  readonly at: number
  readonly key?: string
  readonly replyTo?: string
  /** The name and the content of the file that went along. */
  readonly file?: string
  readonly messageId?: string
}

/** What the platform answers to a call, and whether it did what it was asked. */
export interface Fate {
  readonly receipt: DeliveryReceipt | Promise<DeliveryReceipt> | (() => never)
  readonly done: boolean
  /** The call does not hear that it is aborted. */
  readonly deaf?: boolean
}

export const refused = (reason: string, more: object = {}): Fate => ({
  receipt: { kind: 'rejected', reason, ...more },
  done: false,
})
export const unreachable: Fate = { receipt: { kind: 'not_sent', reason: 'no route' }, done: false }
/** It arrived, and the answer did not come back. */
export const answerLost: Fate = { receipt: { kind: 'unknown', reason: 'reset' }, done: true }
export const swallowed: Fate = { receipt: { kind: 'unknown', reason: 'reset' }, done: false }
/** The adapter throws, against its contract. */
export const broken = (message: string): Fate => ({
  receipt: () => {
    throw new Error(message)
  },
  done: false,
})
/** The call never returns: the process is about to die over it. */
export const hanging = (done: boolean): Fate => ({ receipt: new Promise(() => {}), done })

/** A platform in memory behind the seam: it answers what it is told, and keeps what it was asked and what people see. */
export class FakeChannel
  implements ChannelAdapter, EditsMessages, DeletesMessages, ShowsTyping, ProvesSending, SendsFiles
{
  readonly id = 'telegram'
  readonly typingLastsMs = 5_000
  readonly calls: Call[] = []
  readonly typed: { readonly to: string; readonly at: number }[] = []
  /** How often it was asked whether a message would arrive. */
  readonly asked: { readonly to: string; readonly at: number }[] = []
  proof: SendingProof = { works: true }
  readonly fates: Fate[] = []
  /** Decides where no fate is queued. */
  rule: (op: DeliveryOp, to: string) => Fate | undefined = () => undefined
  readonly #clock: () => Clock
  readonly #messages = new Map<string, { readonly to: string; text: string }>()
  #waiting: { readonly count: number; readonly reached: () => void }[] = []
  #lastId = 0

  constructor(clock: () => Clock) {
    this.#clock = clock
  }

  async start(): Promise<void> {}
  async stop(): Promise<void> {}
  health(): { status: 'up' } {
    return { status: 'up' }
  }

  sendFile({ address, rendered, key, file, bytes }: FilePart, signal: AbortSignal): Promise<DeliveryReceipt> {
    const more = { key, file: `${file.as} ${file.name}: ${Buffer.from(bytes).toString()}` }
    return this.#take({ op: 'send', address, text: rendered.text, more }, `m${++this.#lastId}`, signal)
  }

  send({ address, rendered, key, replyTo }: OutboundPart, signal: AbortSignal): Promise<DeliveryReceipt> {
    const messageId = `m${++this.#lastId}`
    const reply = replyTo === undefined ? {} : { replyTo }
    return this.#take({ op: 'send', address, text: rendered.text, more: { key, ...reply } }, messageId, signal)
  }

  edit(target: MessageTarget, rendered: RenderedPart, signal: AbortSignal): Promise<DeliveryReceipt> {
    const { address, messageId } = target
    return this.#take({ op: 'edit', address, text: rendered.text, more: { messageId } }, messageId, signal)
  }

  delete({ address, messageId }: MessageTarget, signal: AbortSignal): Promise<DeliveryReceipt> {
    return this.#take({ op: 'delete', address, text: '', more: { messageId } }, messageId, signal)
  }

  async showTyping(address: Address): Promise<void> {
    this.typed.push({ to: formatAddress(address), at: this.#clock().now() })
  }

  async proveSending(address: Address): Promise<SendingProof> {
    this.asked.push({ to: formatAddress(address), at: this.#clock().now() })
    return this.proof
  }

  editIntervalMs(): number {
    return 1_000
  }

  /** What people see in a chat, in order. */
  visible(to: string): readonly string[] {
    return [...this.#messages.values()].filter((message) => message.to === to).map(({ text }) => text)
  }

  /** Resolves once the platform was called that often. */
  async called(count: number): Promise<void> {
    if (this.calls.length >= count) return
    await new Promise<void>((reached) => this.#waiting.push({ count, reached }))
  }

  async #take(
    { op, address, text, more }: { op: DeliveryOp; address: Address; text: string; more: object },
    messageId: string,
    signal: AbortSignal,
  ): Promise<DeliveryReceipt> {
    const to = formatAddress(address)
    const fate = this.fates.shift() ?? this.rule(op, to) ?? { receipt: { kind: 'sent', messageId }, done: true }
    if (fate.done && op === 'send') this.#messages.set(messageId, { to, text })
    const message = this.#messages.get(messageId)
    if (fate.done && op === 'edit' && message) message.text = text
    if (fate.done && op === 'delete') this.#messages.delete(messageId)
    this.calls.push({ op, to, text, at: this.#clock().now(), ...more })
    for (const { reached } of this.#waiting.filter(({ count }) => count <= this.calls.length)) reached()
    this.#waiting = this.#waiting.filter(({ count }) => count > this.calls.length)
    if (fate.deaf) return fate.receipt as Promise<DeliveryReceipt>
    const aborted = new Promise<DeliveryReceipt>((resolve) => {
      signal.addEventListener('abort', () => resolve({ kind: 'unknown', reason: 'aborted' }), { once: true })
    })
    return Promise.race([typeof fate.receipt === 'function' ? fate.receipt() : fate.receipt, aborted])
  }
}
