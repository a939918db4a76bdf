import type { DiscordEntry } from '../discord/ledger-entries.ts'
import type { DiscordServer } from '../discord/server.ts'
import type { WaitOptions } from '../ledger.ts'
import type { Character, Place } from './cast.ts'
import { LedgerView } from './ledger-view.ts'
import { type MatchShown, MENTION, type PlatformStage, type Said, type Shown, type Spot } from './platform-stage.ts'

/** A command of the bot, which people do not send as a text. */
const COMMAND = /^\/(\w+)(?:\s+(.+))?$/s

export class DiscordStage implements PlatformStage {
  readonly title = 'Discord'
  readonly #server: DiscordServer
  readonly #view: LedgerView<DiscordEntry>

  constructor(server: DiscordServer) {
    this.#server = server
    this.#view = new LedgerView(server.ledger, (entry) => this.#readShown(entry))
  }

  say(who: Character, place: Place, text: string): Said {
    const { world } = this.#server
    const mark = this.mark()
    const channel = place.topic ?? place.chat
    const spot = channel === undefined ? {} : { channel }
    const [, command = '', input] = COMMAND.exec(text) ?? []
    if (world.commands.has(command)) {
      const given = input === undefined ? {} : { input }
      const messageId = world.slash({ from: who.ids.discord, command, ...spot, ...given })
      return { messageId, spot: this.spotOf(who, place), mark }
    }
    const { id, channel_id } = world.say({
      from: who.ids.discord,
      text: text.replace(MENTION, `<@${world.bot.id}>`),
      ...spot,
    })
    return { messageId: id, spot: this.#spotOf(channel_id), mark }
  }

  spotOf(who: Character, place: Place): Spot {
    return { chat: place.chat ?? who.ids.discord, topic: place.topic ?? null }
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

  refused(): readonly string[] {
    return this.#server.ledger.entries.flatMap((entry) => {
      if (entry.kind === 'unrehearsed') return entry.what
      return entry.kind === 'call' && (entry.status ?? 0) >= 400 ? entry.method : []
    })
  }

  #readShown(entry: DiscordEntry): Shown | undefined {
    if (entry.kind === 'whisper') {
      const { messageId, channelId, text, change, userId } = entry
      if (change === 'deferred' || change === 'deleted') return undefined
      return { messageId, spot: this.#spotOf(channelId), text, change, onlyFor: userId }
    }
    if (entry.kind !== 'message' || !entry.byBot) return undefined
    const { messageId, channelId, text, change } = entry
    return { messageId, spot: this.#spotOf(channelId), text, change }
  }

  /** A thread is a channel of its own; to the daemon it is a topic of its parent channel. */
  #spotOf(id: string): Spot {
    const parent = this.#server.world.channels.get(id)?.channel.parent_id
    return parent == null ? { chat: id, topic: null } : { chat: parent, topic: id }
  }
}
