import type { TelegramEntry } from '../../src/rehearsal/telegram/ledger-entries.ts'
import type { TelegramServer } from '../../src/rehearsal/telegram/server.ts'

const MINUTES = 60_000

/**
 * People who write to the bot, each in a direct chat, each saying the next thing when the last was answered in full.
 * An answer counts when it stands on the server as it should read, sent whole or grown by edits.
 */
export class EchoLoad {
  readonly #server: TelegramServer
  readonly #people: readonly number[]
  readonly #expected = new Map<number, string>()
  #no = 0

  constructor(server: TelegramServer, chats: number) {
    this.#server = server
    this.#people = Array.from({ length: chats }, (_, index) => server.world.addUser({ firstName: `P${index}` }).id)
  }

  /** How many messages were said in all. */
  get said(): number {
    return this.#no
  }

  /** Has `messages` answered, all chats busy all the time; returns the milliseconds it took. */
  async run(messages: number): Promise<number> {
    const { ledger } = this.#server
    let started = 0
    let answered = 0
    const say = (person: number): void => {
      if (started++ < messages) this.say(person)
    }
    const startedAt = performance.now()
    const done = ledger.next(
      (entry) => {
        const person = this.answeredBy(entry)
        if (person === undefined) return false
        // The bot gets the answer to its call before the next message, as it mostly does on the platform.
        setImmediate(say, person)
        return ++answered === messages
      },
      { after: ledger.mark(), timeoutMs: 5 * MINUTES },
    )
    for (const person of this.#people) say(person)
    await done
    return performance.now() - startedAt
  }

  /** The first person, for those who need only one. */
  get anyone(): number {
    return this.#people[0] ?? 0
  }

  say(person: number): void {
    const text = `message ${++this.#no}`
    this.#expected.set(person, `echo ${text}`)
    this.#server.world.say({ from: person, text })
  }

  /** Whose open message this entry answers, if any; it is closed thereby. */
  answeredBy(entry: TelegramEntry): number | undefined {
    if (entry.kind !== 'message' || entry.botId === null || entry.change === 'deleted') return undefined
    if (this.#expected.get(entry.chatId) !== entry.text) return undefined
    this.#expected.delete(entry.chatId)
    return entry.chatId
  }

  /**
   * An owner who never wrote has no chat to show commands in; the platform says so, and the bot takes it calmly.
   *
   * @throws Error unless the bot wrote exactly one message for each that was said, and every other call was accepted.
   */
  check(): void {
    const { ledger } = this.#server
    const written = ledger.count((entry) => entry.kind === 'message' && entry.change === 'sent' && entry.botId !== null)
    if (written !== this.#no) throw new Error(`${this.#no} messages were said, ${written} answers written.`)
    const refused = ledger.all(
      (entry) => entry.kind === 'call' && entry.answer?.ok === false && entry.method !== 'setMyCommands',
    )
    if (refused.length > 0) throw new Error(`${refused.length} calls were refused: ${JSON.stringify(refused[0])}`)
  }
}
