import type { Channels } from '../../core/channel-traits.ts'
import { movedAddress } from '../../core/chat-move.ts'
import type { ForgetPlan, ForgetTarget, SessionPlan } from '../../core/forgetting.ts'
import type { ChannelId, InboxId, MediaId, ScheduleId, SessionId, SourceId, TurnId } from '../../core/ids.ts'
import { calledBy } from '../../core/label.ts'
import type { InboundEvent } from '../../core/message.ts'
import { type AuthorId, NOBODY, personAuthor } from '../../core/platform-id.ts'
import { Tellings } from '../../core/repeats.ts'
import type { Schedule } from '../../core/schedule.ts'
import { wordsIn } from '../../core/words-in.ts'
import type { ReceivedRow, SentRow } from '../../store/forget-port.ts'
import { entriesFound, tellMade } from './entries-of-words.ts'
import {
  type ForgetReader,
  NO_PAUSE,
  PAGE,
  type Pause,
  pausing,
  relativesOf,
  runningIn,
  timedMoves,
} from './forget-reader.ts'
import { MadeByCalls } from './made-by-calls.ts'
import { addMadeSoFar, shownLater, withRows } from './made-meanwhile.ts'
import { applicantsOf, type ForgottenWords, isScheduleOf } from './made-of-words.ts'
import { type Matches, matchesOf, pieceOf, type Received, withoutWords } from './matches.ts'
import { isNamedAfter, isWhollyIn, originsOf, sessionsNamed } from './origin.ts'
import { OwnQuotes, ownName } from './own-quotes.ts'
import { readLog } from './read-log.ts'
import { SessionScan } from './scan-session.ts'
import { SentTexts } from './sent-texts.ts'
import { isGivenAgain, isSaidAgain, type ShownAgain } from './shown-again.ts'

/** Answers that are deleted in their chats at most, and how old they may be: platforms refuse older ones. */
const MOST_UNSAID = 100
const UNSAID_MS = 47 * 3_600_000

/**
 * Collects what of every store a target means, as numbers and ids. `advance` reads on from where the last call ended,
 * so that the same reading can be completed inside the transaction that begins to remove.
 */
export class Collection {
  readonly #target: ForgetTarget
  readonly #channels: Pick<Channels, 'traits'>
  readonly #scans = new Map<SessionId, SessionScan>()
  readonly #received = new Map<InboxId, Received>()
  /** The names of these messages in their chats. */
  readonly #names = new Set<string>()
  readonly #channelsOf = new Set<ChannelId>()
  readonly #quoting = new Set<InboxId>()
  /** The sessions in which that was said: a quoted file names nobody as an author there. */
  readonly #quotedIn = new Set<SessionId>()
  /** Texts of schedules and sessions that repeat what is meant. */
  readonly #repeating = new Map<InboxId, Received>()
  readonly #sent = new SentTexts()
  /** The messages received that quote one of ours. */
  readonly #quotesOwn = new OwnQuotes<InboxId>()
  readonly #media = new Set<MediaId>()
  readonly #made = new MadeByCalls()
  readonly #again: ShownAgain = {
    tellings: new Tellings(),
    lists: (text) => this.#made.lists(text),
    isSaidIn: (session) => (this.#scans.get(session)?.messages.length ?? 0) > 0,
  }
  #matches: Matches | undefined
  readonly #named: ReceivedRow[] = []
  /** The authors of sessions that go as a whole: of what was imported no message is on record as received. */
  #wrote: readonly AuthorId[] = []
  /** The rows of the inbox up to which it was read, the first and the second time. */
  readonly #receivedTo = [0, 0] as [number, number]

  constructor(target: ForgetTarget, channels: Pick<Channels, 'traits'>) {
    this.#target = target
    this.#channels = channels
  }

  async advance(read: ForgetReader, pause = NO_PAUSE): Promise<void> {
    const matches = await this.#begin(read)
    // Later texts are read the next time: a log that is read before them may not name their turn yet.
    const sentTo = await read.forgetting.lastSent()
    await this.#readReceived(read, 0, pause, (row) => this.#receive(row, matches))
    await this.#addSessions(read, matches, pause)
    await this.#made.nameApplicants(read, applicantsOf(this.#target))
    await this.#made.addAnswered(read, this.#scans)
    for (const step of [0, 1] as const) {
      for (const scan of this.#scans.values()) await readLog(read, { scan, step, pause })
      if (step === 0) await this.#addMade(read, pause)
    }
    await this.#readReceived(read, 1, pause, (row) => this.#compare(row))
    await this.#sent.advance(read, {
      said: new Set<SourceId>([
        ...[...this.#received.keys(), ...this.#turns().keys()],
        ...[...this.#scans.values()].flatMap(({ repeating }) => [...repeating]),
      ]),
      isMeant: (row) => matches.isSent(row) || this.#isRepetition(row),
      ...{ upTo: sentTo, pause },
    })
  }

  async #begin({ inbox, chatMoves }: ForgetReader): Promise<Matches> {
    if (this.#matches) return this.#matches
    if (this.#target.kind === 'message') {
      const rows = await Promise.all(this.#target.rows.map((id) => inbox.get(id)))
      this.#named.push(...rows.flatMap((row) => (row === undefined ? [] : [{ no: 0, ...row }])))
    }
    const moves = await timedMoves(chatMoves)
    const renumbered: number[] = []
    for (const { dispatch } of moves.length === 0 ? [] : this.#named) {
      const { channel, chat } = moves.reduce(movedAddress, dispatch.event.address)
      renumbered.push(...moves.flatMap((move) => (move.channel === channel && move.to === chat ? move.at : [])))
    }
    const known = { rows: this.#named, moves, renumbered, received: this.#names }
    this.#matches = matchesOf(this.#target, known, this.#channels)
    return this.#matches
  }

  async #readReceived(
    { forgetting }: ForgetReader,
    step: 0 | 1,
    pause: Pause,
    take: (row: ReceivedRow) => void,
  ): Promise<void> {
    for (;;) {
      const rows = await forgetting.receivedAfter(this.#receivedTo[step], PAGE)
      for (const row of rows) take(row)
      const last = rows.at(-1)
      if (last === undefined) return
      this.#receivedTo[step] = last.no
      await pause()
    }
  }

  /** Adds what is made of the words by ids; later texts may repeat it as they may repeat the words. */
  async #addMade(read: ForgetReader, pause: Pause): Promise<void> {
    for (const [id, row] of this.#made.tasksOf(this.#turns(), this.#scans)) this.#repeating.set(id, row)
    await tellMade(read, { ...this.#entryParts(), turns: this.#turns(), pause })
  }

  #words(): ForgottenWords {
    return { target: this.#target, tellings: this.#again.tellings, authors: this.#authors() }
  }

  #entryParts() {
    const rows = [...this.#received.keys()]
    return { words: this.#words(), rows, scans: [...this.#scans.values()], made: this.#made }
  }

  #receive(row: ReceivedRow, matches: Matches): void {
    const { event } = row.dispatch
    if (matches.isReceived(row)) this.#go(row)
    else if ('text' in event && matches.quotes(event, event.address, row.dispatch.receivedAt)) {
      this.#quoting.add(row.id)
      if (row.sessionId !== undefined) this.#quotedIn.add(row.sessionId)
    } else {
      this.#made.noteSent(row, () => withoutWords(row, this.#channels))
      if ('text' in event)
        this.#quotesOwn.note(row.id, { quoted: event.quoted, chat: event.address, at: row.dispatch.receivedAt })
    }
  }

  #go(row: ReceivedRow): void {
    const { event, receivedAt } = row.dispatch
    const received = withoutWords(row, this.#channels)
    this.#received.set(row.id, received)
    this.#made.note(row, received)
    if (pieceOf(event) !== undefined) this.#named.push(row)
    this.#names.add(nameOf(event))
    this.#channelsOf.add(event.address.channel)
    if ('text' in event)
      for (const words of wordsIn({ ...event, ...NOT_SHOWN }))
        this.#again.tellings.add(words, receivedAt, [calledBy(event.sender)])
  }

  /** Texts of schedules and sessions are compared once all words are known. */
  #compare(row: ReceivedRow): void {
    const { origin, schedule } = row.dispatch
    if (origin !== 'schedule' && origin !== 'tool' && schedule?.data === undefined) return
    if (this.#received.has(row.id) || this.#quoting.has(row.id)) return
    if (isGivenAgain(this.#again, row.dispatch)) this.#repeating.set(row.id, withoutWords(row, this.#channels))
  }

  async #addSessions(read: ForgetReader, matches: Matches, pause: Pause): Promise<void> {
    const target = this.#target
    if (target.kind === 'session')
      this.#wrote = (await Promise.all(target.sessions.map((id) => read.authors.of(id)))).flat()
    const authors: readonly AuthorId[] = target.kind === 'person' ? target.ids : this.#authorsReceived()
    const [named, shown] = [await sessionsNamed(read, target), await read.forgetting.sessionsOf(authors)]
    const ids = new Set<SessionId>([...named, ...shown, ...this.#quotedIn])
    for (const { sessionId } of this.#received.values()) if (sessionId !== undefined) ids.add(sessionId)
    for (const id of ids) {
      for await (const relative of relativesOf(read, id)) ids.add(relative)
      await pause()
    }
    for (const id of ids) {
      if (this.#scans.has(id)) continue
      const session = await read.sessions.get(id)
      if (session === undefined) continue
      const origins = await originsOf(read, session)
      this.#scans.set(id, new SessionScan(session, origins, matches, this.#again))
    }
  }

  /**
   * Returns everybody who has said something of it. Where others are, only an owner can mean words of nobody, such as a
   * channel's: a person alone takes nothing from other sessions that somebody nobody knows has said there, too.
   */
  #authorsReceived(): readonly AuthorId[] {
    const meant = [...this.#received.values()].filter(({ author, shared }) => author !== NOBODY || shared)
    return [...new Set([...this.#wrote, ...meant.map(({ author }) => author)])]
  }

  /** A text that is still to be sent elsewhere stays, unless it lists what goes: nobody there loses it by words here. */
  #isRepetition(row: SentRow): boolean {
    const { sessionId, ended } = row
    if (this.#made.isShownIn(row)) return true
    const isReached = ended || (sessionId !== undefined && this.#scans.has(sessionId))
    return isReached && isSaidAgain(this.#again, row)
  }

  /**
   * Returns the turns that go, by their time. A log does not name one that an earlier request has emptied: the message
   * does, and what that turn has said may stand in the chat.
   */
  #turns(): ReadonlyMap<TurnId, number> {
    const answering = [...this.#received.values()].flatMap(({ turnId, at }) =>
      turnId === undefined ? [] : [[turnId, at] as const],
    )
    return new Map([...answering, ...[...this.#scans.values()].flatMap(({ turns }) => [...turns])])
  }

  async plan(read: ForgetReader, pause = NO_PAUSE): Promise<ForgetPlan> {
    const words = this.#words()
    const entries = new Set(await entriesFound(read, { ...this.#entryParts(), pause }))
    let sessions = await this.#sessions(read, entries.size > 0, pause)
    while (await addMadeSoFar(read, sessions, entries)) sessions = await this.#sessions(read, true, pause)
    const repeating = [...this.#repeating.values()].filter(({ sessionId }) => sessionId && this.#scans.has(sessionId))
    const unended = new Set(sessions.flatMap(({ running }) => running?.turn ?? []))
    const meant = [...this.#received.values(), ...repeating]
    const rows = meant.filter(({ turnId }) => !turnId || !unended.has(turnId))
    const going = this.#turns()
    const turns = [...going].filter(([turn, at]) => !unended.has(turn) && at > this.#target.before - UNSAID_MS)
    const { scans } = this.#entryParts()
    const reminders = new Set((await this.#made.reminders(read, { scans, turns: going })).map(({ id }) => id))
    const isMeant = (one: Schedule): boolean => reminders.has(one.id) || isScheduleOf(words, one)
    return {
      sessions: sessions.map((session) => withRows(session, meant)),
      inbox: rows.map(({ id }) => id),
      quoting: [...this.#quoting, ...this.#quotesOwn.among(this.#sent.own, this.#matches?.moves ?? [])],
      sources: [...this.#sent.sources],
      unsay: turns.map(([turn]) => turn).slice(-MOST_UNSAID),
      entries: [...entries],
      schedules: (await read.schedules.all()).filter(isMeant).map(({ id }): ScheduleId => id),
      media: [...new Set([...this.#media, ...this.#sent.media])],
      applicants: applicantsOf(this.#target),
      channels: [...new Set([...this.#channelsOf, ...this.#sent.channels])],
    }
  }

  /** Returns the plans of sessions, `entry` where memories go as well, and adds their files. */
  async #sessions(read: ForgetReader, entry: boolean, pause: Pause): Promise<readonly SessionPlan[]> {
    const plans = new Map<SessionId, SessionPlan>()
    const running = new Map<SessionScan, TurnId>()
    for (const scan of this.#scans.values()) {
      const turn = await runningIn(read, scan.session.id)
      if (turn !== undefined) running.set(scan, turn.turn)
      const { own, posts } = this.#sent
      const isUnnamed = isWhollyIn(this.#target, scan.session) || isNamedAfter(this.#target, scan.session)
      const found = await pausing(scan.plan({ own, posts, titles: this.#made.titles, entry, isUnnamed }, turn), pause)
      if (found === undefined) continue
      const { media, ...plan } = found
      for (const file of media) this.#media.add(file)
      plans.set(plan.id, plan)
    }
    const changed = new Set(plans.keys())
    // It may have been shown an entry that goes, or by its tools what goes elsewhere.
    for (const [{ session, shown }, turn] of running)
      if (entry || shown.hasRead(turn, changed))
        plans.set(session.id, { ...shownLater(session.id, turn), ...plans.get(session.id) })
    return [...plans.values()]
  }

  /** Returns everybody whose words are meant. */
  #authors(): ReadonlySet<AuthorId> {
    const target = this.#target
    if (target.kind !== 'person') return new Set(this.#authorsReceived())
    return new Set([...target.ids, ...(target.person === undefined ? [] : [personAuthor(target.person)])])
  }
}

function nameOf(event: InboundEvent): string {
  return ownName(event.address, 'messageId' in event ? event.messageId : '')
}

/** The fields of a message's event that say nothing of its words. */
const NOT_SHOWN = { owner: false, addressed: false, triggers: false } as const
