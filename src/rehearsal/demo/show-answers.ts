import type { PlatformStage, Shown } from './platform-stage.ts'
import type { Stage } from './stage.ts'

const FOREVER_MS = 2 ** 31 - 1
/** A message that grew is whole once the daemon is done with everything, asked after so long without an edit. */
const QUIET_MS = 300

/** Prints each message of the bot with its place when it comes, and a growing one once it is whole. */
export class Answers {
  readonly #stage: Stage
  readonly #growing = new Map<string, NodeJS.Timeout>()
  readonly #printed = new Map<string, string>()
  #whole: (() => void) | undefined
  #over = false

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** Resolves when the servers close. */
  async show(): Promise<void> {
    await Promise.all(Object.values(this.#stage.platforms).map((platform) => this.#showOn(platform)))
    this.#over = true
    for (const timer of this.#growing.values()) clearTimeout(timer)
  }

  /** Resolves once no message grows. */
  async whole(): Promise<void> {
    while (this.#growing.size > 0)
      await new Promise<void>((resolve) => {
        this.#whole = resolve
      })
  }

  async #showOn(platform: PlatformStage): Promise<void> {
    for (let after = platform.mark(); ; ) {
      const next = await platform.next(() => true, { after, timeoutMs: FOREVER_MS }).catch(() => undefined)
      if (!next) return
      after = next.end
      const key = `${platform.title} ${next.shown.spot.chat} ${next.shown.messageId}`
      if (next.shown.onlyFor !== undefined) this.#printPrivate(platform, next.shown, next.shown.onlyFor)
      else if (this.#growing.has(key) || this.#modelWrites()) this.#wait(key, platform, next.shown)
      else this.#print(key, platform, next.shown)
    }
  }

  #wait(key: string, platform: PlatformStage, shown: Shown): void {
    clearTimeout(this.#growing.get(key))
    const onQuiet = async (): Promise<void> => {
      const done = await this.#stage.isDone()
      // An edit may have come meanwhile, which then waits itself.
      if (this.#over || this.#growing.get(key) !== timer) return
      if (!done) {
        this.#wait(key, platform, shown)
        return
      }
      this.#growing.delete(key)
      this.#print(key, platform, shown)
      this.#whole?.()
    }
    const timer = setTimeout(() => void onQuiet(), QUIET_MS)
    this.#growing.set(key, timer)
  }

  #print(key: string, platform: PlatformStage, { spot, text, change }: Shown): void {
    const line = change === 'deleted' ? '(deleted)' : growth(this.#printed.get(key), text)
    this.#printed.set(key, text)
    this.#stage.printer.answered(this.#stage.placeOf(platform, spot), line)
  }

  /** Commands are answered in one piece. */
  #printPrivate(platform: PlatformStage, { spot, text }: Shown, id: string): void {
    const { printer } = this.#stage
    printer.answered(this.#stage.placeOf(platform, spot), `(only ${this.#stage.nameOf(id)} sees this) ${text}`)
  }

  #modelWrites(): boolean {
    const { ledger } = this.#stage.anthropic
    return ledger.count(({ kind }) => kind === 'accepted') > ledger.count(({ kind }) => kind === 'ended')
  }
}

/** Returns the text added to a message, from the beginning of a word; the whole text of one that changed otherwise. */
export function growth(before: string | undefined, text: string): string {
  if (before === undefined) return text
  if (!text.startsWith(before)) return `(edited) ${text}`
  return `… ${text.slice(before.search(/\S*$/)).trim()}`
}
