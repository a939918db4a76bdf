import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname

const SHOWS_WITHIN_MS = 40_000

export const KEYS = {
  enter: '\r',
  space: ' ',
  down: '\u001b[B',
  up: '\u001b[A',
  ctrlC: '\u0003',
  ctrlD: '\u0004',
  escape: '\u001b',
  clear: '\u0015',
}

/** A home folder of its own, and the variables of a user who has nothing else. */
export class Newcomer {
  readonly home = mkdtempSync(join(tmpdir(), 'parley-init-'))
  readonly folder = join(this.home, '.config', 'parley')
  readonly file = join(this.folder, 'parley.yaml')
  readonly env: Record<string, string>

  constructor(env: Readonly<Record<string, string>> = {}) {
    // Nobody listens at the usual port of a model server: one of this machine must not be found.
    const usual = { LANG: 'C.UTF-8', TERM: 'xterm', OLLAMA_HOST: '127.0.0.1:9' }
    this.env = { PATH: process.env.PATH ?? '', HOME: this.home, ...usual, ...env }
    onTestFinished(() => rmSync(this.home, { recursive: true, force: true }))
  }

  /** Types `parley` with these arguments at a terminal. */
  types(...args: readonly string[]): Typescript {
    return new Typescript([process.execPath, MAIN, 'init', ...args], this.env)
  }

  /** Does the same in a session without that terminal, which sends it no signal. */
  typesElsewhere(...args: readonly string[]): Typescript {
    return new Typescript(['setsid', '--wait', process.execPath, MAIN, 'init', ...args], this.env)
  }

  /** Runs it without a terminal. */
  async runs(args: readonly string[], input = ''): Promise<{ code: number | null; out: string; err: string }> {
    const child = spawn(process.execPath, [MAIN, ...args], { env: this.env, cwd: this.home })
    onTestFinished(() => void child.kill('SIGKILL'))
    const said = { out: '', err: '' }
    child.stdout.on('data', (chunk) => {
      said.out += chunk
    })
    child.stderr.on('data', (chunk) => {
      said.err += chunk
    })
    child.stdin.end(input)
    const [code] = await once(child, 'close')
    return { code, ...said }
  }

  yaml(): string {
    return readFileSync(this.file, 'utf8')
  }

  /** Returns each file of its configuration with its mode. */
  files(): Readonly<Record<string, string>> {
    const names = readdirSync(this.folder)
    return Object.fromEntries(names.map((name) => [name, (statSync(join(this.folder, name)).mode & 0o777).toString(8)]))
  }
}

/** The program in a real pseudo-terminal, that of `script`, with everything that it prints there. */
export class Typescript {
  readonly #child: ChildProcess
  /** All that the terminal was sent, escapes included. */
  raw = ''
  readonly #codeFile: string
  #read = 0
  #over = false
  #wake = () => {}
  keystrokes = 0
  questions = 0

  constructor(args: readonly string[], env: Readonly<Record<string, string>>) {
    const quoted = args.map((word) => `'${word}'`).join(' ')
    this.#codeFile = `${env.HOME}/.exit-code`
    // The shell outlives a Ctrl-C or a closed terminal that ends the program, and keeps its exit code.
    const kept = `code=$?; echo $code >'${this.#codeFile}.new'; mv '${this.#codeFile}.new' '${this.#codeFile}'`
    // The terminal says how it was left, after the program.
    const said = `echo "ended with $code"; stty -a | tr ';' '\\n' | grep -wo -e '-*icanon' -e '-*echo'`
    const command = `trap : INT HUP; ulimit -c 0; stty cols ${env.COLUMNS ?? 80} rows 40; ${quoted}; ${kept}; ${said}`
    this.#child = spawn('script', ['-qec', command, '/dev/null'], { env: { ...env, SHELL: '/bin/sh' } })
    this.#child.stdout?.setEncoding('utf8').on('data', (chunk) => {
      this.raw += chunk
      this.#wake()
    })
    this.#child.stdout?.on('end', () => {
      this.#over = true
      this.#wake()
    })
    onTestFinished(() => void this.#child.kill('SIGKILL'))
  }

  /** All that it has printed, without colours and movements. */
  get text(): string {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal obeys
    return this.raw.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, '').replaceAll('\r', '')
  }

  /** Resolves once it has printed this, after whatever was waited for before. */
  async shows(words: string): Promise<void> {
    const deadline = performance.now() + SHOWS_WITHIN_MS
    for (;;) {
      const at = this.text.indexOf(words, this.#read)
      if (at >= 0) {
        this.#read = at + words.length
        return
      }
      const late = performance.now() > deadline
      if (late || this.#over)
        throw new Error(`It ${late ? 'has not shown' : 'ended without'} "${words}":\n${this.text}`)
      await this.#more()
    }
  }

  /** Waits for a question, and answers it. A pasted text counts as one keystroke. */
  async answers(question: string, ...keys: readonly string[]): Promise<void> {
    await this.shows(question)
    this.questions++
    this.presses(...keys)
  }

  presses(...keys: readonly string[]): void {
    this.keystrokes += keys.length
    this.#child.stdin?.write(keys.join(''))
  }

  /** Resolves with the next output, or after a while, as a deadline has to be looked at. */
  #more(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, 1_000)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /**
   * Closes the terminal, as a window is closed: whoever reads from it is sent SIGHUP by the system, unless it began a
   * session of its own. Resolves with the exit code of the program, which is that of a shell.
   */
  async hangUp(): Promise<number> {
    this.#child.kill('SIGKILL')
    await vi.waitUntil(() => existsSync(this.#codeFile), { timeout: SHOWS_WITHIN_MS })
    return Number(readFileSync(this.#codeFile, 'utf8'))
  }

  /** Resolves once the terminal and all that wrote to it are gone. */
  async closed(): Promise<void> {
    while (!this.#over) await this.#more()
  }

  /** Resolves with the exit code once it has ended; rejects if the terminal was not left as it was. */
  async ended(): Promise<number> {
    await this.closed()
    if (!/^icanon$/m.test(this.text) || !/^echo$/m.test(this.text))
      throw new Error(`The terminal was left in another state:\n${this.text}`)
    return Number(/ended with (\d+)/.exec(this.text)?.[1])
  }
}
