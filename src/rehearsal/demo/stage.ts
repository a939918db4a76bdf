import type { AnthropicServer } from '../anthropic/server.ts'
import type { Cast, CharacterName, Place, PlaceName, Platform } from './cast.ts'
import type { DaemonProcess } from './daemon-process.ts'
import { type Asked, awaitDecision, awaitOutcome, type Decision } from './decision.ts'
import { isIn, type PlatformStage, type Said, type Shown } from './platform-stage.ts'
import type { Printer } from './printer.ts'

const ANSWER_WITHIN_MS = 60_000
const START_WITHIN_MS = 60_000

export interface StageParts {
  readonly platforms: Readonly<Record<Platform, PlatformStage>>
  readonly anthropic: AnthropicServer
  readonly cast: Cast
  readonly daemon: DaemonProcess
  readonly printer: Printer
}

/** A message said on the stage. */
export interface Line extends Said {
  readonly platform: PlatformStage
}

/** Lets people of the cast talk, shows what the daemon decides, and checks it against the ledgers. */
export class Stage {
  readonly platforms: StageParts['platforms']
  readonly anthropic: AnthropicServer
  readonly cast: Cast
  readonly daemon: DaemonProcess
  readonly printer: Printer
  checks = 0
  failures = 0

  constructor({ platforms, anthropic, cast, daemon, printer }: StageParts) {
    this.platforms = platforms
    this.anthropic = anthropic
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

  /** kill -9, and a start. */
  async crash(): Promise<void> {
    await this.daemon.kill()
    this.printer.note('✂  killed; it starts again')
    await this.start()
  }

  /** Somebody says something. Printed at once, not decided yet. */
  say(who: CharacterName, where: PlaceName, text: string): Line {
    const platform = this.platformOf(this.cast.places[where])
    const said = platform.say(this.cast.people[who], this.cast.places[where], text)
    this.printer.said(this.cast.people[who].name, text)
    return { ...said, platform }
  }

  /** Says where what follows takes place. */
  place(where: PlaceName): void {
    this.printer.place(this.cast.places[where].title)
  }

  platformOf({ platform }: Place): PlatformStage {
    return this.platforms[platform]
  }

  /** Waits until the daemon has stored the message, and prints what it decided and why. */
  async decision(line: Line): Promise<Decision> {
    const decision = await awaitDecision(this.daemon, askedOf(line))
    this.printer.decided(decision.line)
    return decision
  }

  /** Waits for what became of a message that may never show in a chat. */
  outcome(line: Line): Promise<string> {
    return awaitOutcome(this.daemon, askedOf(line))
  }

  /** Waits for the answer to a message, until its text is what was waited for, and prints it. */
  async answer(line: Line, finished: (text: string) => boolean = () => true): Promise<Shown> {
    const here = isIn(line.spot)
    const matches = (shown: Shown) => shown.change !== 'deleted' && here(shown) && finished(shown.text)
    const { shown } = await line.platform.next(matches, { after: line.mark, timeoutMs: ANSWER_WITHIN_MS })
    const versions = line.platform.shown(line.mark).filter(({ messageId }) => messageId === shown.messageId).length
    const note = versions > 1 ? `one message, shown while it grew (${versions - 1} edits)` : undefined
    this.printer.answered('Parley', shown.text, note)
    return shown
  }

  check(ok: boolean, what: string): void {
    this.checks++
    if (!ok) this.failures++
    this.printer.check(ok, what)
  }
}

/** Messages the bot sent to the place of a message since then. */
export function sentAfter({ platform, spot, mark }: Line): number {
  const here = isIn(spot)
  return platform.shown(mark).filter((shown) => shown.change === 'sent' && here(shown)).length
}

function askedOf({ messageId, spot }: Said): Asked {
  return { message: messageId, chat: spot.chat }
}
