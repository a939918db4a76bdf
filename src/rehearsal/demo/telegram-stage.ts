import type { WaitOptions } from '../ledger.ts'
import { fileFields, type SentFile } from '../telegram/files.ts'
import type { TelegramEntry } from '../telegram/ledger-entries.ts'
import type { TelegramServer } from '../telegram/server.ts'
import type { Character, Place } from './cast.ts'
import { LedgerView } from './ledger-view.ts'
import { type MatchShown, MENTION, type PlatformStage, type Said, type Shown, type Spot } from './platform-stage.ts'

export class TelegramStage implements PlatformStage {
  readonly title = 'Telegram'
  readonly #server: TelegramServer
  readonly #view: LedgerView<TelegramEntry>

  constructor(server: TelegramServer) {
    this.#server = server
    this.#view = new LedgerView(server.ledger, readShown)
  }

  say(who: Character, place: Place, text: string): Said {
    const mark = this.mark()
    const { message_id, chat } = this.#server.world.say({
      from: Number(who.ids.telegram),
      text: text.replace(MENTION, '@parley_bot'),
      ...(place.chat === undefined ? {} : { chat: Number(place.chat) }),
      ...(place.topic === undefined ? {} : { topic: Number(place.topic) }),
    })
    return { messageId: String(message_id), spot: { chat: String(chat.id), topic: place.topic ?? null }, mark }
  }

  /** Sends a file in the person's private chat. */
  send(who: Character, file: SentFile): Said {
    const mark = this.mark()
    const { world } = this.#server
    const extra = fileFields(world, file)
    const { message_id, chat } = world.say({ from: Number(who.ids.telegram), text: '', extra })
    return { messageId: String(message_id), spot: { chat: String(chat.id), topic: null }, mark }
  }

  /** Presses the button of a message that carries this command. */
  press(who: Character, { messageId, spot }: Shown, command: string): void {
    const at = { chat: Number(spot.chat), message: Number(messageId) }
    this.#server.world.press({ from: Number(who.ids.telegram), ...at, data: command })
  }

  spotOf(who: Character, place: Place): Spot {
    return { chat: place.chat ?? who.ids.telegram, topic: place.topic ?? null }
  }

  mark(): number {
    return this.#server.ledger.mark()
  }

  listening(options: WaitOptions): Promise<void> {
    return this.#server.ledger.listening(options)
  }

  next(match: MatchShown, options: WaitOptions): ReturnType<PlatformStage['next']> {
    return this.#view.next(match, options)
  }

  shown(after?: number): readonly Shown[] {
    return this.#view.shown(after)
  }

  /**
   * Two refusals are no mistake after a kill: of a getUpdates that the next process's poll replaces, and of an edit
   * that the next process makes again because the killed one could not record it (`adapters/telegram/FACTS.md`).
   */
  refused(): readonly string[] {
    return this.#server.ledger.entries.flatMap((entry) => {
      if (entry.kind === 'unrehearsed') return entry.what
      if (entry.kind !== 'call' || entry.answer === undefined || entry.answer.ok) return []
      const again = entry.method === 'getUpdates' || entry.answer.description.includes('message is not modified')
      return again ? [] : entry.method
    })
  }
}

function readShown(entry: TelegramEntry): Shown | undefined {
  if (entry.kind !== 'message' || entry.botId === null) return undefined
  const { messageId, chatId, topic, text, change } = entry
  const spot = { chat: String(chatId), topic: topic === null ? null : String(topic) }
  return { messageId: String(messageId), spot, text, change }
}
