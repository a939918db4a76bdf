import { clearScreenDown, cursorTo, type Interface, moveCursor } from 'node:readline'

export type ScreenOutput = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }

const WIDTH = 80

/** The terminal of the demo, or a file: lines are written above the line the user types, never onto it. */
export class Screen {
  readonly terminal: boolean
  readonly width: number
  readonly #output: ScreenOutput
  #typing: Interface | undefined
  #closed = false

  constructor(output: ScreenOutput) {
    this.#output = output
    this.terminal = output.isTTY === true
    this.width = Math.min(output.columns ?? WIDTH, WIDTH)
  }

  /** Does nothing once the screen is closed. */
  write(line: string): void {
    if (this.#closed) return
    if (this.#typing) this.#clear(this.#typing)
    this.#output.write(`${line}\n`)
    this.#typing?.prompt(true)
  }

  /** Shows the prompt and the typed text below everything that is written. A file gets no prompt. */
  ask(lines: Interface, prompt: string): void {
    if (!this.terminal || this.#closed) return
    lines.setPrompt(prompt)
    lines.prompt()
    this.#typing = lines
  }

  /** Called when a line was entered, or the input ended. */
  entered(): void {
    this.#typing = undefined
  }

  /** Called when nothing may be written any more. */
  close(): void {
    if (this.#typing) this.#output.write('\n')
    this.#typing = undefined
    this.#closed = true
  }

  /** A long prompt takes several rows. */
  #clear(lines: Interface): void {
    moveCursor(this.#output, 0, -lines.getCursorPos().rows)
    cursorTo(this.#output, 0)
    clearScreenDown(this.#output)
  }
}
