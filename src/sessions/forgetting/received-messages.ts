import type { Channels } from '../../core/channel-traits.ts'
import { movedAddress, type TimedMove } from '../../core/chat-move.ts'
import type { ForgetTarget } from '../../core/forgetting.ts'
import type { ChannelId, InboxId, SessionId, TurnId } from '../../core/ids.ts'
import { calledBy } from '../../core/label.ts'
import { type InboundEvent, quotesOtherBot } from '../../core/message.ts'
import { type AuthorId, NOBODY } from '../../core/platform-id.ts'
import { isWordless } from '../../core/same-content.ts'
import { wordsIn } from '../../core/words-in.ts'
import type { ReceivedRow } from '../../store/forget-port.ts'
import { type ForgetReader, PAGE, type Pause } from './forget-reader.ts'
import type { MadeByCalls } from './made-by-calls.ts'
import { type Matches, type Received, type TargetFacts, withoutWords } from './matches.ts'
import { CopiesOfOurs, OwnQuotes, ownName } from './own-quotes.ts'
import { isGivenAgain, type ShownAgain } from './shown-again.ts'

interface ReceivedDeps {
  readonly channels: Pick<Channels, 'traits'>
  readonly made: MadeByCalls
  readonly again: ShownAgain
}

/**
 * Collects the messages of the inbox that go. It reads the inbox twice: first for the messages that are meant and those
 * that quote them, then, once all words are known, for texts of schedules and sessions that repeat them.
 */
export class ReceivedMessages {
  /** The messages that are meant. */
  readonly meant = new Map<InboxId, Received>()
  readonly channels = new Set<ChannelId>()
  /** The messages that quote them, and the sessions of these: a quoted file names nobody as an author there. */
  readonly quoting = new Set<InboxId>()
  readonly quotedIn = new Set<SessionId>()
  /** The messages that quote one of ours. */
  readonly quotesOwn = new OwnQuotes<InboxId>()
  /** The messages of bots, which may be ours. */
  readonly copies = new CopiesOfOurs<Received>()
  /** Texts of schedules and sessions that repeat what is meant. */
  readonly repeating = new Map<InboxId, Received>()
  readonly #deps: ReceivedDeps
  /** The messages that the target names, with their further pieces and as other bots have received them. */
  readonly #named: ReceivedRow[] = []
  /** The names of the meant messages in their chats. */
  readonly #names = new Set<string>()
  /** The rows up to which the inbox was read, the first and the second time. */
  readonly #readTo = [0, 0] as [number, number]

  constructor(deps: ReceivedDeps) {
    this.#deps = deps
  }

  /** Returns the facts by which messages are found; rows and names are added to them while the inbox is read. */
  async factsOf(
    target: ForgetTarget,
    { inbox }: Pick<ForgetReader, 'inbox'>,
    moves: readonly TimedMove[],
  ): Promise<TargetFacts> {
    if (target.kind === 'message') {
      const rows = await Promise.all(target.rows.map((id) => inbox.get(id)))
      this.#named.push(...rows.flatMap((row) => (row === undefined ? [] : [{ no: 0, ...row }])))
    }
    const renumbered: number[] = []
    for (const { dispatch } of moves.length === 0 ? [] : this.#named) {
      const { channel, chat } = moves.reduce(movedAddress, dispatch.event.address)
      renumbered.push(...moves.flatMap((move) => (move.channel === channel && move.to === chat ? move.at : [])))
    }
    return { rows: this.#named, moves, renumbered, received: this.#names }
  }

  /**
   * Reads on, the first time. A row may be known by a later one alone, such as a piece by the next piece that another
   * bot has received, so all are read again until no further row of the message that the target names is found.
   */
  async find(read: ForgetReader, matches: Matches, pause: Pause): Promise<void> {
    for (;;) {
      const known = this.#named.length
      await this.#advance(read, 0, pause, (row) => this.#find(row, matches))
      if (this.#named.length === known) return
      this.#readTo[0] = 0
    }
  }

  /** Reads on, the second time. */
  compare(read: ForgetReader, pause: Pause): Promise<void> {
    return this.#advance(read, 1, pause, (row) => this.#compare(row))
  }

  async #advance(
    { forgetting }: ForgetReader,
    step: 0 | 1,
    pause: Pause,
    take: (row: ReceivedRow) => void,
  ): Promise<void> {
    for (;;) {
      const rows = await forgetting.receivedAfter(this.#readTo[step], PAGE)
      for (const row of rows) take(row)
      const last = rows.at(-1)
      if (last === undefined) return
      this.#readTo[step] = last.no
      await pause()
    }
  }

  #find(row: ReceivedRow, matches: Matches): void {
    if (this.meant.has(row.id)) return
    const { event, receivedAt } = row.dispatch
    if (matches.isReceived(row)) this.#go(row)
    else if ('text' in event && matches.quotes(event, event.address, receivedAt)) {
      this.quoting.add(row.id)
      if (row.sessionId !== undefined) this.quotedIn.add(row.sessionId)
    } else {
      this.#deps.made.noteSent(row, () => withoutWords(row, this.#deps.channels))
      if (!('text' in event)) return
      const { quoted, attachments, address: chat } = event
      this.quotesOwn.note(row.id, { quoted, attachments, chat, at: receivedAt })
      if (!isWordless(event))
        this.copies.note(withoutWords(row, this.#deps.channels), event.messageId, event.sender, chat)
      const isOfBot = event.sender.kind === 'bot' || quotesOtherBot(quoted, chat)
      if (row.sessionId !== undefined && isOfBot) this.quotedIn.add(row.sessionId)
    }
  }

  #go(row: ReceivedRow): void {
    const { channels, made, again } = this.#deps
    const { event, receivedAt } = row.dispatch
    const received = withoutWords(row, channels)
    this.meant.set(row.id, received)
    made.note(row, received)
    this.quoting.delete(row.id)
    if (this.#named.length > 0 && !this.#named.some(({ id }) => id === row.id)) this.#named.push(row)
    this.#names.add(nameOf(event))
    this.channels.add(event.address.channel)
    if ('text' in event)
      for (const words of wordsIn({ ...event, ...NOT_SHOWN }))
        again.tellings.add(words, receivedAt, [calledBy(event.sender)])
  }

  #compare(row: ReceivedRow): void {
    const { origin, schedule } = row.dispatch
    if (origin !== 'schedule' && origin !== 'tool' && schedule?.data === undefined) return
    if (this.meant.has(row.id)) return
    const { again, channels } = this.#deps
    if (isGivenAgain(again, row.dispatch)) this.repeating.set(row.id, withoutWords(row, channels))
  }

  /**
   * Returns everybody who has said one of the meant messages. Where others are, only an owner can mean words of nobody,
   * such as a channel's: a person alone takes nothing from other sessions that somebody nobody knows has said there.
   */
  authors(): readonly AuthorId[] {
    const meant = [...this.meant.values()].filter(({ author, shared }) => author !== NOBODY || shared)
    return meant.map(({ author }) => author)
  }

  /** Returns the turns that answered the meant messages, by when these came. */
  turns(): readonly (readonly [TurnId, at: number])[] {
    return [...this.meant.values()].flatMap(({ turnId, at }) => (turnId === undefined ? [] : [[turnId, at] as const]))
  }
}

function nameOf(event: InboundEvent): string {
  return ownName(event.address, 'messageId' in event ? event.messageId : '')
}

/** The fields of a message's event that say nothing of its words. */
const NOT_SHOWN = { owner: false, addressed: false, triggers: false } as const
