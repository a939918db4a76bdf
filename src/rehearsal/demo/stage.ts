import type { AnthropicServer } from '../anthropic/server.ts'
import type { OpenAiServer } from '../openai/server.ts'
import type { SentFile } from '../telegram/files.ts'
import type { Cast, CharacterName, Place, PlaceName, Platform } from './cast.ts'
import type { DaemonProcess } from './daemon-process.ts'
import { type Asked, awaitDecision, awaitNothingOwed, awaitOutcome, type Decision, owesNothing } from './decision.ts'
import { isIn, type PlatformStage, type Said, type Shown, type Spot } from './platform-stage.ts'
import type { Printer } from './printer.ts'
import type { TelegramStage } from './telegram-stage.ts'

const ANSWER_WITHIN_MS = 60_000
const START_WITHIN_MS = 60_000

export interface StagesDeps {
  readonly platforms: Readonly<Record<Platform, PlatformStage>> & { readonly telegram: TelegramStage }
  readonly anthropic: AnthropicServer
  /** Transcribes voice notes. */
  readonly audio: OpenAiServer
  readonly cast: Cast
  readonly daemon: DaemonProcess
  readonly printer: Printer
}

/** A message said on the stage. */
export interface Line extends Said {
  readonly platform: PlatformStage
  /** The name of the place, for people. */
  readonly place: string
}

/** The stage of the demo: people of the cast talk, the daemon's decisions are shown and checked against the ledgers. */
export class Stage {
  readonly platforms: StagesDeps['platforms']
  readonly anthropic: AnthropicServer
  readonly audio: OpenAiServer
  readonly cast: Cast
  readonly daemon: DaemonProcess
  readonly printer: Printer
  checks = 0
  failures = 0

  constructor({ platforms, anthropic, audio, cast, daemon, printer }: StagesDeps) {
    this.platforms = platforms
    this.anthropic = anthropic
    this.audio = audio
    this.cast = cast
    this.daemon = daemon
    this.printer = printer
  }

  /** Starts the daemon; resolves once it receives on every platform. */
  async start(): Promise<void> {
    const listening = Object.values(this.platforms).map((platform) =>
      platform.listening({ after: platform.mark(), timeoutMs: START_WITHIN_MS }),
    )
    await this.daemon.start(Promise.all(listening))
  }

  /** Kills the daemon with SIGKILL, and starts it again. */
  async crash(): Promise<void> {
    await this.daemon.kill()
    this.printer.note('$ kill -9, and the daemon starts again')
    await this.start()
  }

  /** Sends a message as a person of the cast; does not wait for the daemon's decision. */
  say(who: CharacterName, where: PlaceName, text: string, { print = true } = {}): Line {
    const place = this.cast.places[where]
    const platform = this.platformOf(place)
    const said = platform.say(this.cast.people[who], place, text)
    const label = this.#labelOf(who, where)
    if (print) this.printer.said(label, this.cast.people[who].name, text)
    return { ...said, platform, place: label }
  }

  /** Sends a file in private on Telegram, which is printed as `shown`. */
  send(who: CharacterName, file: SentFile, shown: string): Line {
    const platform = this.platforms.telegram
    const sent = platform.send(this.cast.people[who], file)
    const label = this.#labelOf(who, 'dm')
    this.printer.said(label, this.cast.people[who].name, shown)
    return { ...sent, platform, place: label }
  }

  /** Returns the place of a message of the bot, by the name that `:in` takes, and its person if it is private. */
  placeOf(platform: PlatformStage, spot: Spot): string {
    const people = Object.keys(this.cast.people) as CharacterName[]
    const places = (Object.keys(this.cast.places) as PlaceName[]).filter(
      (where) => this.platformOf(this.cast.places[where]) === platform,
    )
    for (const where of places)
      for (const who of people)
        if (sameSpot(platform.spotOf(this.cast.people[who], this.cast.places[where]), spot))
          return this.#labelOf(who, where)
    return places.find((where) => this.cast.places[where].chat === spot.chat) ?? platform.title
  }

  /** Returns the name of the person with this id on a platform. */
  nameOf(id: string): string {
    return Object.values(this.cast.people).find(({ ids }) => Object.values(ids).includes(id))?.name ?? id
  }

  #labelOf(who: CharacterName, where: PlaceName): string {
    return this.cast.places[where].chat === undefined ? `${this.cast.people[who].name}'s ${where}` : where
  }

  platformOf({ platform }: Place): PlatformStage {
    return this.platforms[platform]
  }

  /** Resolves with the daemon's decision and its reason, once it has stored the message. */
  decision(line: Line): Promise<Decision> {
    return awaitDecision(this.daemon, askedOf(line))
  }

  /** Resolves with the outcome of a message that may never show in a chat. */
  outcome(line: Line): Promise<string> {
    return awaitOutcome(this.daemon, askedOf(line))
  }

  /** Returns true if the daemon owes nobody anything; false also while it does not run. */
  isDone(): Promise<boolean> {
    return owesNothing(this.daemon).catch(() => false)
  }

  /** Resolves once the daemon owes nobody anything. */
  done(): Promise<void> {
    return awaitNothingOwed(this.daemon)
  }

  /** Waits for the answer to a message until its text is `finished`, and prints it. */
  async answer(line: Line, finished: (text: string) => boolean = () => true): Promise<Shown> {
    const here = isIn(line.spot)
    const matches = (shown: Shown) => shown.change !== 'deleted' && here(shown) && finished(shown.text)
    const { shown } = await line.platform.next(matches, { after: line.mark, timeoutMs: ANSWER_WITHIN_MS })
    this.printer.answered(line.place, shown.text)
    return shown
  }

  /** Counts a check, and prints it if it failed. */
  check(ok: boolean, what: string): void {
    this.checks++
    if (ok) return
    this.failures++
    this.printer.check(false, what)
  }
}

/** Returns the number of messages the bot has sent to the place of a message since then. */
export function sentAfter({ platform, spot, mark }: Line): number {
  const here = isIn(spot)
  return platform.shown(mark).filter((shown) => shown.change === 'sent' && here(shown)).length
}

function sameSpot(one: Spot, other: Spot): boolean {
  return one.chat === other.chat && one.topic === other.topic
}

function askedOf({ messageId, spot }: Said): Asked {
  return { message: messageId, chat: spot.chat }
}
