import type { AnthropicServer } from '../anthropic/server.ts'
import type { ApiMessage } from '../telegram/api-types.ts'
import type { MessageEntry, TelegramEntry } from '../telegram/ledger-entries.ts'
import type { TelegramServer } from '../telegram/server.ts'
import type { Cast, CharacterName, PlaceName } from './cast.ts'
import type { DaemonProcess } from './daemon-process.ts'
import { askWhy, type Decision } from './decision.ts'
import type { Printer } from './printer.ts'

const ANSWER_WITHIN_MS = 20_000

export interface StageParts {
  readonly telegram: TelegramServer
  readonly anthropic: AnthropicServer
  readonly cast: Cast
  readonly daemon: DaemonProcess
  readonly printer: Printer
}

/** A message as somebody said it, with where in the ledger to look for what follows. */
export interface Said {
  readonly message: ApiMessage
  readonly chat: number
  readonly topic: number | null
  readonly mark: number
}

/** Lets people of the cast talk, shows what the daemon decides, and checks it against the ledger. */
export class Stage {
  readonly telegram: TelegramServer
  readonly anthropic: AnthropicServer
  readonly cast: Cast
  readonly daemon: DaemonProcess
  readonly printer: Printer
  checks = 0
  failures = 0

  constructor({ telegram, anthropic, cast, daemon, printer }: StageParts) {
    this.telegram = telegram
    this.anthropic = anthropic
    this.cast = cast
    this.daemon = daemon
    this.printer = printer
  }

  /** Somebody says something. Printed at once, not decided yet. */
  say(who: CharacterName, where: PlaceName, text: string): Said {
    const { chat, topic } = this.cast.places[where]
    const { id, name } = this.cast.people[who]
    const mark = this.telegram.ledger.mark()
    const place = { ...(chat === undefined ? {} : { chat }), ...(topic === undefined ? {} : { topic }) }
    const message = this.telegram.world.say({ from: id, text, ...place })
    this.printer.said(name, text)
    return { message, chat: message.chat.id, topic: topic ?? null, mark }
  }

  /** Waits until the daemon has stored the message and confirmed it, and prints what it decided and why. */
  async decision(said: Said): Promise<Decision> {
    await this.confirmed(said)
    const decision = await askWhy(this.daemon, said.chat, said.message.message_id)
    this.printer.decided(decision.line)
    return decision
  }

  /** Resolves once the platform was told that the message arrived: by then it is on the daemon's disk. */
  async confirmed(said: Said): Promise<void> {
    const { ledger } = this.telegram
    await ledger.confirmed(ledger.updateIdOf(said.message), { timeoutMs: ANSWER_WITHIN_MS })
  }

  /** Waits for the answer to a message, until its text is what was waited for, and prints it. */
  async answer(said: Said, finished: (text: string) => boolean = () => true): Promise<MessageEntry> {
    const { ledger } = this.telegram
    const match = (entry: TelegramEntry): entry is MessageEntry => answers(entry, said) && finished(entry.text)
    const entry = await ledger.next(match, { after: said.mark, timeoutMs: ANSWER_WITHIN_MS })
    const versions = ledger.count((other) => answers(other, said) && other.messageId === entry.messageId, said.mark)
    this.printer.answered(
      'Parley',
      entry.text,
      versions > 1 ? `one message, shown while it grew (${versions - 1} edits)` : undefined,
    )
    return entry
  }

  check(ok: boolean, what: string): void {
    this.checks++
    if (!ok) this.failures++
    this.printer.check(ok, what)
  }
}

function answers(entry: TelegramEntry, { chat, topic }: Said): entry is MessageEntry {
  return (
    entry.kind === 'message' &&
    entry.botId !== null &&
    entry.change !== 'deleted' &&
    entry.chatId === chat &&
    entry.topic === topic
  )
}
