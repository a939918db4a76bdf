import type { Clock } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import type { Followed, FollowRequest, StreamEnd, StreamReader } from '../../core/operate-events.ts'
import type { EventFeed, FeedMember } from './event-feed.ts'

/** The beginning of a stream, and its place in a feed. */
export interface StreamOpening extends Pick<FeedMember, 'place' | 'sees' | 'texts' | 'until'> {
  /** Returns the feed; called when the stream begins. */
  feed(): EventFeed
  /** Called when it has left the feed. */
  left?(): void
}

/** Streams that one token, or everybody on the local socket, may have open. */
export const MOST_STREAMS = 1_024
const BEAT_MS = 15_000

/** The streams of one token. */
interface Owner {
  readonly readers: Set<StreamReader>
  open: number
}

/** Every stream that is open: counted by whoever opened it, kept from falling asleep, and ended. */
export class OpenStreams {
  readonly #clock: Clock
  readonly #owners = new Map<AbortSignal | undefined, Owner>()
  #count = 0
  #texts = 0
  #stopped = false
  #cancelBeat: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get count(): number {
    return this.#count
  }

  /** Those with the text of running answers. */
  get texts(): number {
    return this.#texts
  }

  /** Throws `too_many`, `unauthorized` and `unavailable`. */
  open({ ended }: FollowRequest, { feed: feedOf, left, ...rest }: StreamOpening): Pick<Followed, 'start' | 'close'> {
    if (this.#stopped) throw new ParleyError('unavailable', 'The daemon is stopping.')
    if (ended?.aborted) throw new ParleyError('unauthorized', 'The token has ended.')
    const owner = this.#ownerOf(ended)
    if (owner.open >= MOST_STREAMS)
      throw new ParleyError('too_many', `A token may have ${MOST_STREAMS} streams open; close some.`)
    owner.open++
    this.#count++
    if (rest.texts) this.#texts++
    let feed: EventFeed | undefined
    let member: FeedMember | undefined
    let closed = false
    return {
      start: (reader) => {
        if (this.#stopped) return reader.end({ reason: 'stopping' })
        if (ended?.aborted) return reader.end({ reason: 'revoked' })
        member = { ...rest, reader, behind: true }
        owner.readers.add(reader)
        this.#cancelBeat ??= this.#clock.after(BEAT_MS, this.#beat)
        feed = feedOf()
        feed.add(member)
      },
      close: () => {
        if (closed) return
        closed = true
        owner.open--
        this.#count--
        if (rest.texts) this.#texts--
        if (member !== undefined) {
          owner.readers.delete(member.reader)
          feed?.remove(member)
        }
        left?.()
      },
    }
  }

  /** Ends every stream at once, and refuses further ones. */
  stop(): void {
    this.#stopped = true
    this.#cancelBeat?.()
    for (const owner of this.#owners.values()) endAll(owner, { reason: 'stopping' })
  }

  /** A signal that is aborted ends all streams of its token. */
  #ownerOf(ended: AbortSignal | undefined): Owner {
    const known = this.#owners.get(ended)
    if (known !== undefined) return known
    const owner: Owner = { readers: new Set(), open: 0 }
    this.#owners.set(ended, owner)
    const revoked = (): void => {
      this.#owners.delete(ended)
      endAll(owner, { reason: 'revoked' })
    }
    ended?.addEventListener('abort', revoked, { once: true })
    return owner
  }

  readonly #beat = (): void => {
    this.#cancelBeat = undefined
    if (this.#count === 0) return
    for (const { readers } of this.#owners.values()) for (const reader of readers) reader.beat()
    this.#cancelBeat = this.#clock.after(BEAT_MS, this.#beat)
  }
}

function endAll({ readers }: Owner, end: StreamEnd): void {
  for (const reader of [...readers]) reader.end(end)
}
