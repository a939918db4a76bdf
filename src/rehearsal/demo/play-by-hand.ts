import { createInterface, type Interface } from 'node:readline'
import type { CharacterName, PlaceName } from './cast.ts'
import { askWhy } from './decision.ts'
import type { PlatformStage } from './platform-stage.ts'
import type { Line, Stage } from './stage.ts'

const FOREVER_MS = 2 ** 31 - 1

const HELP = `Type a message; it is said by the person and in the place before the ">". "@parley" addresses the bot.
  :as <ada|bo|cy|mallory>    speak as somebody else
  :in <place>                go somewhere else
                             Telegram: family, general, garden, budget, dm
                             Discord: workshop, boiler (a thread of workshop)
                             Slack: office, lamp, printer (threads of office)
  :why [message]             the decision about a message of this place, without a number the last one you sent
  :kill                      kill -9 the daemon and start it again
  :help                      this text
  :quit`

/** Lets the user type as any person in any chat and see decision and answer. Resolves when they leave. */
export async function playByHand(
  stage: Stage,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<void> {
  const lines = createInterface({ input, output })
  const table = new Table(stage, lines)
  // It ends when the servers close, which is after this: to wait for it would be to wait for ever.
  void table.showAnswers()
  stage.printer.title('Your turn')
  stage.printer.note(HELP)
  table.prompt()
  for await (const line of lines) {
    if (line.trim() === ':quit') break
    await table.obey(line.trim()).catch((error: unknown) => stage.printer.note(String(error)))
    table.prompt()
  }
  table.leave()
}

class Table {
  readonly #stage: Stage
  readonly #lines: Interface
  #who: CharacterName = 'ada'
  #where: PlaceName = 'dm'
  #left = false
  #last: Line | undefined

  constructor(stage: Stage, lines: Interface) {
    this.#stage = stage
    this.#lines = lines
    // Input that has ended closes it too, and from Node 24 a prompt after that throws.
    lines.once('close', () => {
      this.#left = true
    })
  }

  prompt(): void {
    if (this.#left) return
    this.#lines.setPrompt(
      `${this.#stage.cast.people[this.#who].name} in ${this.#stage.cast.places[this.#where].title} > `,
    )
    this.#lines.prompt(true)
  }

  leave(): void {
    this.#lines.close()
  }

  async obey(line: string): Promise<void> {
    const [command, argument = ''] = line.split(/\s+/)
    switch (command) {
      case '':
        return
      case ':as':
        return this.#as(argument)
      case ':in':
        return this.#in(argument)
      case ':why':
        return this.#why(argument)
      case ':kill':
        return this.#stage.crash()
      case ':help':
        return this.#stage.printer.note(HELP)
      default:
        if (/^:[a-z]+$/.test(command ?? '')) return this.#stage.printer.note(`there is no ${command}; see :help`)
        await this.#say(line)
    }
  }

  /** Prints what the bot writes, whenever and wherever it does, until the servers close. */
  async showAnswers(): Promise<void> {
    await Promise.all(Object.values(this.#stage.platforms).map((platform) => this.#showAnswersOn(platform)))
  }

  async #showAnswersOn(platform: PlatformStage): Promise<void> {
    for (let after = platform.mark(); ; ) {
      const next = await platform.next(() => true, { after, timeoutMs: FOREVER_MS }).catch(() => undefined)
      if (!next) return
      after = next.end
      const { change, text } = next.shown
      this.#stage.printer.answered('Parley', text, change === 'sent' ? undefined : change)
      this.prompt()
    }
  }

  #as(name: string): void {
    if (name in this.#stage.cast.people) this.#who = name as CharacterName
    else
      this.#stage.printer.note(`nobody is called ${name}; there are ${Object.keys(this.#stage.cast.people).join(', ')}`)
  }

  #in(place: string): void {
    if (place in this.#stage.cast.places) this.#where = place as PlaceName
    else
      this.#stage.printer.note(
        `there is no place ${place}; there are ${Object.keys(this.#stage.cast.places).join(', ')}`,
      )
  }

  async #say(text: string): Promise<void> {
    const line = this.#stage.say(this.#who, this.#where, text)
    this.#last = line
    await this.#stage.decision(line)
    this.#stage.printer.decided(`message ${line.messageId}`)
  }

  async #why(message: string): Promise<void> {
    const { cast, daemon, printer } = this.#stage
    const place = cast.places[this.#where]
    const here = this.#stage.platformOf(place).chatOf(cast.people[this.#who], place)
    const asked = message === '' ? this.#last : { messageId: message, spot: { chat: here } }
    if (!asked) return printer.note('which one? :why <message>')
    const decision = await askWhy(daemon, { message: asked.messageId, chat: asked.spot.chat })
    printer.decided(decision ? `${decision.line}; outcome: ${decision.outcome}` : 'the daemon has no record of it')
  }
}
