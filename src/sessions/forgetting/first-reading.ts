import { approvedCode } from '../../core/approval.ts'
import type { EventRef, SessionEvent, ToolCallData, UserMessageData } from '../../core/event.ts'
import type { InboxId, TurnId } from '../../core/ids.ts'
import { speakerName } from '../../core/label.ts'
import { hasForeignText, messageNameKey, type ReadFile } from '../../core/message.ts'
import type { Session } from '../../core/session.ts'
import { isOwnVoice } from '../../core/spoken.ts'
import { wordsIn } from '../../core/words-in.ts'
import type { MessageRef } from '../../store/memory-port.ts'
import { FoundParts } from './found-parts.ts'
import { chatIn, type Matches, madeWords } from './matches.ts'
import { isOfThisLog, type LogOrigin, originAt } from './origin.ts'
import { CopiesOfOurs, OwnQuotes, PostedTexts } from './own-quotes.ts'
import { OURS, type ShownAgain } from './shown-again.ts'
import { ShownTurns } from './shown-turns.ts'

/** One log, and the request for which it is read. */
export interface ScanOf {
  readonly session: Session
  readonly origins: readonly LogOrigin[]
  readonly matches: Matches
  readonly again: ShownAgain
}

/** An event, with where it comes from. */
interface EventFound {
  readonly event: SessionEvent
  readonly origin: LogOrigin
  /** Its words are those of this session. */
  readonly isOwn: boolean
}

/** An event that quotes a message of ours, the place in it where it has several, and the files that came with that. */
interface QuoteOfOurs {
  readonly seq: number
  readonly place: number | undefined
  readonly refs: readonly string[]
}

/** A message of another log that a turn of this one was shown. */
interface ShownFromElsewhere {
  readonly seq: number
  readonly place: number
  readonly source: EventRef
  readonly turn: TurnId | undefined
  readonly at: number
  readonly isOwn: boolean
}

/**
 * Finds the messages of one log that are meant, and the turns that took them. It adds their words to those that may be
 * shown again. The second reading adds to `found`, `parts`, `turns` and `copied` what was made of them.
 */
export class FirstReading {
  readonly messages: MessageRef[] = []
  /** The events of each message that is meant, by its name. */
  readonly ofMessage = new Map<string, number[]>()
  /** The names by which adapters fetch the files that are meant. */
  readonly refs = new Set<string>()
  /** Turns that answered one of the messages, or all of a conversation that is forgotten, by when they ended. */
  readonly turns = new Map<TurnId, number>()
  /** Turns of the copied session, as older stores name them here, too: what they said there stays (decision 0040). */
  readonly copied = new Set<TurnId>()
  /** The events that go as a whole. */
  readonly found = new Set<number>()
  /** The events that lose their quotation. */
  readonly cut = new Set<number>()
  readonly parts = new FoundParts()
  readonly quotesOwn = new OwnQuotes<QuoteOfOurs>()
  /** The messages of bots, which may be ours. */
  readonly copies = new CopiesOfOurs<Omit<QuoteOfOurs, 'refs'>>()
  readonly posted = new PostedTexts()
  readonly late = new LateCalls()
  readonly shown: ShownTurns
  /** The calls that may have made a reminder. */
  readonly calls: (readonly [TurnId, callId: string])[] = []
  /** The writer of a message that loses its quotation has passed on all of it. */
  passedOn = false
  readonly #of: ScanOf
  readonly #rows = new Set<InboxId>()
  /** The names of those who have said what is in recordings, by the name of each recording. */
  readonly #speakers = new Map<string, string>()
  readonly #elsewhere: ShownFromElsewhere[] = []
  /** A message that is meant was said since the last turn took messages. */
  #waits = false

  constructor(of: ScanOf) {
    this.#of = of
    this.shown = new ShownTurns(of.session.id)
  }

  take(event: SessionEvent): void {
    const { origins, matches, again } = this.#of
    const origin = originAt(origins, event)
    this.late.note(event)
    this.#noteCall(event)
    this.shown.note(event)
    this.posted.note(event)
    const isOwn = isOfThisLog(origin)
    switch (event.type) {
      case 'user_message':
      case 'message_edited':
        this.#said({ event, origin, isOwn }, event.data)
        return
      case 'thread_read':
        for (const [place, data] of event.data.messages.entries())
          if (data.source === undefined) this.#said({ event, origin, isOwn }, data, place)
          else
            this.#elsewhere.push({
              seq: event.seq,
              place,
              source: data.source,
              turn: event.turnId,
              at: event.at,
              isOwn,
            })
        return
      case 'files_read':
        if (isOwn) this.#addFileWords(event.data.files, event.at)
        return
      case 'turn_started':
      case 'turn_steered':
        this.#turnTakes(event, event.data.rows, isOwn)
        return
      default:
        if (!isOwn || !matches.isWhole(event.at, origin)) return
        for (const words of madeWords(event)) again.tellings.add(words, event.at, OURS)
    }
  }

  #noteCall({ turnId, ...event }: SessionEvent): void {
    if (turnId !== undefined && event.type === 'tool_call' && event.data.tool === 'schedule_create')
      this.calls.push([turnId, event.data.callId])
  }

  #said({ event, origin, isOwn }: EventFound, data: UserMessageData, place?: number): void {
    const { seq, at } = event
    const { matches } = this.#of
    const chat = chatIn(data, origin)
    if (matches.isMessage(data, at, origin)) this.#message(event, data, isOwn, place)
    else if (matches.quotes(data, chat, at)) this.#quote(event, data, place)
    else {
      const { quoted, attachments = [] } = data
      const refs = attachments.flatMap((file) => (file.quoted ? [file.ref] : []))
      this.quotesOwn.note({ seq, place, refs }, { quoted, attachments, chat, at })
      this.copies.note({ seq, place }, data.messageId, data.sender, chat)
    }
  }

  /** Older logs do not name what a turn takes: there it is what was said since the last one. */
  #turnTakes({ turnId, at }: SessionEvent, rows: readonly InboxId[] | undefined, isOwn: boolean): void {
    const takes = rows === undefined ? this.#waits : rows.some((row) => this.#rows.has(row))
    if (takes && turnId !== undefined) this.turnGoes(turnId, at, isOwn)
    this.#waits = false
  }

  /**
   * Takes the messages of other logs that go there, and whole the turn that was shown them: its answer may say them in
   * other words.
   */
  followElsewhere(goes: (source: EventRef) => boolean): void {
    for (const { seq, place, source, turn, at, isOwn } of this.#elsewhere) {
      if (!goes(source)) continue
      this.parts.go(seq, place)
      if (turn !== undefined) this.turnGoes(turn, at, isOwn)
    }
  }

  turnGoes(turn: TurnId, at: number, isOwn: boolean): void {
    if (isOwn) this.turns.set(turn, at)
    else this.copied.add(turn)
  }

  #message({ seq, at }: SessionEvent, data: UserMessageData, isOwn: boolean, place?: number): void {
    if (place === undefined) this.found.add(seq)
    else this.parts.go(seq, place)
    if (isOwn) for (const words of wordsIn(data)) this.#of.again.tellings.add(words, at, [speakerName(data)])
    this.#name(seq, data)
    for (const file of data.attachments ?? []) {
      if (!file.quoted) this.refs.add(file.ref)
      if (isOwnVoice(file, data)) this.#speakers.set(file.ref, speakerName(data))
    }
  }

  #name(seq: number, data: UserMessageData): void {
    if (data.row !== undefined) this.#rows.add(data.row)
    const name = messageNameKey(data)
    this.ofMessage.set(name, [...(this.ofMessage.get(name) ?? []), seq])
    if (data.triggers) this.#waits = true
    if (data.messageId !== undefined)
      this.messages.push({ messageId: data.messageId, ...(data.chat === undefined ? {} : { chat: data.chat }) })
  }

  /** A file of the quoted message is its writer's too, as is all that somebody passed on. */
  #quote({ seq }: SessionEvent, data: UserMessageData, place?: number): void {
    if (place === undefined) this.cut.add(seq)
    else this.parts.loseQuote(seq, place)
    if (place === undefined && hasForeignText(data)) this.passedOn = true
    for (const { ref, quoted, shared } of data.attachments ?? [])
      if (quoted || shared || hasForeignText(data)) this.refs.add(ref)
  }

  /** The content of their files may be repeated as their words may. */
  #addFileWords(files: readonly ReadFile[], at: number): void {
    for (const { ref, text = '', spoken = '' } of files) {
      if (!this.refs.has(ref)) continue
      this.#of.again.tellings.add(text, at)
      this.#of.again.tellings.add(spoken, at, [this.#speakers.get(ref) ?? []].flat())
    }
  }
}

/** Remembers which turns have asked whether a call may be made: others may make it later. */
export class LateCalls {
  /** By the code of the question. */
  readonly #asking = new Map<string, TurnId>()

  note({ turnId, ...event }: SessionEvent): void {
    if (event.type === 'approval_requested' && turnId !== undefined) this.#asking.set(event.data.code, turnId)
  }

  /** Returns the turns that have asked for one of these calls. */
  behind(calls: readonly Pick<ToolCallData, 'callId'>[]): readonly TurnId[] {
    return calls.flatMap(({ callId }) => this.#asking.get(approvedCode(callId) ?? '') ?? [])
  }
}
