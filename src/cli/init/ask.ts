import { PassThrough, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { ParleyError } from '../../core/errors.ts'
import type { CliPorts, Output } from '../ports.ts'
import { broken } from '../print/columns.ts'
import { plain } from '../print/plain.ts'

/** The person at the terminal, or the flags in that person's place. */
export interface Ask {
  readonly isPerson: boolean
  /** Aborted as soon as the person leaves: Ctrl-C, Ctrl-D, Esc, a closed terminal, a signal. */
  readonly signal: AbortSignal
  /** Prints lines, broken between words where the terminal is narrow. */
  say(...lines: readonly string[]): void
  /** All questions reject with `Left` once the person leaves, and with `invalid` where nobody can be asked. */
  choose<Value>(question: Choice<Value>): Promise<Value>
  chooseSome(question: SomeChoice): Promise<readonly string[]>
  /** The answer is masked and never printed. */
  secret(question: TypedQuestion): Promise<string>
  text(question: TypedQuestion): Promise<string>
  /** Resolves with the outcome of `work`; with undefined once the person presses Enter, and `over` is aborted. */
  unlessSkipped<Value>(work: (over: AbortSignal) => Promise<Value>): Promise<Value | undefined>
  /** Gives the terminal back as it was. Idempotent. */
  close(): void
}

interface Question {
  readonly message: string
  /** The flag that answers it, with a value as an example. */
  readonly flag: string
}

export interface Choice<Value> extends Question {
  readonly options: readonly { readonly value: Value; readonly label: string; readonly hint?: string }[]
  /** The answer where nobody is asked; absent: there is none. */
  readonly otherwise?: Value
}

export interface SomeChoice extends Question {
  readonly options: readonly { readonly value: string; readonly label: string; readonly hint?: string }[]
  readonly chosen: readonly string[]
  readonly required: boolean
}

export interface TypedQuestion extends Question {
  /** Returns what is wrong with an answer, as the end of a sentence. */
  mistake(answer: string): string | undefined
}

/** The person has left: whatever was not written yet is not written. */
export class Left extends Error {
  override readonly name = 'Left'
}

type Clack = typeof import('@clack/prompts')
type CANCEL_SYMBOL = Clack['CANCEL_SYMBOL']
type TerminalPorts = Pick<CliPorts, 'stdin' | 'stdout' | 'env' | 'onSignal'>

/** Returns whoever answers at the terminal; undefined where there is none. */
export async function askAtTerminal(ports: TerminalPorts): Promise<Ask | undefined> {
  const { stdin, stdout } = ports
  if (!isTerminal(stdin) || !stdout.isTTY) return undefined
  return new AtTerminal(ports, stdin, await import('@clack/prompts'))
}

/** Returns the flags in the place of a person: a question that none of them has answered is a mistake. */
export function askNobody(output: Pick<Output, 'write'>): Ask {
  const missing = ({ flag }: Question): never => {
    throw nobodyAsked([flag])
  }
  return {
    isPerson: false,
    signal: new AbortController().signal,
    say: (...lines) => output.write(lines.map((line) => `${plain(line)}\n`).join('')),
    choose: async (question) => ('otherwise' in question ? question.otherwise : missing(question)) as never,
    chooseSome: async (question) =>
      question.chosen.length > 0 || !question.required ? question.chosen : missing(question),
    secret: async (question) => missing(question),
    text: async (question) => missing(question),
    unlessSkipped: (work) => work(new AbortController().signal),
    close: () => {},
  }
}

/** Returns the mistake of a command line that lacks these flags, with no person there to be asked. */
export function nobodyAsked(flags: readonly string[]): ParleyError {
  const message = `Nobody can be asked here. Add these flags, or run it in a terminal:\n  ${flags.join(' ')} --yes`
  return new ParleyError('invalid', message)
}

type Terminal = NodeJS.ReadableStream & { setRawMode(raw: boolean): unknown }

function isTerminal(input: NodeJS.ReadableStream): input is Terminal {
  return 'isTTY' in input && input.isTTY === true && 'setRawMode' in input
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal sends
const PASTE_MARKS = /\u001b\[20[01]~/g
const LEAVES = ['\u0003', '\u0004']
/** More options than this are found by typing a part of them. */
const MANY = 12
const WIDTH = 80

/**
 * Holds the terminal from the first question to the last one, so that nothing typed in between is echoed, a secret
 * pasted too early least of all. Each prompt is given the keys of its own time alone.
 */
class AtTerminal implements Ask {
  readonly isPerson = true
  readonly #stdin: Terminal
  readonly #clack: Clack
  readonly #screen: Screen
  readonly #leaving = new AbortController()
  readonly #decoder = new StringDecoder()
  readonly #unwatch: () => void
  #keys: PassThrough | undefined
  #skip: (() => void) | undefined
  #open = true

  constructor(ports: TerminalPorts, stdin: Terminal, clack: Clack) {
    this.#stdin = stdin
    this.#clack = clack
    this.#screen = new Screen(ports)
    this.#unwatch = ports.onSignal(this.#leave)
    stdin.setRawMode(true)
    stdin.on('data', this.#receive).on('end', this.#leave).on('error', this.#leave)
    stdin.resume()
  }

  get signal(): AbortSignal {
    return this.#leaving.signal
  }

  say(...lines: readonly string[]): void {
    const width = Math.min(this.#screen.columns, WIDTH)
    this.#screen.write(lines.map((line) => `${broken(plain(line), width).join('\n')}\n`).join(''))
  }

  choose<Value>({ message, options }: Choice<Value>): Promise<Value> {
    const all = options.map(({ value, label, hint }, at) => ({
      value: at,
      label: plain(label),
      ...(hint === undefined ? {} : { hint: plain(hint) }),
      original: value,
    }))
    const chosen = this.#prompt<number>((io) =>
      all.length > MANY
        ? this.#clack.autocomplete({ ...io, message, options: all, maxItems: MANY, placeholder: 'type a part of it' })
        : this.#clack.select({ ...io, message, options: all }),
    )
    return chosen.then((at) => all[at]?.original as Value)
  }

  chooseSome({ message, options, chosen, required }: SomeChoice): Promise<readonly string[]> {
    return this.#prompt<string[]>((io) =>
      this.#clack.multiselect({
        ...{ ...io, message, required, initialValues: chosen },
        options: options.map(({ value, label, hint = '' }) => ({ value, label, hint })),
      }),
    )
  }

  async secret({ message, mistake }: TypedQuestion): Promise<string> {
    const validate = (answer = '') => mistakeIn(answer, mistake)
    const answer = await this.#prompt<string>((io) =>
      this.#clack.password({ ...io, message, mask: '*', validate, clearOnError: true }),
    )
    // An empty answer is none.
    return ((answer as string | undefined) ?? '').trim()
  }

  async text({ message, mistake }: TypedQuestion): Promise<string> {
    const validate = (answer = '') => mistakeIn(answer, mistake)
    return (await this.#prompt<string>((io) => this.#clack.text({ ...io, message, validate }))).trim()
  }

  async unlessSkipped<Value>(work: (over: AbortSignal) => Promise<Value>): Promise<Value | undefined> {
    const over = new AbortController()
    const leave = () => over.abort()
    this.signal.addEventListener('abort', leave, { once: true })
    const ended = new Promise<undefined>((resolve) => {
      over.signal.addEventListener('abort', () => resolve(undefined), { once: true })
    })
    this.#skip = leave
    if (this.signal.aborted) leave()
    const worked = work(over.signal)
    // Nobody waits for its failure once it was skipped.
    worked.catch(() => {})
    try {
      const outcome = await Promise.race([worked, ended])
      if (this.signal.aborted) throw new Left()
      return outcome
    } finally {
      this.#skip = undefined
      this.signal.removeEventListener('abort', leave)
      over.abort()
    }
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    // A terminal that was closed takes no mode any more, which is an error of its own.
    this.#stdin.off('data', this.#receive).off('end', this.#leave)
    this.#stdin.setRawMode(false)
    this.#stdin.pause()
    this.#unwatch()
  }

  async #prompt<Value>(open: (io: PromptStreams) => Promise<Value | CANCEL_SYMBOL>): Promise<Value> {
    if (this.signal.aborted) throw new Left()
    const keys = new PassThrough()
    const over = new AbortController()
    const leave = () => over.abort()
    this.signal.addEventListener('abort', leave, { once: true })
    this.#keys = keys
    try {
      const answer = await open({ input: keys, output: this.#screen, signal: over.signal, withGuide: false })
      if (this.#clack.isCancel(answer)) this.#leave()
      if (this.signal.aborted) throw new Left()
      return answer as Value
    } finally {
      this.#keys = undefined
      this.signal.removeEventListener('abort', leave)
      keys.destroy()
    }
  }

  readonly #leave = (): void => this.#leaving.abort()

  readonly #receive = (chunk: Buffer | string): void => {
    // A paste has marks around it in some terminals, and lines that end in another key than Enter.
    const text = this.#decoder.write(chunk).replaceAll(PASTE_MARKS, '').replaceAll(/\r?\n/g, '\r')
    if (LEAVES.some((key) => text.includes(key))) this.#leave()
    else if (this.#keys !== undefined) this.#keys.write(text)
    else if (text.includes('\r')) this.#skip?.()
  }
}

interface PromptStreams {
  readonly input: PassThrough
  readonly output: Screen
  readonly signal: AbortSignal
  readonly withGuide: false
}

function mistakeIn(answer: string, mistake: TypedQuestion['mistake']): string | undefined {
  const wrong = mistake(answer.trim())
  return wrong === undefined ? undefined : `This ${wrong}.`
}

/** The marks of the prompts for a terminal that has ASCII alone; each is as wide, as a prompt counts columns. */
const MARKS: ReadonlyMap<string, string> = new Map([
  ['\u25c6', '*'],
  ['\u25c7', 'o'],
  ['\u25cf', '>'],
  ['\u25cb', ' '],
  ['\u25fb', '.'],
  ['\u25fc', 'x'],
  ['\u25b2', '!'],
  ['\u25a0', 'x'],
  ['\u2022', '/'],
  ['\u2026', '.'],
  ['\u2588', '_'],
  ['\u2191', '^'],
  ['\u2193', 'v'],
  ['\u201c', '"'],
  ['\u201d', '"'],
  ['\u2019', "'"],
])

/** The output as the prompts see it; in ASCII where the locale has no other characters. */
class Screen extends Writable {
  readonly isTTY = true
  readonly #stdout: Output
  readonly #ascii: boolean

  constructor({ stdout, env }: Pick<CliPorts, 'stdout' | 'env'>) {
    super({ decodeStrings: false })
    this.#stdout = stdout
    this.#ascii = !/utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '')
  }

  get columns(): number {
    return this.#stdout.columns || WIDTH
  }

  get rows(): number {
    return this.#stdout.rows || 24
  }

  override _write(chunk: Buffer | string, _encoding: string, done: () => void): void {
    const text = String(chunk)
    this.#stdout.write(this.#ascii ? asciiOf(text) : text)
    done()
  }
}

function asciiOf(text: string): string {
  return text.replace(/[^\p{ASCII}]/gu, (char) => MARKS.get(char) ?? '?')
}
