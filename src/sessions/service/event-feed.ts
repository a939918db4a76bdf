import { setImmediate as loopTurn } from 'node:timers/promises'
import type { LiveEvent, StreamEnd, StreamReader } from '../../core/operate-events.ts'

/** An event at its place in a feed. */
export interface FeedItem {
  readonly place: number
  readonly live: LiveEvent
}

/** A reader and how far it has come. */
export interface FeedMember {
  readonly reader: StreamReader
  /** The place of the last event that it was given, or that is not for it. */
  place: number
  /** With the text of running answers. */
  readonly texts: boolean
  /** It was not given the last text, so it needs the next one whole. */
  behind: boolean
  sees(session: string): boolean
  /** If set, the stream ends with it once all events of the log were given. */
  readonly until?: StreamEnd | undefined
}

export interface FeedDeps {
  /** Returns events behind a place, in order; none only at the end. */
  read(after: number, limit: number): Promise<readonly FeedItem[]>
  /** Called with an error that ends a reader. */
  failed(error: unknown): void
}

const PAGE = 50

/**
 * Hands the events of a log to its readers. Each first reads what it has missed at its own pace, then joins: from there
 * on every event is read once for all of them. The log itself is the only source, so no event is given twice or left
 * out, whatever is committed meanwhile.
 */
export class EventFeed {
  readonly #deps: FeedDeps
  readonly #members = new Set<FeedMember>()
  readonly #joined = new Set<FeedMember>()
  /** The place up to which those who have joined were given everything. */
  #place = 0
  #reading = false
  #again = false
  #ending: ((member: FeedMember) => StreamEnd) | undefined

  constructor(deps: FeedDeps) {
    this.#deps = deps
  }

  get members(): ReadonlySet<FeedMember> {
    return this.#members
  }

  add(member: FeedMember): void {
    this.#members.add(member)
    void this.#catchUp(member).catch((error: unknown) => this.#drop(member, error))
  }

  remove(member: FeedMember): void {
    this.#members.delete(member)
    this.#joined.delete(member)
  }

  /** Called after each commit that may have added to the log. */
  grew(): void {
    this.#again = true
    if (this.#reading || this.#joined.size === 0) return
    this.#reading = true
    void this.#readOn().catch((error: unknown) => {
      for (const member of [...this.#joined]) this.#drop(member, error)
    })
  }

  /** Ends it for everybody, once all that stands in the log was given. */
  endWith(ending: (member: FeedMember) => StreamEnd): void {
    this.#ending = ending
    this.grew()
  }

  /** Called when places behind `last` are free again and will be those of other events. */
  taken(last: number): void {
    this.#place = Math.min(this.#place, last)
    for (const member of this.#members) member.place = Math.min(member.place, last)
  }

  async #catchUp(member: FeedMember): Promise<void> {
    while (this.#members.has(member)) {
      const from = member.place
      const items = await this.#deps.read(from, PAGE)
      if (from !== member.place) continue
      if (items.length === 0 && this.#join(member)) return
      for (const item of items) {
        give(member, item)
        // The rest of the page is read again later: a reader that waits holds nothing.
        if (!member.reader.roomy()) break
      }
      if (!member.reader.roomy()) await member.reader.ready()
    }
  }

  /** Returns false if there is more for it in the log by now. */
  #join(member: FeedMember): boolean {
    if (!this.#members.has(member)) return true
    const end = member.until ?? this.#ending?.(member)
    if (end) {
      this.remove(member)
      member.reader.end(end)
      return true
    }
    if (this.#joined.size === 0) this.#place = member.place
    if (this.#place > member.place) return false
    this.#joined.add(member)
    this.grew()
    return true
  }

  async #readOn(): Promise<void> {
    try {
      while (this.#again && this.#joined.size > 0) await this.#readPage()
    } finally {
      this.#reading = false
    }
  }

  async #readPage(): Promise<void> {
    this.#again = false
    const from = this.#place
    const items = await this.#deps.read(from, PAGE)
    // Whoever has joined meanwhile may stand at another place.
    if (items.length > 0 || from !== this.#place) this.#again = true
    if (from !== this.#place) return
    for (const item of items) {
      this.#place = item.place
      if (!this.#giveAll(item)) continue
      // Within one turn of the loop no connection takes anything: a page of long events would cut off who reads well.
      await loopTurn()
      if (this.#place !== item.place) {
        this.#again = true
        return
      }
    }
    if (!this.#again && this.#ending) this.#endAll(this.#ending)
  }

  /** Returns true if somebody has much that waits. */
  #giveAll(item: FeedItem): boolean {
    let crowded = false
    for (const member of this.#joined) {
      if (item.place > member.place) give(member, item)
      crowded ||= !member.reader.roomy()
    }
    return crowded
  }

  #endAll(ending: (member: FeedMember) => StreamEnd): void {
    for (const member of [...this.#joined]) {
      this.remove(member)
      member.reader.end(ending(member))
    }
  }

  #drop(member: FeedMember, error: unknown): void {
    if (!this.#members.has(member)) return
    this.remove(member)
    this.#deps.failed(error)
    member.reader.cut()
  }
}

function give(member: FeedMember, { place, live }: FeedItem): void {
  member.place = place
  if (member.sees(live.session)) member.reader.event(live)
}
