import type { Clock } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import type { MediaId } from '../../core/ids.ts'
import { type Logger, silentLogger } from '../../core/logger.ts'
import type { MediaStore } from '../../core/media.ts'
import type { Model, ModelEvent, ModelRequest } from '../../core/model.ts'
import { readEvents, type StreamReading } from './event-source.ts'
import type { ServerPlace } from './failure.ts'
import { notTheApi, toModelError } from './failure.ts'
import { ModelError, withBegun } from './model-error.ts'
import { type Images, loadImages } from './pictures.ts'
import { readAnswer } from './read-answer.ts'
import { numbersIn, traitOfRefusal } from './refusals.ts'
import type { ModelTraits, Trait, TraitBook } from './traits.ts'

export interface WireOptions {
  /** The name of the server under `models`; default: that of its protocol. */
  readonly name?: string
  /** Absent: none is sent, which servers on one's own machine allow. */
  readonly apiKey?: string
  /** Default: the public API. Never taken from the environment. */
  readonly baseUrl?: string
  /** The server's model name. */
  readonly model: string
  readonly clock: Clock
  readonly media: Pick<MediaStore, 'read'>
  /** The book in which the traits of the model are kept. Default: one of its own. */
  readonly traits?: TraitBook
  readonly logger?: Logger
  /** Silence after which a stream counts as stalled. Default 60 s. */
  readonly idleMs?: number
}

/** A request as it goes out. */
export interface Built<Body> {
  readonly body: Body
  /** The traits with which the request would be another one: what a refusal of this one can teach. */
  readonly avoidable: ReadonlySet<Trait>
  /** The most tokens of the answer that it asks for. */
  readonly answer: number
}

/** One protocol; `Reading` is an answer as far as it has come. */
export interface Protocol<Body, Reading> {
  /** The most bytes of a picture. */
  readonly pictureBytes: number
  /** `most`: the most tokens that the answer to this request may have. */
  build(request: ModelRequest, images: Images, most: number): Built<Body>
  /** Throws what its SDK throws. */
  open(body: Body, signal: AbortSignal): Promise<Response>
  begin(): Reading
  /** Returns the model events for an event of the server. Throws for one that is an error. */
  read(event: object, reading: Reading): readonly ModelEvent[]
  /** Returns true once an event of the protocol has said that nothing follows. */
  isOver(reading: Reading): boolean
  /** Returns true once the answer can do without whatever follows. */
  isWhole(reading: Reading): boolean
  /**
   * Returns the calls and the end. `inOrder`: the server has said that nothing follows. Throws a `ModelError` if the
   * answer broke off.
   */
  end(reading: Reading, inOrder: boolean): readonly ModelEvent[]
}

interface Wire<Body, Reading> {
  /** `<server>/<model>`. */
  readonly id: string
  readonly server: ServerPlace
  readonly protocol: Protocol<Body, Reading>
  readonly traits: ModelTraits
  readonly options: WireOptions
}

/**
 * Returns the model behind a server. A request that is refused for something it can do without is made again at once
 * without that, and all later ones too: each trait is learnt once, so this ends.
 */
export function wireModel<Body, Reading>(wire: Wire<Body, Reading>): Model {
  const { id, traits } = wire
  return readAnswer({ id, stream: (request, signal) => stream(wire, request, signal) }, traits)
}

async function* stream<Body, Reading>(
  wire: Wire<Body, Reading>,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void, void> {
  const { id, traits, protocol, options } = wire
  const images = await loadImages(request.messages, options.media, protocol.pictureBytes)
  let most = Number.POSITIVE_INFINITY
  for (let lessons = 0; ; lessons++) {
    const built = protocol.build(request, images, most)
    try {
      return yield* attempt(wire, built.body, signal)
    } catch (error) {
      if (!(error instanceof ModelError) || error.begun) throw error
      const lesson = lessons < MOST_LESSONS ? learn(error, built, traits) : undefined
      if (lesson === undefined) throw detailed(error, built.body, images)
      most = lesson.room ?? most
      const { logger = silentLogger } = options
      logger.info('A model server refused a part of a request; it is asked without it', {
        ...{ model: id, lesson: lesson.words, err: error },
      })
    }
  }
}

/** A server that names a smaller number each time would be asked for ever. */
const MOST_LESSONS = 12

async function* attempt<Body, Reading>(
  { id, server, protocol, traits, options }: Wire<Body, Reading>,
  body: Body,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void, void> {
  const { clock, idleMs = 60_000 } = options
  const patience = new Patience(clock, idleMs)
  const reading = protocol.begin()
  const stream: StreamReading = { inOrder: false }
  let begun = false
  const failure = (error: unknown): Error => {
    if (signal.aborted) return new ParleyError('aborted', 'The model call was stopped.')
    return withBegun(patience.signal.aborted ? stalled(id, patience.signal.reason) : toModelError(error, server), begun)
  }
  try {
    const either = AbortSignal.any([signal, patience.signal])
    const answer = await protocol.open(body, either)
    for await (const sent of readEvents(eventsOf(answer, server), stream)) {
      patience.pause()
      const events = protocol.read(sent, reading)
      begun = true
      for (const event of events) yield event
      stream.inOrder ||= protocol.isOver(reading)
      if (stream.inOrder) break
      patience.resume({ said: events.length > 0, whole: protocol.isWhole(reading) })
    }
    either.throwIfAborted()
  } catch (error) {
    if (signal.aborted || !protocol.isWhole(reading)) throw failure(error)
  } finally {
    patience.end()
  }
  const { window } = traits
  for (const event of protocol.end(reading, stream.inOrder))
    yield event.type === 'end' && window !== undefined ? { ...event, window } : event
}

function eventsOf({ status, headers, body }: Response, server: ServerPlace): ReadableStream<Uint8Array> {
  const type = headers.get('content-type') ?? ''
  if (body === null || !type.startsWith('text/event-stream')) throw notTheApi(server, { status, type })
  return body
}

function stalled(id: string, ms: number): ModelError {
  return new ModelError('model_stalled', `Nothing came from ${id} for ${ms / 1000} s.`, { advice: { retry: true } })
}

interface Lesson {
  /** For the log. */
  readonly words: string
  /** The tokens that are left for the answer to this request alone. */
  readonly room?: number
}

/** Notes what a refusal teaches; undefined where the same request would be refused again. */
function learn(
  { refusal }: ModelError,
  { avoidable, answer }: Built<unknown>,
  traits: ModelTraits,
): Lesson | undefined {
  if (refusal === undefined) return undefined
  const { window, longestAnswer, room } = numbersIn(refusal.words, answer)
  if (window !== undefined) traits.window = window
  if (longestAnswer !== undefined && longestAnswer < (traits.longestAnswer ?? Number.POSITIVE_INFINITY)) {
    traits.longestAnswer = longestAnswer
    return { words: `answers of ${longestAnswer} tokens` }
  }
  if (room !== undefined) return { words: `an answer of ${room} tokens`, room }
  const trait = traitOfRefusal(refusal, avoidable)
  return trait !== undefined && traits.learn(trait) ? { words: trait } : undefined
}

/** Adds what the words of the server name: the window, and the picture for which the request was refused. */
function detailed(error: ModelError, body: unknown, images: Images): ModelError {
  const { code, message, advice, cause, refusal } = error
  if (refusal === undefined) return error
  const { window } = numbersIn(refusal.words)
  const picture = pictureAt(refusal.words, body, images)
  return new ModelError(code, message, { advice, cause, refusal, picture, window })
}

function pictureAt(words: string, body: unknown, images: Images): MediaId | undefined {
  const [path] = images.size === 0 ? [] : (PLACE.exec(words) ?? [])
  if (path === undefined) return undefined
  const place = JSON.stringify(nodeAt(body, path.match(/[a-z_]+|\d+/g) ?? [])) ?? ''
  return [...images].find(([, data]) => place.includes(data))?.[0]
}

/** The place of a part of a message: `messages.3.content.1`, `messages.[0].content.[1]`, in a result of a tool too. */
const PLACE = /messages[.[]+\d+\]?\.content[.[]+\d+\]?(\.tool_result\.content\.\d+)?/

function nodeAt(body: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((node, key) => {
    // The type of a block stands in a path of Anthropic's and is no key.
    if (key === 'tool_result' || typeof node !== 'object' || node === null) return node
    return (node as Readonly<Record<string, unknown>>)[key]
  }, body)
}

/** The time for which a server may send events of which nothing is said, such as pings and thoughts. */
const PINGS_MS = 1_800_000
/** The time for which an answer that has its reason waits for its tokens and the end of its stream. */
const CLOSING_MS = 5_000

/**
 * Aborts once nothing came for the whole time while it ran, or nothing that is said for half an hour. A stalled stream
 * is not a timeout to any client library, so it is watched here.
 */
class Patience {
  readonly #clock: Clock
  readonly #idleMs: number
  readonly #over = new AbortController()
  #closing = false
  #cancelIdle: () => void
  #cancelPings: () => void

  constructor(clock: Clock, idleMs: number) {
    this.#clock = clock
    this.#idleMs = idleMs
    this.#cancelIdle = this.#after(idleMs)
    this.#cancelPings = this.#after(PINGS_MS)
  }

  get signal(): AbortSignal {
    return this.#over.signal
  }

  /** Stops the time: the other side is not to blame while we work. Behind a reason it runs on. */
  pause(): void {
    if (!this.#closing) this.#cancelIdle()
  }

  /** Starts the time again. `said`: the event had a part of the answer. `whole`: the answer has its reason. */
  resume({ said, whole }: { readonly said: boolean; readonly whole: boolean }): void {
    if (said) {
      this.#cancelPings()
      this.#cancelPings = this.#after(PINGS_MS)
    }
    if (this.#closing) return
    this.#closing = whole
    this.#cancelIdle = this.#after(whole ? Math.min(this.#idleMs, CLOSING_MS) : this.#idleMs)
  }

  end(): void {
    this.#cancelIdle()
    this.#cancelPings()
  }

  #after(ms: number): () => void {
    return this.#clock.after(ms, () => this.#over.abort(ms))
  }
}
