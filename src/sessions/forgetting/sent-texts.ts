import type { Channels } from '../../core/channel-traits.ts'
import { type ChannelId, isTurnId, type MediaId, madeAt, type SourceId, turnOf } from '../../core/ids.ts'
import type { SentRow } from '../../store/forget-port.ts'
import type { ForgetReader, Pause } from './forget-reader.ts'
import { OwnTexts, postName } from './own-quotes.ts'

type Sent = Pick<SentRow, 'source' | 'address' | 'traceId' | 'media' | 'messageId' | 'at' | 'startedAt'>

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
  readonly own: OwnTexts
  /** Their names in logs that do not say in which chat they were said. */
  readonly posts = new Set<string>()
  readonly media = new Set<MediaId>()
  readonly channels = new Set<ChannelId>()
  /** The row of the outbox up to which it was read. */
  #readTo = 0
  /** The sources whose texts that reading has looked for. */
  #said: ReadonlySet<SourceId> = new Set()

  constructor(channels: Pick<Channels, 'traits'>) {
    this.own = new OwnTexts(channels)
  }

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
      this.#add({ ...row, at: madeAt(row.id) ?? 0, ...(part.file && { media: part.file.media }) })
  }

  #add(sent: Sent): void {
    const { source, address, traceId, media, messageId } = sent
    this.sources.add(source)
    this.channels.add(address.channel)
    if (media !== undefined) this.media.add(media)
    if (messageId === undefined) return
    this.own.add(sent)
    this.posts.add(postName({ traceId, messageId }))
  }
}
