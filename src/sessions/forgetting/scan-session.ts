import { hasContent } from '../../core/emptied.ts'
import type { EventRef, SessionEvent, UserMessageData } from '../../core/event.ts'
import type { InboxId, MediaId, TurnId } from '../../core/ids.ts'
import type { ReadFile } from '../../core/message.ts'
import { repeats } from '../../core/repeats.ts'
import type { Session } from '../../core/session.ts'
import type { MessageRef } from '../../store/memory-port.ts'
import { FirstReading, type ScanOf } from './first-reading.ts'
import { inSteps, type RunningRows } from './forget-reader.ts'
import { filesIn, nameIn } from './matches.ts'
import { hasNames, isOfThisLog, originAt } from './origin.ts'
import type { OwnTexts } from './own-quotes.ts'
import { type PlanOf, type ScanPlan, shownLess } from './scan-plan.ts'
import { isRepetition } from './shown-again.ts'
import type { ShownTurns } from './shown-turns.ts'

/**
 * Finds what of one log is to be forgotten. It reads the log twice, each time a page after the other: first the
 * messages that are meant, then what was made of them: their turns, summaries and working memories after them, and what
 * repeats them word for word. It keeps numbers and ids, and adds the words to those that may be shown again, in memory.
 */
export class SessionScan {
  readonly session: Session
  /** The numbers up to which the log was read, the first and the second time. */
  readonly read = [0, 0] as [number, number]
  /** Turns that are forgotten for what they repeat. */
  readonly repeating = new Set<TurnId>()
  /** The ids of messages by which turns that go have begun a task here. */
  readonly tasks = new Set<string>()
  readonly #of: ScanOf
  readonly #first: FirstReading
  readonly #given = new RepeatingRows()
  /** The events of each turn that hold something. */
  readonly #ofTurn = new Map<TurnId, number[]>()
  readonly #files = new Map<number, readonly MediaId[]>()
  /** The files that turns were shown, by the events that say so. */
  readonly #shown = new Map<number, readonly Pick<ReadFile, 'ref' | 'media'>[]>()
  readonly #folds: { readonly seq: number; readonly upTo: number }[] = []

  constructor(of: ScanOf) {
    this.session = of.session
    this.#of = of
    this.#first = new FirstReading(of)
  }

  get messages(): readonly MessageRef[] {
    return this.#first.messages
  }

  get turns(): FirstReading['turns'] {
    return this.#first.turns
  }

  get copied(): FirstReading['copied'] {
    return this.#first.copied
  }

  get calls(): FirstReading['calls'] {
    return this.#first.calls
  }

  get shown(): ShownTurns {
    return this.#first.shown
  }

  /** Takes the next events of the first reading. */
  find(events: readonly SessionEvent[]): void {
    for (const event of events) {
      this.read[0] = event.seq
      if (!event.forgotten) this.#first.take(event)
    }
  }

  /** Takes what turns here were shown of other logs, where it goes there. */
  followElsewhere(goes: (source: EventRef) => boolean): void {
    this.#first.followElsewhere(goes)
  }

  /** Returns true for an event that goes as a whole; `posts` are the messages of ours that go. */
  goes(seq: number, posts: ReadonlySet<string>): boolean {
    return this.#first.found.has(seq) || this.#first.posted.among(posts).includes(seq)
  }

  /** Takes the next events of the second reading, once the first has come as far. */
  follow(events: readonly SessionEvent[]): void {
    for (const event of events) {
      this.read[1] = event.seq
      if (!event.forgotten) this.#follow(event)
    }
  }

  #follow(event: SessionEvent): void {
    const { seq, at, turnId, type } = event
    if (turnId !== undefined && this.#given.areTaken(event)) this.repeating.add(turnId)
    if (!hasContent(event)) return
    if (turnId !== undefined) this.#turnOf(turnId).push(seq)
    this.#makesGiven(event)
    const files = filesIn(event)
    if (files.length > 0) this.#files.set(seq, files)
    if (type === 'context_compacted' || type === 'checkpoint_written')
      this.#folds.push({ seq, upTo: seq - event.data.back })
    const origin = originAt(this.#of.origins, event)
    if (this.#of.matches.isWhole(at, origin)) {
      if (turnId !== undefined && type !== 'user_message') this.#first.turnGoes(turnId, at, isOfThisLog(origin))
      this.#first.found.add(seq)
      return
    }
    if (type === 'files_read') this.#readFor(event, event.data.files)
    else if (this.tasks.has(nameIn(event)) || isRepetition(this.#of.again, event)) this.#repeated(event)
  }

  /** A turn is shown the files of several people: those of others are theirs, whatever is in them. */
  #readFor({ seq }: SessionEvent, files: readonly ReadFile[]): void {
    this.#shown.set(
      seq,
      files.map(({ ref, media }) => ({ ref, ...(media && { media }) })),
    )
    this.#loseFiles(seq)
  }

  #loseFiles(seq: number): void {
    const { refs, found, parts } = this.#first
    const files = this.#shown.get(seq) ?? []
    if (files.every(({ ref }) => refs.has(ref))) found.add(seq)
    for (const [place, { ref, media }] of files.entries()) if (refs.has(ref)) parts.go(seq, place, media?.media)
  }

  /** A call that was allowed late is made in a turn of its own, with the arguments that the asking turn gave it. */
  #makesGiven({ turnId, at, ...event }: SessionEvent): void {
    if (event.type !== 'assistant_step' || turnId === undefined) return
    const asking = this.#first.late.behind(event.data.calls)
    if (asking.some((turn) => this.turns.has(turn))) this.turns.set(turnId, at)
    else if (asking.some((turn) => this.copied.has(turn))) this.copied.add(turnId)
    else if (asking.some((turn) => this.repeating.has(turn))) this.repeating.add(turnId)
  }

  #repeated({ seq, turnId, ...event }: SessionEvent): void {
    if (turnId !== undefined) this.repeating.add(turnId)
    else this.#first.found.add(seq)
    if (event.type !== 'user_message') return
    this.#first.found.add(seq)
    this.#given.note(event.data)
  }

  #turnOf(turn: TurnId): number[] {
    const known = this.#ofTurn.get(turn) ?? []
    this.#ofTurn.set(turn, known)
    return known
  }

  /**
   * Returns the plan for this log; undefined if nothing goes. It names the running turn, which then hands nothing on,
   * if that was shown some of what goes, or may have been shown a memory that goes (`entry`). It yields after a few
   * milliseconds of work each time.
   */
  *plan(of: PlanOf, running?: RunningRows): Generator<void, ScanPlan | undefined> {
    const { entry, isUnnamed, titles } = of
    const turns = new Set([...this.turns.keys(), ...this.repeating])
    yield
    const { found, first, inPart } = yield* this.#goes(of, turns)
    const { cut, passedOn } = this.#first
    const { id, descriptionSource, description } = this.session
    const titled = descriptionSource === 'user' && titles.has(description)
    const called = titled || (isUnnamed && hasNames(this.session))
    if (found.size + cut.size + inPart.length === 0 && !called) return undefined
    const later = this.#eventsOf(running)
    const parts = inPart.filter(({ seq }) => !later.has(seq))
    yield
    // Numbers in an array of their type are sorted ten times as fast as by a function.
    const seqs = Float64Array.from(found).sort().reverse()
    const [empty, emptyLater, media] = [[] as number[], [] as number[], new Set<MediaId>()]
    yield* inSteps(seqs, (seq) => {
      if (later.has(seq)) emptyLater.push(seq)
      else empty.push(seq)
      for (const file of this.#files.get(seq) ?? []) media.add(file)
    })
    const isShown = entry || emptyLater.length > 0 || parts.length < inPart.length
    const shown = isShown ? running : this.#wasShown(running, first)
    const isNamed = found.size + inPart.length > 0 || passedOn || descriptionSource === 'ai'
    return {
      ...{ id, empty, cut: [...cut].filter((seq) => !found.has(seq)) },
      ...(parts.length > 0 ? { parts } : {}),
      turns: [...turns].filter((turn) => turn !== running?.turn),
      ...(shown ? { running: { turn: shown.turn, empty: emptyLater } } : {}),
      unnamed: shownLess({ isUnnamed, titled, stays: !isNamed || this.#isByHand() }),
      media: [...new Set([...media, ...this.#first.parts.media])],
    }
  }

  /** Returns the events that go as a whole, those that go in part, and the first number of both. */
  *#goes({ own, posts }: PlanOf, turns: ReadonlySet<TurnId>) {
    const { found, parts } = this.#first
    yield* inSteps([...turns, ...this.copied], (turn) => {
      for (const seq of this.#ofTurn.get(turn) ?? []) found.add(seq)
    })
    this.#follows(own, posts)
    let first = Number.MAX_SAFE_INTEGER
    yield* inSteps(found, (seq) => {
      first = Math.min(first, seq)
    })
    const inPart = parts.beside(found)
    for (const { seq } of inPart) first = Math.min(first, seq)
    // A summary that stands for any of it goes as well.
    for (const { seq, upTo } of this.#folds) if (first <= upTo) found.add(seq)
    return { found, first, inPart }
  }

  /** Takes what quotes a message of ours that goes, and what stands here of one that was said elsewhere. */
  #follows(own: OwnTexts, posts: ReadonlySet<string>): void {
    const quotes = this.#first.quotesOwn.among(own, this.#of.matches.moves)
    for (const { seq, place, refs } of quotes) {
      if (place === undefined) this.#first.cut.add(seq)
      else this.#first.parts.loseQuote(seq, place)
      for (const ref of refs) this.#first.refs.add(ref)
    }
    if (quotes.some(({ refs }) => refs.length > 0)) for (const seq of this.#shown.keys()) this.#loseFiles(seq)
    for (const { seq, place } of this.#first.copies.among(own))
      if (place === undefined) this.#first.found.add(seq)
      else this.#first.parts.go(seq, place)
    for (const seq of this.#first.posted.among(posts)) this.#first.found.add(seq)
  }

  /** Returns the events of a turn so far, and of the messages that it took. */
  #eventsOf(running: RunningRows | undefined): ReadonlySet<number> {
    if (running === undefined) return new Set()
    const asked = running.messages.flatMap((name) => this.#first.ofMessage.get(name) ?? [])
    return new Set([...this.#turnOf(running.turn), ...asked])
  }

  /** Returns whether the description is somebody's own words, and not those that go. */
  #isByHand(): boolean {
    const { descriptionSource, description, lastActivityAt } = this.session
    return descriptionSource === 'user' && !repeats(this.#of.again.tellings, description, lastActivityAt)
  }

  /** Returns a turn that was shown what goes from an event on, or what loses a quotation. */
  #wasShown(running: RunningRows | undefined, first: number): RunningRows | undefined {
    return running && this.shown.wasShown(running.turn, [first, ...this.#first.cut]) ? running : undefined
  }
}

/** Remembers messages that repeat what is meant, such as a digest: what answers them is made of it. */
class RepeatingRows {
  readonly #rows = new Set<InboxId>()
  /** One of them was said since the last turn took messages. */
  #waits = false

  note({ row, triggers }: Pick<UserMessageData, 'row' | 'triggers'>): void {
    if (row !== undefined) this.#rows.add(row)
    if (triggers) this.#waits = true
  }

  /** Returns whether a turn takes one of them with an event. Without names it takes what was said since the last one. */
  areTaken({ type, data }: SessionEvent): boolean {
    if (type !== 'turn_started' && type !== 'turn_steered') return false
    const taken = data.rows === undefined ? this.#waits : data.rows.some((row) => this.#rows.has(row))
    this.#waits = false
    return taken
  }
}
