import type { Channels } from '../../core/channel-traits.ts'
import type { ForgetPlan, ForgetTarget, SessionPlan } from '../../core/forgetting.ts'
import type { MediaId, ScheduleId, SessionId, SourceId, TurnId } from '../../core/ids.ts'
import { type AuthorId, personAuthor } from '../../core/platform-id.ts'
import { Tellings } from '../../core/repeats.ts'
import type { Schedule } from '../../core/schedule.ts'
import type { SentRow } from '../../store/forget-port.ts'
import { entriesFound, tellMade } from './entries-of-words.ts'
import { type ForgetReader, NO_PAUSE, type Pause, pausing, relativesOf, runningIn } from './forget-reader.ts'
import { MadeByCalls } from './made-by-calls.ts'
import { addMadeSoFar, shownLater, withRows } from './made-meanwhile.ts'
import { applicantsOf, type ForgottenWords, isScheduleOf } from './made-of-words.ts'
import { type Matches, matchesOf } from './matches.ts'
import { isNamedAfter, isWhollyIn, originsOf, sessionsNamed } from './origin.ts'
import { readLog } from './read-log.ts'
import { ReceivedMessages } from './received-messages.ts'
import { SessionScan } from './scan-session.ts'
import { SentTexts } from './sent-texts.ts'
import { isSaidAgain, type ShownAgain } from './shown-again.ts'

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
  readonly #sent: SentTexts
  readonly #media = new Set<MediaId>()
  readonly #made = new MadeByCalls()
  readonly #again: ShownAgain = {
    tellings: new Tellings(),
    lists: (text) => this.#made.lists(text),
    isSaidIn: (session) => (this.#scans.get(session)?.messages.length ?? 0) > 0,
  }
  readonly #received: ReceivedMessages
  #matches: Matches | undefined
  /** The authors of sessions that go as a whole: of what was imported no message is on record as received. */
  #wrote: readonly AuthorId[] = []

  constructor(target: ForgetTarget, channels: Pick<Channels, 'traits'>) {
    this.#target = target
    this.#channels = channels
    this.#sent = new SentTexts(channels)
    this.#received = new ReceivedMessages({ channels, made: this.#made, again: this.#again })
  }

  async advance(read: ForgetReader, pause = NO_PAUSE): Promise<void> {
    const matches = await this.#begin(read)
    // Later texts are read the next time: a log that is read before them may not name their turn yet.
    const sentTo = await read.forgetting.lastSent()
    await this.#received.find(read, matches, pause)
    await this.#addSessions(read, matches, pause)
    await this.#made.nameApplicants(read, applicantsOf(this.#target))
    await this.#made.addAnswered(read, this.#scans)
    for (const step of [0, 1] as const) {
      for (const scan of this.#scans.values()) await readLog(read, { scan, step, pause })
      if (step === 0) {
        this.#followElsewhere()
        await this.#addMade(read, pause)
      }
    }
    await this.#received.compare(read, pause)
    await this.#sent.advance(read, {
      said: new Set<SourceId>([
        ...[...this.#received.meant.keys(), ...this.#turns().keys()],
        ...[...this.#scans.values()].flatMap(({ repeating }) => [...repeating]),
      ]),
      isMeant: (row) => matches.isSent(row) || this.#isRepetition(row),
      ...{ upTo: sentTo, pause },
    })
  }

  #followElsewhere(): void {
    const { posts } = this.#sent
    for (const scan of this.#scans.values())
      scan.followElsewhere(({ session, seq }) => this.#scans.get(session)?.goes(seq, posts) === true)
  }

  async #begin(read: ForgetReader): Promise<Matches> {
    if (this.#matches) return this.#matches
    const facts = await this.#received.factsOf(this.#target, read, await read.chatMoves.all())
    this.#matches = matchesOf(this.#target, facts, this.#channels)
    return this.#matches
  }

  /** Adds what is made of the words by ids; later texts may repeat it as they may repeat the words. */
  async #addMade(read: ForgetReader, pause: Pause): Promise<void> {
    for (const [id, row] of this.#made.tasksOf(this.#turns(), this.#scans)) this.#received.repeating.set(id, row)
    await tellMade(read, { ...this.#entryParts(), turns: this.#turns(), pause })
  }

  #words(): ForgottenWords {
    return { target: this.#target, tellings: this.#again.tellings, authors: this.#authors() }
  }

  #entryParts() {
    const rows = [...this.#received.meant.keys()]
    return { words: this.#words(), rows, scans: [...this.#scans.values()], made: this.#made }
  }

  async #addSessions(read: ForgetReader, matches: Matches, pause: Pause): Promise<void> {
    const target = this.#target
    if (target.kind === 'session')
      this.#wrote = (await Promise.all(target.sessions.map((id) => read.authors.of(id)))).flat()
    const authors: readonly AuthorId[] = target.kind === 'person' ? target.ids : this.#authorsReceived()
    const [named, shown] = [await sessionsNamed(read, target), await read.forgetting.sessionsOf(authors)]
    const ids = new Set<SessionId>([...named, ...shown, ...this.#received.quotedIn])
    for (const { sessionId } of this.#received.meant.values()) if (sessionId !== undefined) ids.add(sessionId)
    for (const id of ids) {
      for await (const relative of relativesOf(read, id)) ids.add(relative)
      await pause()
    }
    for (const id of ids) {
      if (this.#scans.has(id)) continue
      const session = await read.sessions.get(id)
      if (session === undefined) continue
      const origins = await originsOf(read, session)
      this.#scans.set(id, new SessionScan({ session, origins, matches, again: this.#again }))
    }
  }

  /** Returns everybody who has said something of it. */
  #authorsReceived(): readonly AuthorId[] {
    return [...new Set([...this.#wrote, ...this.#received.authors()])]
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
    return new Map([...this.#received.turns(), ...[...this.#scans.values()].flatMap(({ turns }) => [...turns])])
  }

  async plan(read: ForgetReader, pause = NO_PAUSE): Promise<ForgetPlan> {
    const words = this.#words()
    const entries = new Set(await entriesFound(read, { ...this.#entryParts(), pause }))
    let sessions = await this.#sessions(read, entries.size > 0, pause)
    while (await addMadeSoFar(read, sessions, entries)) sessions = await this.#sessions(read, true, pause)
    const received = this.#received
    const repeating = [...received.repeating.values()].filter(({ sessionId: id }) => id && this.#scans.has(id))
    const unended = new Set(sessions.flatMap(({ running }) => running?.turn ?? []))
    const meant = [...received.meant.values(), ...repeating, ...received.copies.among(this.#sent.own)]
    const rows = meant.filter(({ turnId }) => !turnId || !unended.has(turnId))
    const going = this.#turns()
    const turns = [...going].filter(([turn, at]) => !unended.has(turn) && at > this.#target.before - UNSAID_MS)
    const { scans } = this.#entryParts()
    const reminders = new Set((await this.#made.reminders(read, { scans, turns: going })).map(({ id }) => id))
    const isMeant = (one: Schedule): boolean => reminders.has(one.id) || isScheduleOf(words, one)
    return {
      sessions: sessions.map((session) => withRows(session, meant)),
      inbox: rows.map(({ id }) => id),
      quoting: [...received.quoting, ...received.quotesOwn.among(this.#sent.own, this.#matches?.moves ?? [])],
      sources: [...this.#sent.sources],
      unsay: turns.map(([turn]) => turn).slice(-MOST_UNSAID),
      entries: [...entries],
      schedules: (await read.schedules.all()).filter(isMeant).map(({ id }): ScheduleId => id),
      media: [...new Set([...this.#media, ...this.#sent.media])],
      applicants: applicantsOf(this.#target),
      channels: [...new Set([...received.channels, ...this.#sent.channels])],
    }
  }

  /** Returns the plans of sessions, `entry` where memories go as well, and adds their files. */
  async #sessions(read: ForgetReader, entry: boolean, pause: Pause): Promise<readonly SessionPlan[]> {
    // Our own posts that go are known only now.
    this.#followElsewhere()
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
