import type { WebSocket } from 'ws'
import type { ApiUser } from './api-types.ts'
import { isWanted, withoutContent } from './intents.ts'
import type { DiscordLedger } from './ledger-entries.ts'

interface KeptDispatch {
  readonly seq: number
  readonly frame: string
}

export interface SessionDeps {
  readonly id: string
  readonly intents: number
  readonly bot: ApiUser
  readonly ledger: DiscordLedger
  readonly now: () => number
}

/** The most dispatches kept for a resume; the real platform forgets them after about a minute. */
const MOST_KEPT = 10_000

/** One session of the gateway: numbers its dispatches and keeps them, so that a connection that broke can resume. */
export class GatewaySession {
  readonly id: string
  readonly #deps: SessionDeps
  readonly #kept: KeptDispatch[] = []
  #seq = 0
  #socket: WebSocket | undefined

  constructor(deps: SessionDeps) {
    this.id = deps.id
    this.#deps = deps
  }

  get connected(): boolean {
    return this.#socket !== undefined
  }

  attach(socket: WebSocket): void {
    this.#socket = socket
  }

  detach(socket: WebSocket): void {
    if (this.#socket === socket) this.#socket = undefined
  }

  /** Numbers a dispatch, keeps it, and sends it if there is a connection. */
  dispatch(type: string, data: Readonly<Record<string, unknown>>): void {
    const { intents, bot, ledger, now, id: sessionId } = this.#deps
    if (!isWanted(type, data, intents)) return
    const seq = ++this.#seq
    const seen = type.startsWith('MESSAGE_') ? withoutContent(data, intents, bot.id) : data
    const frame = JSON.stringify({ op: 0, t: type, s: seq, d: seen })
    this.#kept.push({ seq, frame })
    if (this.#kept.length > MOST_KEPT) this.#kept.shift()
    ledger.append({ kind: 'dispatch', at: now(), sessionId, seq, type, live: this.connected, data: seen })
    this.#socket?.send(frame)
  }

  /** Numbers a dispatch that is never sent. */
  lose(type: string, data: Readonly<Record<string, unknown>>): void {
    if (isWanted(type, data, this.#deps.intents)) this.#seq++
  }

  /**
   * Sends again everything after `seq`. Returns false if it was never used or is forgotten, so that the client must
   * identify.
   */
  replay(seq: number): boolean {
    const first = this.#kept[0]?.seq ?? this.#seq + 1
    if (seq > this.#seq || seq < first - 1) return false
    for (const kept of this.#kept) if (kept.seq > seq) this.#socket?.send(kept.frame)
    return true
  }
}
