import type { ServerResponse } from 'node:http'
import type { Clock } from '../core/clock.ts'
import type { FinishReason } from '../core/completion.ts'
import type { CompletionAnswer } from '../core/operate-chat.ts'
import { chatErrorAnswer } from './chat-errors.ts'
import { type Completed, finishOf, usageOf } from './chat-words.ts'

export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Proxies such as nginx would hold the events back.
  'x-accel-buffering': 'no',
} as const

/** Clients and proxies take a connection that is silent for longer for dead. */
const BEAT_MS = 10_000
/**
 * Whoever has stopped reading is not waited for. Node lets this pass twice: the first time it finds that the system has
 * taken some bytes since they were written.
 */
const LEAVES_WITHIN_MS = 15_000

export interface ChatStreamDeps {
  readonly response: ServerResponse
  /** The headers of the answer, with what others have added. */
  readonly headers: Headers
  readonly clock: Clock
  readonly of: Completed
  /** With what the answer has cost, at the end. */
  readonly usage: boolean
}

/**
 * An answer as a stream of chunks in the form of OpenAI. It begins with the first word, or with the first beat: a
 * request that fails before is answered by its status. A reader that is slow gets the same in fewer chunks.
 */
export class ChatStream {
  readonly #deps: ChatStreamDeps
  #text = ''
  #sent = 0
  #begun = false
  #cancelBeat: () => void

  constructor(deps: ChatStreamDeps) {
    this.#deps = deps
    this.#cancelBeat = deps.clock.after(BEAT_MS, this.#beat)
    deps.response.on('drain', this.#flush)
  }

  get begun(): boolean {
    return this.#begun
  }

  readonly grew = (text: string): void => {
    this.#text = text
    this.#flush()
  }

  /** Ends it with what is left of the answer. */
  end(answer: CompletionAnswer): void {
    this.#begin()
    this.#rest()
    this.#choice({}, finishOf(answer))
    if (this.#deps.usage) this.#write({ ...this.#head(), choices: [], usage: usageOf(answer.usage) })
    this.#close('data: [DONE]\n\n')
  }

  /** Ends it with an error, which the clients throw: they do not read the end of a stream as one. */
  fail(error: unknown): void {
    this.#close(`data: ${JSON.stringify(chatErrorAnswer(error).body)}\n\n`)
  }

  /** Called where nothing was begun and nothing will be. */
  abandon(): void {
    this.#cancelBeat()
    this.#deps.response.off('drain', this.#flush)
  }

  readonly #beat = (): void => {
    this.#begin()
    this.#deps.response.write(':\n\n')
    this.#cancelBeat = this.#deps.clock.after(BEAT_MS, this.#beat)
  }

  readonly #flush = (): void => {
    const { response } = this.#deps
    if (response.writableEnded || (this.#begun && response.writableNeedDrain)) return
    this.#rest()
  }

  #rest(): void {
    const more = this.#text.slice(this.#sent)
    if (more === '') return
    this.#begin()
    this.#sent = this.#text.length
    this.#choice({ content: more })
  }

  #begin(): void {
    if (this.#begun) return
    this.#begun = true
    const { response, headers } = this.#deps
    response.writeHead(200, Object.fromEntries(headers))
    this.#choice({ role: 'assistant', content: '' })
  }

  #choice(delta: object, finish: FinishReason | null = null): void {
    const choice = { index: 0, delta, logprobs: null, finish_reason: finish }
    this.#write({ ...this.#head(), choices: [choice], ...(this.#deps.usage ? { usage: null } : {}) })
  }

  #head(): object {
    const { id, created, model } = this.#deps.of
    return { id, object: 'chat.completion.chunk', created, model }
  }

  #write(chunk: object): void {
    this.#deps.response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  }

  #close(last: string): void {
    this.abandon()
    const { response } = this.#deps
    response.end(last)
    const { socket } = response
    if (response.writableFinished || socket === null) return
    const before = socket.timeout ?? 0
    socket.setTimeout(LEAVES_WITHIN_MS)
    response.once('finish', () => socket.setTimeout(before))
  }
}
