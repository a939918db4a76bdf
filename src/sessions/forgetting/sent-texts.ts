import { type ChannelId, isTurnId, type MediaId, type SourceId, turnOf } from '../../core/ids.ts'
import type { SentRow } from '../../store/forget-port.ts'
import type { ForgetReader, Pause } from './forget-reader.ts'
import { ownName, postName } from './own-quotes.ts'

type Sent = Pick<SentRow, 'source' | 'address' | 'traceId' | 'media' | 'messageId'>

export interface SentToRead {
  /** Messages and turns that go: so does what was said for them. */
  readonly said: ReadonlySet<SourceId>
  /** The row of the outbox up to which it is read. */
  readonly upTo: number
  readonly pause: Pause
  isMeant(this: void, row: SentRow): boolean
}

/** Rows between two pauses: some milliseconds. */
const PAGE = 100

/** Collects the texts of ours that go, by what they were said for. */
export class SentTexts {
  readonly sources = new Set<SourceId>()
  /** Their names in their chats, and in logs that do not say in which chat they were said. */
  readonly own = new Set<string>()
  readonly posts = new Set<string>()
  readonly media = new Set<MediaId>()
  readonly channels = new Set<ChannelId>()
  /** The row of the outbox up to which it was read. */
  #readTo = 0
  /** The sources whose texts that reading has looked for. */
  #said: ReadonlySet<SourceId> = new Set()

  async advance(read: ForgetReader, { said, upTo, pause, isMeant }: SentToRead): Promise<void> {
    const isAgain = this.#readTo > 0
    for (const source of said) if (isAgain && !this.#said.has(source)) await this.#addSource(read, source)
    this.#said = said
    while (this.#readTo < upTo) {
      const rows = (await read.forgetting.sentAfter(this.#readTo, PAGE)).filter(({ no }) => no <= upTo)
      for (const row of rows) if (said.has(turnOf(row.source) ?? row.source) || isMeant(row)) this.#add(row)
      this.#readTo = rows.at(-1)?.no ?? upTo
      await pause()
    }
  }

  /** Adds a source that was found after the outbox was read: its rows may be among those that were passed over. */
  async #addSource({ outbox }: ForgetReader, said: SourceId): Promise<void> {
    for (const { part, ...row } of await (isTurnId(said) ? outbox.ofTurn(said) : outbox.ofSource(said)))
      this.#add({ ...row, ...(part.file && { media: part.file.media }) })
  }

  #add({ source, address, traceId, media, messageId }: Sent): void {
    this.sources.add(source)
    this.channels.add(address.channel)
    if (media !== undefined) this.media.add(media)
    if (messageId === undefined) return
    this.own.add(ownName(address, messageId))
    this.posts.add(postName({ traceId, messageId }))
  }
}
