import { setMaxListeners } from 'node:events'
import type { Address } from '../core/address.ts'
import { backOffMs } from '../core/backoff.ts'
import { type Clock, sleep } from '../core/clock.ts'
import { type Deferred, deferred } from '../core/deferred.ts'
import { toError } from '../core/errors.ts'
import type { AccountId, ChannelId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { type ChannelAdapter, ChannelDown, type ChannelHealth, type ChannelSink } from './adapter.ts'

const PACE = { firstMs: 1_000, longestMs: 30_000 }
/** A wrong token does not mend itself quickly, but it is mended without a restart. */
const PERMANENT_WAIT_MS = 60_000

export interface HubAccount {
  readonly channel: ChannelId
  readonly account: AccountId
  create(): Promise<ChannelAdapter>
  sink(): ChannelSink
}

export interface HubDeps {
  readonly clock: Clock
  readonly logger: Logger
  /** Returns a line for each rule in force that counts on more than an account is shown in groups. */
  readonly unseenRules?: (channel: ChannelId, account: AccountId) => readonly string[]
}

/** Called each time a channel came up. */
export type OnReady = (channel: ChannelId, account: AccountId, adapter: ChannelAdapter) => void

export interface ChannelReport extends ChannelHealth {
  readonly channel: ChannelId
  readonly account: AccountId
}

interface Member {
  readonly channel: ChannelId
  readonly account: AccountId
  adapter?: ChannelAdapter
  /** Its start succeeded. */
  started: boolean
  /** Why it is not up, from the last failed start. */
  failure?: string
  readonly triedOnce: Deferred
}

/**
 * Keeps every configured channel up: starts each by itself, and again for ever with capped waits, so that one channel
 * that cannot come up never holds back the others nor the daemon.
 */
export class ChannelHub {
  readonly #deps: HubDeps
  readonly #members = new Map<string, Member>()
  readonly #stop = new AbortController()
  readonly #starting: Promise<void>[] = []
  #begun = false

  constructor(deps: HubDeps) {
    this.#deps = deps
    // One signal ends the channels of many accounts; that is no leak.
    setMaxListeners(0, this.#stop.signal)
  }

  /** Begins to bring the accounts up; does not wait for them. */
  start(accounts: readonly HubAccount[], onReady: OnReady): void {
    this.#begun = true
    for (const account of accounts) {
      const member: Member = {
        channel: account.channel,
        account: account.account,
        started: false,
        triedOnce: deferred(),
      }
      this.#members.set(keyOf(member.channel, member.account), member)
      this.#starting.push(this.#bringUp(account, member, onReady))
    }
  }

  /** True from `start` on, also where there is no account. */
  get begun(): boolean {
    return this.#begun
  }

  /** Resolves when every channel has come up or failed once. */
  async settled(): Promise<void> {
    await Promise.all([...this.#members.values()].map(({ triedOnce }) => triedOnce.promise))
  }

  /**
   * The adapter an address leaves by, or undefined until it has started. Its health is about receiving: while a stray
   * poller takes the messages, or the first long poll has brought nothing yet, answers leave all the same.
   */
  adapter({ channel, account }: Pick<Address, 'channel' | 'account'>): ChannelAdapter | undefined {
    const member = this.#members.get(keyOf(channel, account))
    return member?.started ? member.adapter : undefined
  }

  reports(): readonly ChannelReport[] {
    return [...this.#members.values()].map(({ channel, account, adapter, failure }) => {
      const health: ChannelHealth = adapter?.health() ?? { status: 'starting' }
      const down = failure === undefined ? {} : { status: 'down' as const, detail: failure }
      const { identity, hints = [] } = health
      const unseen = identity?.readsGroups === false ? (this.#deps.unseenRules?.(channel, account) ?? []) : []
      return { channel, account, ...health, ...down, ...(unseen.length > 0 && { hints: [...hints, ...unseen] }) }
    })
  }

  /** Idempotent; afterwards no sink is called. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all([...this.#members.values()].map(({ adapter }) => adapter?.stop()))
    await Promise.all(this.#starting)
  }

  async #bringUp(account: HubAccount, member: Member, onReady: OnReady): Promise<void> {
    const { clock, logger } = this.#deps
    const { signal } = this.#stop
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        member.adapter ??= await account.create()
        await member.adapter.start(account.sink(), signal)
        delete member.failure
        member.started = true
        member.triedOnce.resolve()
        onReady(member.channel, member.account, member.adapter)
        return
      } catch (thrown) {
        if (signal.aborted) return member.triedOnce.resolve()
        const err = toError(thrown)
        const permanent = err instanceof ChannelDown && err.permanent
        const wait = permanent ? PERMANENT_WAIT_MS : backOffMs(attempt, PACE)
        const news = member.failure !== err.message
        member.failure = err.message
        const { channel, account: name } = member
        logger[news ? 'error' : 'debug']('A channel is down', {
          channel,
          account: name,
          reason: err.message,
          retryInMs: wait,
        })
        member.triedOnce.resolve()
        await sleep(clock, wait, signal)
      }
    }
  }
}

function keyOf(channel: ChannelId, account: AccountId): string {
  return `${channel}@${account}`
}
