import { hasContent } from '../../core/emptied.ts'
import type { SessionEvent, UserMessageData } from '../../core/event.ts'
import type { InboxId, MediaId, TurnId } from '../../core/ids.ts'
import { speakerName } from '../../core/label.ts'
import { hasForeignText, messageNameKey, type ReadFile } from '../../core/message.ts'
import { repeats } from '../../core/repeats.ts'
import type { Session } from '../../core/session.ts'
import { wordsIn } from '../../core/words-in.ts'
import type { MessageRef } from '../../store/memory-port.ts'
import { inSteps, type RunningRows } from './forget-reader.ts'
import { FoundParts } from './found-parts.ts'
import { LateCalls } from './late-calls.ts'
import { chatIn, filesIn, type Matches, madeWords, nameIn } from './matches.ts'
import { hasNames, type LogOrigin, originAt } from './origin.ts'
import { OwnQuotes, PostedTexts } from './own-quotes.ts'
import { RepeatingRows } from './repeating-rows.ts'
import { type EventFound, type PlanOf, type ScanPlan, shownLess } from './scan-plan.ts'
import { isRepetition, OURS, type ShownAgain } from './shown-again.ts'
import { ShownTurns } from './shown-turns.ts'

/**
 * Finds what of one log is to be forgotten. It reads the log twice, each time a page after the other: first the
 * messages that are meant, then what was made of them: their turns, summaries and working memories after them, and what
 * repeats them word for word. It keeps numbers and ids, and adds the words to those that may be shown again, in memory.
 */
export class SessionScan {
  readonly session: Session
  /** The numbers up to which the log was read, the first and the second time. */
  readonly read = [0, 0] as [number, number]
  readonly messages: MessageRef[] = []
  /** Turns that answered one of the messages, or all of a conversation that is forgotten, by when they ended. */
  readonly turns = new Map<TurnId, number>()
  /** Turns of the copied session, as older stores name them here, too: what they said there stays (decision 0040). */
  readonly copied = new Set<TurnId>()
  /** Turns that are forgotten for what they repeat. */
  readonly repeating = new Set<TurnId>()
  readonly #origins: readonly LogOrigin[]
  readonly #matches: Matches
  readonly #again: ShownAgain
  readonly #found = new Set<number>()
  readonly #cut = new Set<number>()
  readonly #parts = new FoundParts()
  readonly #quotesOwn = new OwnQuotes<{ readonly seq: number; readonly place: number | undefined }>()
  readonly #posted = new PostedTexts()
  readonly #rows = new Set<InboxId>()
  readonly #given = new RepeatingRows()
  readonly #late = new LateCalls()
  readonly #refs = new Set<string>()
  /** The calls that may have made a reminder. */
  readonly calls: (readonly [TurnId, callId: string])[] = []
  /** The ids of messages by which turns that go have begun a task here. */
  readonly tasks = new Set<string>()
  /** A message goes as a whole, since its writer has passed on what is meant. */
  #passedOn = false
  /** The events of each turn that hold something. */
  readonly #ofTurn = new Map<TurnId, number[]>()
  readonly shown: ShownTurns
  /** The events of each message that is meant, by its name. */
  readonly #ofMessage = new Map<string, number[]>()
  readonly #files = new Map<number, readonly MediaId[]>()
  readonly #folds: { readonly seq: number; readonly upTo: number }[] = []
  /** A message that is meant was said since the last turn took messages. */
  #waits = false

  constructor(session: Session, origins: readonly LogOrigin[], matches: Matches, again: ShownAgain) {
    this.session = session
    this.shown = new ShownTurns(session.id)
    this.#origins = origins
    this.#matches = matches
    this.#again = again
  }

  /** Takes the next events of the first reading. */
  find(events: readonly SessionEvent[]): void {
    for (const event of events) {
      this.read[0] = event.seq
      if (!event.forgotten) this.#find(event)
    }
  }

  #find(event: SessionEvent): void {
    const origin = originAt(this.#origins, event)
    this.#late.note(event)
    this.#calls(event)
    this.shown.note(event)
    this.#posted.note(event)
    const tells = this.#tells(origin)
    switch (event.type) {
      case 'user_message':
      case 'message_edited':
        this.#said({ event, origin, tells }, event.data)
        return
      case 'thread_read':
        for (const [place, data] of event.data.messages.entries()) this.#said({ event, origin, tells }, data, place)
        return
      case 'files_read':
        if (tells) this.#tellOf(event.data.files, event.at)
        return
      case 'turn_started':
      case 'turn_steered':
        this.#take(event, event.data.rows, tells)
        return
      default:
        if (!tells || !this.#matches.isWhole(event.at, origin)) return
        for (const words of madeWords(event)) this.#again.tellings.add(words, event.at, OURS)
    }
  }

  #calls({ turnId, ...event }: SessionEvent): void {
    if (turnId !== undefined && event.type === 'tool_call' && event.data.tool === 'schedule_create')
      this.calls.push([turnId, event.data.callId])
  }

  #said({ event, origin, tells }: EventFound, data: UserMessageData, place?: number): void {
    const { seq, at } = event
    const chat = chatIn(data, origin)
    if (this.#matches.isMessage(data, at, origin)) this.#message(event, data, tells, place)
    else if (this.#matches.quotes(data, chat, at)) this.#quote(event, data, place)
    else this.#quotesOwn.note({ seq, place }, { quoted: data.quoted, chat, at })
  }

  /** Words that were copied from a session that is there still are those of that session. */
  #tells({ session, address }: LogOrigin): boolean {
    return session === this.session.id || address === undefined
  }

  /** Older logs do not name what a turn takes: there it is what was said since the last one. */
  #take({ turnId, at }: SessionEvent, rows: readonly InboxId[] | undefined, own: boolean): void {
    const takes = rows === undefined ? this.#waits : rows.some((row) => this.#rows.has(row))
    if (takes && turnId !== undefined) this.#goes(turnId, at, own)
    this.#waits = false
  }

  #goes(turn: TurnId, at: number, own: boolean): void {
    if (own) this.turns.set(turn, at)
    else this.copied.add(turn)
  }

  #message({ seq, at }: SessionEvent, data: UserMessageData, tells: boolean, place?: number): void {
    if (place === undefined) this.#found.add(seq)
    else this.#parts.go(seq, place)
    if (tells) for (const words of wordsIn(data)) this.#again.tellings.add(words, at, [speakerName(data)])
    if (data.row !== undefined) this.#rows.add(data.row)
    const name = messageNameKey(data)
    this.#ofMessage.set(name, [...(this.#ofMessage.get(name) ?? []), seq])
    if (data.triggers) this.#waits = true
    if (data.messageId !== undefined)
      this.messages.push({ messageId: data.messageId, ...(data.chat === undefined ? {} : { chat: data.chat }) })
    for (const { ref, quoted } of data.attachments ?? []) if (!quoted) this.#refs.add(ref)
  }

  /** A file of the quoted message is its writer's too, as is all that somebody passed on. */
  #quote({ seq }: SessionEvent, data: UserMessageData, place?: number): void {
    if (place === undefined) this.#cut.add(seq)
    else this.#parts.loseQuote(seq, place)
    if (place === undefined && hasForeignText(data)) this.#passedOn = true
    for (const { ref, quoted, shared } of data.attachments ?? [])
      if (quoted || shared || hasForeignText(data)) this.#refs.add(ref)
  }

  /** The content of their files may be repeated as their words may. */
  #tellOf(files: readonly ReadFile[], at: number): void {
    for (const { ref, text = '', spoken = '' } of files)
      if (this.#refs.has(ref)) for (const words of [text, spoken]) this.#again.tellings.add(words, at)
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
    const origin = originAt(this.#origins, event)
    if (this.#matches.isWhole(at, origin)) {
      if (turnId !== undefined && type !== 'user_message') this.#goes(turnId, at, this.#tells(origin))
      this.#found.add(seq)
      return
    }
    if (type === 'files_read') this.#readFor(event, event.data.files)
    else if (this.tasks.has(nameIn(event)) || isRepetition(this.#again, event)) this.#repeated(event)
  }

  /** A turn is shown the files of several people: those of others are theirs, whatever is in them. */
  #readFor({ seq }: SessionEvent, files: readonly ReadFile[]): void {
    const isMeant = ({ ref }: ReadFile): boolean => this.#refs.has(ref)
    if (files.every(isMeant)) this.#found.add(seq)
    for (const [place, file] of files.entries()) if (isMeant(file)) this.#parts.go(seq, place, file.media?.media)
  }

  /** A call that was allowed late is made in a turn of its own, with the arguments that the asking turn gave it. */
  #makesGiven({ turnId, at, ...event }: SessionEvent): void {
    if (event.type !== 'assistant_step' || turnId === undefined) return
    const asking = this.#late.behind(event.data.calls)
    if (asking.some((turn) => this.turns.has(turn))) this.turns.set(turnId, at)
    else if (asking.some((turn) => this.copied.has(turn))) this.copied.add(turnId)
    else if (asking.some((turn) => this.repeating.has(turn))) this.repeating.add(turnId)
  }

  #repeated({ seq, turnId, ...event }: SessionEvent): void {
    if (turnId !== undefined) this.repeating.add(turnId)
    else this.#found.add(seq)
    if (event.type !== 'user_message') return
    this.#found.add(seq)
    this.#given.note(event.data)
  }

  #turnOf(turn: TurnId): number[] {
    const known = this.#ofTurn.get(turn) ?? []
    this.#ofTurn.set(turn, known)
    return known
  }

  /**
   * Returns what is to be emptied, `own` being our messages that go, `titles` those that were given by commands that
   * go; undefined: nothing. The running turn is named only if it was shown some of it, or perhaps an `entry` that goes:
   * it hands nothing on then. It yields after a few milliseconds of work each time.
   */
  *plan(of: PlanOf, running?: RunningRows): Generator<void, ScanPlan | undefined> {
    const { own, posts, titles, entry, isUnnamed } = of
    const turns = new Set([...this.turns.keys(), ...this.repeating])
    yield
    yield* inSteps([...turns, ...this.copied], (turn) => {
      for (const seq of this.#ofTurn.get(turn) ?? []) this.#found.add(seq)
    })
    this.#follows(own, posts)
    let first = Number.MAX_SAFE_INTEGER
    yield* inSteps(this.#found, (seq) => {
      first = Math.min(first, seq)
    })
    const found = this.#parts.beside(this.#found)
    for (const { seq } of found) first = Math.min(first, seq)
    for (const { seq, upTo } of this.#folds) if (first <= upTo) this.#found.add(seq)
    const { id, descriptionSource, description } = this.session
    const titled = descriptionSource === 'user' && titles.has(description)
    const called = titled || (isUnnamed && hasNames(this.session))
    if (this.#found.size + this.#cut.size + found.length === 0 && !called) return undefined
    const later = this.#eventsOf(running)
    const parts = found.filter(({ seq }) => !later.has(seq))
    yield
    // Numbers in an array of their type are sorted ten times as fast as by a function.
    const seqs = Float64Array.from(this.#found).sort().reverse()
    const [empty, emptyLater, media] = [[] as number[], [] as number[], new Set<MediaId>()]
    yield* inSteps(seqs, (seq) => {
      if (later.has(seq)) emptyLater.push(seq)
      else empty.push(seq)
      for (const file of this.#files.get(seq) ?? []) media.add(file)
    })
    const isShown = [entry, emptyLater.length > 0, parts.length < found.length].includes(true)
    const shown = isShown ? running : this.#wasShown(running, first)
    const isNamed = this.#found.size + found.length > 0 || this.#passedOn || descriptionSource === 'ai'
    return {
      ...{ id, empty, cut: [...this.#cut].filter((seq) => !this.#found.has(seq)) },
      ...(parts.length > 0 ? { parts } : {}),
      turns: [...turns].filter((turn) => turn !== running?.turn),
      ...(shown ? { running: { turn: shown.turn, empty: emptyLater } } : {}),
      unnamed: shownLess({ isUnnamed, titled, stays: !isNamed || this.#isByHand() }),
      media: [...new Set([...media, ...this.#parts.media])],
    }
  }

  /** Takes what quotes a message of ours that goes, and what stands here of one that was said elsewhere. */
  #follows(own: ReadonlySet<string>, posts: ReadonlySet<string>): void {
    for (const { seq, place } of this.#quotesOwn.among(own, this.#matches.moves))
      if (place === undefined) this.#cut.add(seq)
      else this.#parts.loseQuote(seq, place)
    for (const seq of this.#posted.among(posts)) this.#found.add(seq)
  }

  /** Returns the events of a turn so far, and of the messages that it took. */
  #eventsOf(running: RunningRows | undefined): ReadonlySet<number> {
    if (running === undefined) return new Set()
    const asked = running.messages.flatMap((name) => this.#ofMessage.get(name) ?? [])
    return new Set([...this.#turnOf(running.turn), ...asked])
  }

  /** Returns whether the description is somebody's own words, and not those that go. */
  #isByHand(): boolean {
    const { descriptionSource, description, lastActivityAt } = this.session
    return descriptionSource === 'user' && !repeats(this.#again.tellings, description, lastActivityAt)
  }

  /** Returns a turn that was shown what goes from an event on, or what loses a quotation. */
  #wasShown(running: RunningRows | undefined, first: number): RunningRows | undefined {
    return running && this.shown.wasShown(running.turn, [first, ...this.#cut]) ? running : undefined
  }
}
