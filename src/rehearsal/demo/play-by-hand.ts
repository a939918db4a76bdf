import { createInterface, type Interface } from 'node:readline'
import type { TelegramEntry } from '../telegram/ledger-entries.ts'
import type { CharacterName, PlaceName } from './cast.ts'
import { askWhy } from './decision.ts'
import type { Said, Stage } from './stage.ts'

const FOREVER_MS = 2 ** 31 - 1

const HELP = `Type a message; it is said by the person and in the place before the ">".
  :as <ada|bo|cy|mallory>                      speak as somebody else
  :in <family|general|garden|budget|dm>        go somewhere else
  :why <number>                                the decision about a message of this place
  :kill                                        kill -9 the daemon and start it again
  :quit`

/** Lets the user type as any person in any chat and see decision and answer. Resolves when they leave. */
export async function playByHand(
  stage: Stage,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<void> {
  const lines = createInterface({ input, output })
  const table = new Table(stage, lines)
  const answers = table.showAnswers()
  stage.printer.title('Your turn')
  stage.printer.note(HELP)
  table.prompt()
  for await (const line of lines) {
    if (line.trim() === ':quit') break
    await table.obey(line.trim()).catch((error: unknown) => stage.printer.note(String(error)))
    table.prompt()
  }
  table.leave()
  await answers
}

class Table {
  readonly #stage: Stage
  readonly #lines: Interface
  #who: CharacterName = 'ada'
  #where: PlaceName = 'dm'
  #left = false

  constructor(stage: Stage, lines: Interface) {
    this.#stage = stage
    this.#lines = lines
  }

  prompt(): void {
    if (this.#left) return
    this.#lines.setPrompt(
      `${this.#stage.cast.people[this.#who].name} in ${this.#stage.cast.places[this.#where].title} > `,
    )
    this.#lines.prompt(true)
  }

  leave(): void {
    this.#left = true
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
        return this.#why(Number(argument))
      case ':kill':
        return this.#kill()
      default:
        await this.#say(line)
    }
  }

  /** Prints what the bot writes, whenever it does, until the server closes. */
  async showAnswers(): Promise<void> {
    const { ledger } = this.#stage.telegram
    const shown = (entry: TelegramEntry) => entry.kind === 'message' && entry.botId !== null
    for (let after = ledger.mark(); ; ) {
      const entry = await ledger.next(shown, { after, timeoutMs: FOREVER_MS }).catch(() => undefined)
      if (entry?.kind !== 'message') return
      after = ledger.entries.indexOf(entry, after) + 1
      const change = entry.change === 'sent' ? undefined : entry.change
      this.#stage.printer.answered('Parley', entry.text, change)
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
    const said: Said = this.#stage.say(this.#who, this.#where, text)
    await this.#stage.decision(said)
    this.#stage.printer.decided(`message ${said.message.message_id}`)
  }

  async #why(messageId: number): Promise<void> {
    const chat = this.#stage.cast.places[this.#where].chat ?? this.#stage.cast.people[this.#who].id
    const { line, outcome } = await askWhy(this.#stage.daemon, chat, messageId)
    this.#stage.printer.decided(`${line}; outcome: ${outcome}`)
  }

  async #kill(): Promise<void> {
    const { daemon, telegram, printer } = this.#stage
    const mark = telegram.ledger.mark()
    await daemon.kill()
    printer.note('✂  killed; it starts again')
    await daemon.start(telegram.ledger.listening({ after: mark, timeoutMs: 10_000 }))
  }
}
