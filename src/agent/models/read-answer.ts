import { setImmediate as nextTurn } from 'node:timers/promises'
import { cutText } from '../../core/cut-text.ts'
import type { Model, ModelEvent, ModelRequest, ModelToolCall, Opaque, StopReason, ToolSpec } from '../../core/model.ts'
import { type AnswerReader, createAnswerReader, type Ending } from './answer-text.ts'
import { newCallId } from './call-ids.ts'
import { ModelError } from './model-error.ts'
import type { TextCall } from './text-calls.ts'
import { resolveCalls } from './tool-names.ts'
import type { ModelTraits } from './traits.ts'

/**
 * Models whose templates put the opening mark into the prompt, so that their answers begin with a thought. Those of
 * Anthropic and Google never write one into the text.
 */
const UNOPENED =
  /^(?!.*(?:claude|gemini)).*(?:(?:^|[/:_-])r1(?=$|[-:_.@])|qwq|think(?:ing|er)?(?=$|[-:_.@])|olmo-?3.*think|exaone-deep|deepscaler|deepcoder|skywork-or1|minimax-m2)/i

interface Reading {
  readonly model: Model
  readonly traits: ModelTraits
  /** Thoughts of this model came apart from its text. */
  apart: boolean
  /** An answer of it was read, which has shown how it thinks. */
  known: boolean
}

type End = Extract<ModelEvent, { readonly type: 'end' }>

/**
 * Returns a model whose answers are read for what its server should have read: thoughts in the text are never said,
 * calls written as text are calls, and calls have the names of the tools that they mean (`answer-text.ts`,
 * `text-calls.ts`, `tool-names.ts`). Throws `model_empty`, to be tried again, the first time that thoughts have used up
 * the tokens of an answer: what is learnt by it gives the next one more.
 */
export function readAnswer(model: Model, traits: ModelTraits): Model {
  const reading: Reading = { model, traits, apart: false, known: false }
  return { id: model.id, stream: (request, signal) => read(reading, request, signal) }
}

async function* read(
  reading: Reading,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void, void> {
  const answer = startAnswer(reading, request)
  for await (const event of inParts(reading.model.stream(request, signal))) {
    if (event.type === 'end') while (answer.settle(event)) await nextTurn()
    for (const given of answer.take(event)) yield given
  }
}

/** Cuts texts that come at once: everything else has its turn in between. Throws for more than any answer has. */
async function* inParts(events: AsyncIterable<ModelEvent>): AsyncGenerator<ModelEvent, void, void> {
  let size = 0
  for await (const event of events) {
    if (event.type === 'retract') size = 0
    if (event.type !== 'text') {
      yield event
      continue
    }
    size += event.delta.length
    if (size > MOST_TEXT) throw new ModelError('model_failed', TOO_LONG, { advice: { retry: false }, begun: true })
    for (let left = event.delta; left !== ''; ) {
      // Some servers cut between the halves of a character: the next text has the other one.
      const delta = left.length > PART ? cutText(left, PART) : left
      left = left.slice(delta.length)
      yield { ...event, delta }
      if (left !== '') await nextTurn()
    }
  }
}

/** Characters of the text of an answer: what is far too long for a chat is cut where it is said, not here. */
const MOST_TEXT = 16_000_000
const TOO_LONG = 'The server of the model sent more text than any answer has.'
/** Characters that are read at once: of marks alone they take a twentieth of a second. */
const PART = 16_384

interface Answer {
  take(event: ModelEvent): readonly ModelEvent[]
  /** Does a part of the work of the end, before that is taken. Returns false when nothing is left of it. */
  settle(end: End): boolean
}

/**
 * Returns what makes of each event of a model the events that are passed on. Calls come behind the text. The first
 * answer of a model whose ways nobody knows is passed on when it is whole: its beginning may be a thought.
 */
function startAnswer(reading: Reading, request: ModelRequest): Answer {
  const { tools } = request
  const waits = !reading.known && !reading.traits.has('thoughts-apart')
  let reader = startReader(reading, request)
  let called = false
  let waiting: ModelEvent[] = []
  let passed = false
  // A mark has shown where its thoughts are.
  const isClear = (): boolean => !waits || (reader.thought && waiting.length === 0)
  return {
    settle: (end) => reader.settle(endingOf(end)),
    take(event) {
      switch (event.type) {
        case 'text': {
          const said = reader.read(event.delta)
          if (isClear()) {
            passed ||= said.length > 0
            return said
          }
          waiting.push(...said)
          return []
        }
        case 'tool_call':
          called = true
          waiting.push(...resolveCalls(event.call, tools).map((call) => ({ type: 'tool_call', call }) as const))
          return []
        case 'end':
          return textFirst([...waiting, ...endOf(event, { reading, reader, called, tools })], !passed)
        default:
          // Whatever was said before is no part of the answer.
          reader = startReader(reading, request)
          waiting = []
          called = false
          return event.type === 'retract' && !passed ? [] : [event]
      }
    },
  }
}

/** `waited`: nothing was passed on yet, so that there is nothing to take back. */
function textFirst(events: readonly ModelEvent[], waited: boolean): readonly ModelEvent[] {
  const isText = ({ type }: ModelEvent): boolean => type === 'text' || type === 'retract'
  const texts = events.filter(isText)
  const last = texts.findLastIndex(({ type }) => type === 'retract')
  return [...texts.slice(waited ? last + 1 : Math.max(last, 0)), ...events.filter((event) => !isText(event))]
}

function startReader({ model, traits, apart }: Reading, { tools }: ModelRequest): AnswerReader {
  return createAnswerReader(tools, traits.has('thinks-unopened') || (!apart && UNOPENED.test(model.id)))
}

interface Read {
  readonly reading: Reading
  readonly reader: AnswerReader
  /** Calls came apart from the text. */
  readonly called: boolean
  readonly tools: readonly ToolSpec[]
}

function* endOf(event: End, { reading, reader, called, tools }: Read): Generator<ModelEvent> {
  const { stop } = event
  const ending = endingOf(event)
  const { apart } = ending
  reading.apart ||= apart
  const { said, calls: written } = reader.end(ending)
  const calls = tools.length === 0 ? [] : written.flatMap((call) => resolveCalls(withId(call), tools))
  learn(reading, reader, { stop, apart, called: called || calls.length > 0 })
  reading.known ||= stop === 'end' && reader.spoken
  yield* said
  for (const call of calls) yield { type: 'tool_call', call }
  const asks = called || calls.length > 0
  yield asks && stop === 'end' ? { ...event, stop: 'tools' } : event
}

function withId({ name, args }: TextCall): ModelToolCall {
  return { id: newCallId(), name, args }
}

function endingOf({ stop, opaque }: End): Ending {
  return { cut: stop === 'length', apart: hasThoughts(opaque) }
}

function hasThoughts(opaque: Opaque | undefined): boolean {
  return opaque !== undefined && opaque.tokens > 0
}

interface Ended {
  readonly stop: StopReason
  readonly apart: boolean
  readonly called: boolean
}

/** Notes what the answer shows of its model. Throws `model_empty` where that gives another try more room. */
function learn({ model, traits }: Reading, reader: AnswerReader, { stop, apart, called }: Ended): void {
  if (reader.unopened) traits.learn('thinks-unopened')
  const isEmpty = !reader.spoken && !called
  if (stop === 'end' && isEmpty) {
    const message = `${model.id} answered with nothing at all.`
    throw new ModelError('model_empty', message, { advice: { retry: true }, begun: true })
  }
  const usedUp = stop === 'length' && isEmpty
  const thinks = reader.thought || (apart && usedUp)
  if (!thinks || !traits.learn('thinks') || !usedUp) return
  const message = `The tokens of the answer of ${model.id} were used up by its thoughts.`
  throw new ModelError('model_empty', message, { advice: { retry: true }, begun: true })
}
