import type { WaitOptions } from '../ledger.ts'
import type { SlackEntry } from '../slack/ledger-entries.ts'
import type { SlackServer } from '../slack/server.ts'
import type { Character, Place } from './cast.ts'
import { LedgerView } from './ledger-view.ts'
import { type MatchShown, MENTION, type PlatformStage, type Said, type Shown, type Spot } from './platform-stage.ts'

export class SlackStage implements PlatformStage {
  readonly title = 'Slack'
  readonly #server: SlackServer
  readonly #view: LedgerView<SlackEntry>
  /** The stamp of the message with which each thread began. */
  readonly #roots = new Map<Place, string>()

  constructor(server: SlackServer) {
    this.#server = server
    this.#view = new LedgerView(server.ledger, readShown)
  }

  /** Sends a text. A mention at the root of a channel begins a thread, in which its answer belongs. */
  say(who: Character, place: Place, text: string): Said {
    const { world, app } = this.#server
    const mark = this.mark()
    const root = this.#roots.get(place)
    const channel = place.chat ?? world.direct(who.ids.slack).id
    const written = text.replace(MENTION, `<@${app.bot.id}>`)
    const thread = root === undefined ? {} : { thread: root }
    const { ts } = world.say({ from: who.ids.slack, channel, text: written, ...thread })
    if (place.begins && root === undefined) this.#roots.set(place, ts)
    const begun = written === text || place.chat === undefined ? null : ts
    return { messageId: ts, spot: { chat: channel, topic: root ?? begun }, mark }
  }

  spotOf(who: Character, place: Place): Spot {
    const chat = place.chat ?? this.#server.world.direct(who.ids.slack).id
    return { chat, topic: this.#roots.get(place) ?? null }
  }

  mark(): number {
    return this.#server.ledger.mark()
  }

  async listening(options: WaitOptions): Promise<void> {
    await this.#server.ledger.nextSocket(options)
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
      return entry.kind === 'call' && entry.answer?.ok === false ? entry.method : []
    })
  }
}

/** Returns a text as people see it. */
function readable(kept: string): string {
  return kept.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}

function readShown(entry: SlackEntry): Shown | undefined {
  if (entry.kind === 'whisper') {
    const { userId, channel, thread, text } = entry
    return {
      messageId: '',
      spot: { chat: channel, topic: thread },
      text: readable(text),
      change: 'sent',
      onlyFor: userId,
    }
  }
  if (entry.kind !== 'message' || !entry.byBot) return undefined
  const { ts, channel, thread, text, change } = entry
  return { messageId: ts, spot: { chat: channel, topic: thread }, text: readable(text), change }
}
