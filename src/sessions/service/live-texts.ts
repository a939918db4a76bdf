import type { Clock } from '../../core/clock.ts'
import type { SessionId, TurnId } from '../../core/ids.ts'
import type { GrownText, LiveText } from '../../core/operate-events.ts'
import { visibleWhileStreaming } from '../../core/silence.ts'
import type { FeedMember } from './event-feed.ts'

interface Growing {
  readonly turn: TurnId
  raw: string
  sent: string
  nextAt: number
  cancel?: (() => void) | undefined
}

/** The shortest time between two pieces of one answer. */
const EVERY_MS = 50

/**
 * The texts of running answers, as far as somebody reads them: nothing of them is stored, and markers are held back
 * (S31, S48). A reader that is behind is left out and given the whole text as soon as there is room.
 */
export class LiveTexts {
  readonly #clock: Clock
  readonly #readers: (session: SessionId) => readonly FeedMember[]
  readonly #growing = new Map<SessionId, Growing>()

  constructor(clock: Clock, readers: (session: SessionId) => readonly FeedMember[]) {
    this.#clock = clock
    this.#readers = readers
  }

  /** True while a text is known to grow. */
  get grow(): boolean {
    return this.#growing.size > 0
  }

  grew({ session, turn, text }: GrownText): void {
    let growing = this.#growing.get(session)
    if (growing?.turn !== turn) {
      growing?.cancel?.()
      growing = { turn, raw: '', sent: '', nextAt: 0 }
      this.#growing.set(session, growing)
    }
    growing.raw = text
    if (growing.cancel !== undefined) return
    const wait = growing.nextAt - this.#clock.elapsed()
    const due = growing
    if (wait <= 0) this.#send(session, due)
    else
      due.cancel = this.#clock.after(wait, () => {
        due.cancel = undefined
        this.#send(session, due)
      })
  }

  /** Called with the end of a turn on record: nothing of its text is delivered behind it (C8). */
  over(session: SessionId): void {
    this.#growing.get(session)?.cancel?.()
    this.#growing.delete(session)
  }

  clear(): void {
    for (const { cancel } of this.#growing.values()) cancel?.()
    this.#growing.clear()
  }

  #send(session: SessionId, growing: Growing): void {
    growing.nextAt = this.#clock.elapsed() + EVERY_MS
    const shown = visibleWhileStreaming(growing.raw)
    const { turn, sent } = growing
    growing.sent = shown
    const from = commonLength(sent, shown)
    const piece: LiveText | undefined = shown === sent ? undefined : { session, turn, from, text: shown.slice(from) }
    const whole: LiveText = { session, turn, from: 0, text: shown }
    for (const member of this.#readers(session)) {
      const text = member.behind ? whole : piece
      if (text !== undefined && (text.text !== '' || sent !== '')) member.behind = !member.reader.text(text)
    }
  }
}

/** Returns how much of the beginning two texts share, in whole characters. */
function commonLength(a: string, b: string): number {
  let length = b.startsWith(a) ? a.length : 0
  if (length === 0) while (length < a.length && length < b.length && a[length] === b[length]) length++
  const half = b.charCodeAt(length)
  return length > 0 && half >= 0xdc00 && half <= 0xdfff ? length - 1 : length
}
