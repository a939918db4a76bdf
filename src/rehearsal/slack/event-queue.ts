import type { Clock } from '../../core/clock.ts'
import type { ApiEvent } from './api-types.ts'
import type { AppState } from './app-state.ts'
import type { EventEntry, SlackLedger, SlashEntry } from './ledger-entries.ts'

/** The platform's body of an event, the same bytes at every repetition. */
interface EventBody {
  readonly type: string
  readonly event_id: string
  readonly event?: ApiEvent
  readonly [field: string]: unknown
}

/** One attempt to deliver an event. The transport calls exactly one of `confirm` and `fail`, at most once. */
export interface Delivery {
  readonly body: EventBody
  /** 0 for the first attempt. */
  readonly retryNum: number
  readonly retryReason: string | undefined
  confirm(): void
  /** `final` says that the receiver asked for no retry. */
  fail(reason: string, final?: boolean): void
}

/** One slash command or press on its way to the app; it is never sent a second time. */
export interface CommandDelivery {
  /** The way it comes by a socket. */
  readonly type: 'slash_commands' | 'interactive'
  readonly body: Readonly<Record<string, unknown>>
  /** The same as it comes by HTTP. */
  readonly form: Readonly<Record<string, string>>
  confirm(): void
  fail(reason: string): void
}

/** The receiver of events. `false` means that nobody is there; the queue keeps the event until `wake`. */
export interface Transport {
  readonly name: string
  deliver(delivery: Delivery): string | undefined
  /** Returns false if nobody is there. */
  command(delivery: CommandDelivery): boolean
}

type Named = Readonly<Record<string, unknown>> & { readonly id: string }

export type PressBody = Readonly<Record<string, unknown>> & {
  readonly user: Named
  readonly channel: Named
  readonly actions: readonly [Readonly<Record<string, unknown>> & { readonly value: string }]
}

export interface RedeliverySettings {
  /** The time for an acknowledgement. */
  readonly ackMs: number
  /** The waits before the second, third and fourth delivery. */
  readonly retryAfterMs: readonly number[]
}

/** The platform's waits: nearly none, one minute, five. */
export const slackRedelivery: RedeliverySettings = { ackMs: 3000, retryAfterMs: [0, 60_000, 300_000] }

interface Pending {
  readonly body: EventBody
  times: number
  lastReason: string | undefined
  done: boolean
}

interface QueueDeps {
  readonly app: AppState
  readonly ledger: SlackLedger
  readonly clock: Clock
  readonly redelivery: RedeliverySettings
}

/** The events that the app has not acknowledged. Unlike on the platform, an event waits while nobody is connected. */
export class EventQueue {
  readonly #deps: QueueDeps
  readonly #waiting: Pending[] = []
  readonly #all = new Map<string, Pending>()
  readonly #timers = new Set<() => void>()
  #transport: Transport | undefined
  #nextId = 1

  constructor(deps: QueueDeps) {
    this.#deps = deps
  }

  use(transport: Transport): void {
    this.#transport = transport
    this.wake()
  }

  offer(event: ApiEvent): string {
    return this.offerBody({ event })
  }

  offerBody(fields: Readonly<Record<string, unknown>>): string {
    const { app, clock } = this.#deps
    const id = `Ev${String(this.#nextId++).padStart(8, '0')}`
    const body: EventBody = {
      token: 'legacy-verification-token',
      team_id: app.teamId,
      api_app_id: app.appId,
      type: 'event_callback',
      event_id: id,
      event_time: Math.floor(clock.now() / 1000),
      authorizations: [{ team_id: app.teamId, user_id: app.bot.id, is_bot: true, is_enterprise_install: false }],
      is_ext_shared_channel: false,
      ...fields,
    }
    const pending: Pending = { body, times: 0, lastReason: undefined, done: false }
    this.#all.set(id, pending)
    this.#record(pending, 'offered')
    this.#attempt(pending)
    return id
  }

  /** Sends a slash command, which must be acknowledged in time: the person is notified at once if it was not. */
  sendCommand(body: Readonly<Record<string, string>>): void {
    const { command = '', text = '', user_id: userId = '', channel_id: channel = '' } = body
    this.#sendOnce({ type: 'slash_commands', body, form: body }, { command, text, userId, channel })
  }

  /** Sends the press of a button; it is recorded like the command it carries. */
  sendPress(body: PressBody): void {
    const [{ value }] = body.actions
    const named = { command: 'press', text: value, userId: body.user.id, channel: body.channel.id }
    this.#sendOnce({ type: 'interactive', body, form: { payload: JSON.stringify(body) } }, named)
  }

  #sendOnce(
    { type, body, form }: Pick<CommandDelivery, 'type' | 'body' | 'form'>,
    { command, text, userId, channel }: Pick<SlashEntry, 'command' | 'text' | 'userId' | 'channel'>,
  ): void {
    const { ledger, clock } = this.#deps
    let over = false
    const end = (step: 'acknowledged' | 'failed', reason?: string): void => {
      if (over) return
      over = true
      cancel()
      const why = reason === undefined ? {} : { reason }
      ledger.append({ kind: 'slash', at: clock.now(), step, command, text, userId, channel, ...why })
    }
    const cancel = this.#after(this.#deps.redelivery.ackMs, () => end('failed', 'timeout'))
    const ends = { confirm: () => end('acknowledged'), fail: (reason: string) => end('failed', reason) }
    ledger.append({ kind: 'slash', at: clock.now(), step: 'sent', command, text, userId, channel })
    const there = this.#transport?.command({ type, body, form, ...ends })
    if (there !== true) end('failed', 'nobody is connected')
  }

  /** Delivers an event once more although it was delivered, as over two sockets at once. */
  again(eventId: string): void {
    const pending = this.#all.get(eventId)
    if (pending === undefined) throw new Error(`There is no event ${eventId}.`)
    this.#attempt({ ...pending, done: false })
  }

  /** Called when a receiver is there: sends the waiting events. */
  wake(): void {
    for (const pending of this.#waiting.splice(0)) this.#attempt(pending)
  }

  /** Drops the unacknowledged events for good, as after the last repetition. */
  giveUp(): void {
    this.#waiting.length = 0
    for (const pending of this.#all.values()) {
      if (pending.done) continue
      pending.done = true
      this.#record(pending, 'given_up')
    }
  }

  close(): void {
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
    this.#waiting.length = 0
    this.#transport = undefined
  }

  #attempt(pending: Pending): void {
    if (pending.done) return
    let over = false
    const once = (act: () => void) => {
      if (over) return
      over = true
      cancel()
      act()
    }
    const delivery: Delivery = {
      body: pending.body,
      retryNum: pending.times,
      retryReason: pending.lastReason,
      confirm: () => once(() => this.#confirm(pending)),
      fail: (reason, final = false) => once(() => this.#failed(pending, reason, final)),
    }
    const by = this.#transport?.deliver(delivery)
    let cancel = (): void => {}
    if (by === undefined) {
      this.#waiting.push(pending)
      return
    }
    pending.times++
    this.#record(pending, 'delivered', by)
    cancel = this.#after(this.#deps.redelivery.ackMs, () => delivery.fail('timeout'))
  }

  #confirm(pending: Pending): void {
    if (pending.done) return
    pending.done = true
    this.#record(pending, 'confirmed')
  }

  #failed(pending: Pending, reason: string, final: boolean): void {
    if (pending.done) return
    pending.lastReason = reason
    const wait = this.#deps.redelivery.retryAfterMs[pending.times - 1]
    if (wait === undefined || final) {
      this.#record(pending, 'given_up')
      return
    }
    this.#after(wait, () => this.#attempt(pending))
  }

  #after(ms: number, act: () => void): () => void {
    const cancel = this.#deps.clock.after(ms, () => {
      this.#timers.delete(cancel)
      act()
    })
    this.#timers.add(cancel)
    return () => {
      this.#timers.delete(cancel)
      cancel()
    }
  }

  #record({ body, times }: Pending, step: EventEntry['step'], by?: string): void {
    const { event } = body
    this.#deps.ledger.append({
      kind: 'event',
      at: this.#deps.clock.now(),
      step,
      eventId: body.event_id,
      type: event?.type ?? body.type,
      ...(typeof event?.channel === 'string' && { channel: event.channel }),
      ...(typeof event?.ts === 'string' && { ts: event.ts }),
      times,
      ...(by !== undefined && { by }),
    })
  }
}
