import { createInterface, type Interface } from 'node:readline'
import type { CharacterName, PlaceName } from './cast.ts'
import { askWhy } from './decision.ts'
import type { Screen, ScreenOutput } from './screen.ts'
import { Answers } from './show-answers.ts'
import type { Line, Stage } from './stage.ts'

const HELP = `Type a message; it is said by the person and in the place before the ">".
"@parley" addresses the bot. Its model is a script here, so try "what do you
know?", "what time is it?", "remember that I like tea", "what do you remember
of me?" or "tell me a story".
  :as <person>     ada (the owner), bo, cy, or mallory, whom nobody knows
  :in <place>      family, general, garden, budget, dm        on Telegram
                   workshop, boiler (a thread of workshop)    on Discord
                   office, lamp, printer (threads of office)  on Slack
  :why [message]   why a message was answered or not; else your last
  :kill            kill -9 the daemon and start it again
  :help            this text
  :quit            or Ctrl-C`

/** A command of this console as somebody types it who has not read its help; the bot has none of these. */
const OWN_WORD = /^(\/?(quit|exit)$|\/(as|in|kill)\b)/

export interface Hands {
  readonly input: NodeJS.ReadableStream
  readonly output: ScreenOutput
  readonly screen: Screen
}

/** Lets the user type as any person in any chat and see decision and answer. Resolves when they leave. */
export async function playByHand(stage: Stage, { input, output, screen }: Hands): Promise<void> {
  const lines = createInterface({ input, output, terminal: screen.terminal })
  const table = new Table(stage, lines, screen)
  const answers = new Answers(stage)
  // This ends when the servers close, which is after this function.
  void answers.show()
  stage.printer.title('Your turn')
  stage.printer.note(HELP)
  table.prompt()
  for await (const line of lines) {
    screen.entered()
    if (/^:(quit|exit)$/.test(line.trim())) break
    await table.obey(line.trim()).catch((error: unknown) => stage.printer.note(String(error)))
    table.prompt()
  }
  if (!screen.terminal) {
    // Input from a pipe ends before the last answer comes.
    await stage.done()
    await answers.whole()
  }
  lines.close()
}

class Table {
  readonly #stage: Stage
  readonly #lines: Interface
  readonly #screen: Screen
  #who: CharacterName = 'ada'
  #where: PlaceName = 'dm'
  #left = false
  #last: Line | undefined

  constructor(stage: Stage, lines: Interface, screen: Screen) {
    this.#stage = stage
    this.#lines = lines
    this.#screen = screen
    // Input that has ended closes it too, and from Node 24 a prompt after that throws.
    lines.once('close', () => {
      this.#left = true
    })
  }

  prompt(): void {
    if (this.#left) return
    const { people, places } = this.#stage.cast
    this.#screen.ask(this.#lines, `${people[this.#who].name} in ${places[this.#where].title} > `)
  }

  async obey(line: string): Promise<void> {
    const [command = '', argument = ''] = line.split(/\s+/)
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
        if (OWN_WORD.test(line))
          return this.#stage.printer.note(`not said: write :${command.replace('/', '')}; see :help`)
        if (/^:[a-z]+$/.test(command)) return this.#stage.printer.note(`there is no ${command}; see :help`)
        await this.#say(line)
    }
  }

  #as(name: string): void {
    if (Object.hasOwn(this.#stage.cast.people, name)) this.#who = name as CharacterName
    else
      this.#stage.printer.note(`nobody is called ${name}; there are ${Object.keys(this.#stage.cast.people).join(', ')}`)
  }

  #in(place: string): void {
    if (Object.hasOwn(this.#stage.cast.places, place)) this.#where = place as PlaceName
    else
      this.#stage.printer.note(
        `there is no place ${place}; there are ${Object.keys(this.#stage.cast.places).join(', ')}`,
      )
  }

  async #say(text: string): Promise<void> {
    // A terminal shows the typed line already, behind the prompt.
    const line = this.#stage.say(this.#who, this.#where, text, { print: !this.#screen.terminal })
    this.#last = line
    const { line: decided } = await this.#stage.decision(line)
    this.#stage.printer.decided(`${decided}; message ${line.messageId}`)
  }

  async #why(message: string): Promise<void> {
    const { cast, daemon, printer } = this.#stage
    const place = cast.places[this.#where]
    const { chat: here } = this.#stage.platformOf(place).spotOf(cast.people[this.#who], place)
    const asked = message === '' ? this.#last : { messageId: message, spot: { chat: here } }
    if (!asked) return printer.note('which one? :why <message>')
    const decision = await askWhy(daemon, { message: asked.messageId, chat: asked.spot.chat })
    printer.decided(decision ? `${decision.line}; outcome: ${decision.outcome}` : 'the daemon has no record of it')
  }
}
