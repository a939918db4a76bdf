import type { SessionEvent } from '../../core/event.ts'
import type { SessionId } from '../../core/ids.ts'
import type { StoreReader } from '../../store/store.ts'

/** The events looked at in one transaction. */
const BATCH = 100

interface Ages {
  /** The number behind which is looked. */
  readonly after: number
  /** Ms since the epoch: what is from before it is too old. */
  readonly before: number
  /** The time of day. */
  readonly now: number
}

/**
 * Returns the next events of a log that are too old, at most a hundred; none: nothing else is. Behind events of a clock
 * that was ahead for a while lie older ones, so that these need not be the next of the log.
 *
 * A log is in order, but the clock may have been wrong while it was written: a time that is still to come, or lies
 * before that of an event which came first, says nothing. Such an event is no younger than the next one whose time can
 * be right, and goes with that; at the end of a log, once the one before it is twice as old as it may be.
 */
export async function agedEvents(
  events: Pick<StoreReader['events'], 'since'>,
  session: SessionId,
  { after, ...ages }: Ages,
): Promise<readonly SessionEvent[]> {
  const [last] = after === 0 ? [] : await events.since(session, after - 1, 1)
  const ageing = new Ageing(ages, last)
  for (let from = after; ; ) {
    const page = await events.since(session, from, BATCH)
    const aged = page.flatMap((event) => ageing.take(event))
    if (aged.length > 0 || ageing.young) return aged.slice(0, BATCH)
    if (page.length < BATCH) return ageing.rest().slice(0, BATCH)
    from = page.at(-1)?.seq ?? from
  }
}

/** Takes the events of a log in their order, and gives back those that are too old. */
class Ageing {
  /** True once an event is not too old. */
  young = false
  readonly #ages: Omit<Ages, 'after'>
  /** No later event is from before it, unless a clock was wrong. */
  #floor: number | undefined
  /** Events whose time cannot be right, since the last one whose time can. */
  readonly #untimed: SessionEvent[] = []

  constructor(ages: Omit<Ages, 'after'>, last: SessionEvent | undefined) {
    this.#ages = ages
    if (last !== undefined && !isApart(last) && last.at <= ages.now) this.#floor = last.at
  }

  take(event: SessionEvent): readonly SessionEvent[] {
    const isOld = event.at < this.#ages.before
    if (isApart(event)) return isOld ? [event] : []
    if (this.#cannotBe(event)) {
      this.#untimed.push(event)
      return []
    }
    const before = this.#untimed.splice(0)
    if (isOld || this.#floor === undefined) this.#floor = event.at
    if (!isOld) this.young = true
    return isOld ? [...before, event] : []
  }

  /** Returns the last events of a log behind which none has a time that can be right. */
  rest(): readonly SessionEvent[] {
    const { before, now } = this.#ages
    const longAgo = before - (now - before)
    if (this.#floor === undefined || this.#floor >= longAgo) return []
    return this.#untimed.slice(0, this.#untimed.findLastIndex(({ at }) => at < before) + 1)
  }

  #cannotBe({ at }: SessionEvent): boolean {
    return at > this.#ages.now || (this.#floor !== undefined && at < this.#floor)
  }
}

/** The start of a session that is continued from another one is younger than the log that was copied behind it. */
function isApart({ type }: SessionEvent): boolean {
  return type === 'session_started'
}
