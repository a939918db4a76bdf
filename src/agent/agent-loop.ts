import type { Clock } from '../core/clock.ts'
import { textContent } from '../core/content.ts'
import { inWords } from '../core/content-words.ts'
import { errorCode, ParleyError } from '../core/errors.ts'
import type { ToolResultData } from '../core/event.ts'
import { type Logger, silentLogger } from '../core/logger.ts'
import type { MediaStore } from '../core/media.ts'
import {
  addUsage,
  type Model,
  type ModelMessage,
  type ModelRequest,
  type ModelToolCall,
  type Usage,
} from '../core/model.ts'
import { stripSilence } from '../core/silence.ts'
import type { JournalDraft, OpenStep, RunAgent, Tool, ToolContext, TurnRequest, TurnResult } from '../core/turn.ts'
import { askModel, type ModelAnswer } from './ask-model.ts'
import { loopWarning, watchLoop } from './doom-loop.ts'
import { createModelChain, type ModelChain } from './model-chain.ts'
import { isTalk, pairCalls } from './pair-calls.ts'
import { planCalls } from './plan-calls.ts'
import { buildPrompt } from './prompt.ts'
import { runTools } from './run-tools.ts'
import { showsImages, withoutImages } from './without-images.ts'

export interface RunAgentServices {
  /** May reject with `model_unconfigured`. */
  readonly models: (id: string) => Promise<Model>
  /** Throws `config` for an unknown group. */
  readonly tools: (groups: readonly string[]) => readonly Tool[]
  /** Keeps the files that tools return. */
  readonly media: Pick<MediaStore, 'keep'>
  readonly clock: Clock
  /** IANA zone of the times the model is given. */
  readonly timeZone: string
  /** Called after each call of a model by its name, with the failure if there was one. */
  readonly called?: (model: string, failure?: unknown) => void
  readonly logger?: Logger
}

/** The limits of an agent that sets none (R14). */
const MAX_STEPS = 10
const ANSWER_TOKENS = 4096

type Settings = Required<RunAgentServices>
type Steps = AsyncGenerator<JournalDraft, void, void>

/** The progress of a turn; a failure still reports real numbers. */
interface Progress {
  messages: readonly ModelMessage[]
  /** Nothing but texts so far. */
  talk: boolean
  /** A model has answered or begun to in this run: from now on no other one is asked. */
  begun: boolean
  steps: number
  usage: Usage
  /** The last answer's model and text, for a turn that a limit ends. */
  model: string
  text: string
}

interface Run {
  readonly settings: Settings
  readonly request: TurnRequest
  readonly signal: AbortSignal
  readonly progress: Progress
}

interface Equipment {
  readonly chain: ModelChain
  readonly tools: readonly Tool[]
  readonly system: string
}

/**
 * The agent loop: ask the model, journal its step, run its tools, ask again, until it answers without tools. See
 * `RunAgent` for the contract. An answer cut at `maxTokens` is delivered as it is and is no error; calls in it may be
 * torn and are not run. An empty answer without a silence marker fails as `model_empty`.
 */
export function createRunAgent(services: RunAgentServices): RunAgent {
  const settings: Settings = { called() {}, logger: silentLogger, ...services }
  return (request, signal) => runLoop({ settings, request, signal, progress: begun(request) })
}

async function* runLoop(run: Run): ReturnType<RunAgent> {
  const { request, signal, progress } = run
  try {
    const equipment = equip(run)
    if (request.open) yield* settle(run, equipment.tools, request.open.calls, request.open)
    for (;;) {
      signal.throwIfAborted()
      const reason = limitOf(run)
      if (reason !== undefined) return stoppedBy(reason, progress)
      const answer = await ask(run, equipment)
      take(answer, progress)
      signal.throwIfAborted()
      if (answer.calls.length === 0 || answer.stop === 'length' || answer.stop === 'refused') {
        return conclude(answer, progress)
      }
      yield* act(run, equipment.tools, answer)
    }
  } catch (cause) {
    const { usage, steps } = progress
    return signal.aborted
      ? { kind: 'aborted', usage, steps }
      : { kind: 'failed', code: errorCode(cause), cause, usage, steps }
  }
}

function begun({ messages, spent, agent }: TurnRequest): Progress {
  return {
    messages,
    talk: isTalk(messages),
    begun: false,
    steps: spent.steps,
    usage: spent.usage,
    model: agent.model,
    text: '',
  }
}

function equip({ settings, request }: Run): Equipment {
  const { agent, chatType, joined, scheduled, elsewhere, traceId, sessionId } = request
  const { models, called, logger } = settings
  return {
    chain: createModelChain([...new Set([agent.model, ...(agent.fallback ?? [])])], {
      models,
      called,
      moved: (model, next, err) =>
        logger.warn('A model failed; the next one is asked', { traceId, sessionId, model, next, err }),
    }),
    tools: settings.tools(agent.tools),
    system: buildPrompt({ agent, chatType, joined, scheduled, elsewhere, timeZone: settings.timeZone }),
  }
}

/** Asks for the next step, the models of the agent in their order until one begins to answer. */
function ask(run: Run, equipment: Equipment): Promise<ModelAnswer> {
  return equipment.chain.call(
    (model) => askOne(run, equipment, model),
    () => run.progress.begun,
  )
}

/**
 * Asks one model. A provider that refuses a request with pictures is asked once more without them, for the rest of the
 * turn: one that it cannot read would make every later request of the conversation fail as well.
 */
async function askOne(run: Run, equipment: Equipment, model: Model): Promise<ModelAnswer> {
  const { progress, request, settings, signal } = run
  const asking = {
    signal,
    show(text: string) {
      progress.begun = true
      request.show(text)
    },
  }
  try {
    return await askModel(model, nextRequest(run, equipment, model), asking)
  } catch (err) {
    if (errorCode(err) !== 'model_invalid_request' || !showsImages(progress.messages)) throw err
    const { traceId, sessionId } = request
    settings.logger.warn('The model refused a request with pictures; it is asked without them', {
      traceId,
      sessionId,
      err,
    })
    progress.messages = withoutImages(progress.messages)
    return askModel(model, nextRequest(run, equipment, model), asking)
  }
}

/** Returns why the turn may not continue, in words for the chat; undefined if it may. */
function limitOf({ request, progress }: Run): string | undefined {
  if (!progress.talk && watchLoop(progress.messages) === 'stop')
    return 'I stopped here because I kept repeating the same step.'
  return progress.steps >= (request.agent.maxSteps ?? MAX_STEPS)
    ? `I stopped here after ${progress.steps} steps.`
    : undefined
}

function nextRequest(run: Run, { tools, system }: Equipment, model: Model): ModelRequest {
  const { request, progress } = run
  const { thinking, answerTokens: maxTokens = ANSWER_TOKENS } = request.agent
  const messages = progress.talk ? progress.messages : paired(run, model)
  const asked = { system, messages, tools: tools.map(({ spec }) => spec), maxTokens }
  return thinking === undefined ? asked : { ...asked, thinking }
}

function paired({ settings, request, progress }: Run, model: Model): readonly ModelMessage[] {
  const { messages, repairs } = pairCalls(progress.messages)
  if (repairs > 0) {
    settings.logger.warn('The history had unpaired tool calls and was repaired for the model', {
      traceId: request.traceId,
      sessionId: request.sessionId,
      model: model.id,
      repairs,
    })
  }
  return messages
}

function take(answer: ModelAnswer, progress: Progress): void {
  progress.begun = true
  progress.steps++
  progress.usage = addUsage(progress.usage, answer.usage)
  progress.model = answer.model
  progress.text = answer.text
}

/** Journals an answer that asks for tools and gives it their results. */
async function* act(run: Run, tools: readonly Tool[], answer: ModelAnswer): Steps {
  const { text, calls, reasoning } = answer
  const step: ModelMessage = { role: 'assistant', text, calls, ...(reasoning === undefined ? {} : { reasoning }) }
  run.progress.messages = [...run.progress.messages, step]
  yield journalStep(answer)
  yield* settle(run, tools, calls)
}

/** Gives every call of a step its result, then adds what people said meanwhile. */
async function* settle(run: Run, tools: readonly Tool[], calls: readonly ModelToolCall[], open?: OpenStep): Steps {
  const { settings, request, signal, progress } = run
  progress.talk = false
  const reason = limitOf(run)
  const refusal = reason === undefined ? {} : { refusal: 'the turn has reached its limit' }
  const plans = planCalls(calls, { tools, ...(open ? { open } : {}), ...refusal })
  const results = yield* runTools(plans, { clock: settings.clock, context: contextOf(run) })
  notifyDenied(run, results)
  const inOrder = calls.flatMap(({ id }) => results.filter((result) => result.callId === id).slice(0, 1))
  progress.messages = [
    ...progress.messages,
    { role: 'tool', results: inOrder.map(({ callId, content, isError }) => ({ id: callId, content, isError })) },
  ]
  if (reason !== undefined || signal.aborted) return
  const last = calls.at(-1)
  const warnings = last && watchLoop(progress.messages) === 'warn' ? [textContent(loopWarning(last.name))] : []
  const said = [...warnings, ...(await request.steer())]
  progress.messages = [...progress.messages, ...said.map((content): ModelMessage => ({ role: 'user', content }))]
}

/** A denial is an ordinary result to the model; the operator finds it in the log and by `why`. */
function notifyDenied(
  { settings: { logger }, request: { traceId, sessionId } }: Run,
  results: readonly ToolResultData[],
) {
  for (const { tool, content, denied } of results)
    if (denied) logger.info('A tool call was denied', { traceId, sessionId, tool, reason: inWords(content) })
}

function contextOf({ settings, request, signal }: Run): Omit<ToolContext, 'callId'> {
  const { turnId, sessionId, agent } = request
  return { turnId, sessionId, agentId: agent.id, signal, now: () => settings.clock.now(), keep: settings.media.keep }
}

function journalStep({ text, calls, model, usage }: ModelAnswer): JournalDraft {
  const data = { text, model, usage, calls: calls.map(({ id, name, args }) => ({ callId: id, tool: name, args })) }
  return { type: 'assistant_step', data }
}

function conclude({ text, stop, model }: ModelAnswer, { usage, steps }: Progress): TurnResult {
  const refused = stop === 'refused'
  if (!refused && text.trim() !== '') return { kind: 'final', text, model, usage, steps }
  const code = refused ? 'model_refused' : 'model_empty'
  const cause = new ParleyError(code, `${model} ${refused ? 'declined to answer' : 'answered with nothing at all'}.`)
  return { kind: 'failed', code, cause, usage, steps }
}

/** Leaves an answer that says so (R14, R17); what the model said along with its last calls comes first. */
function stoppedBy(reason: string, { text, model, usage, steps }: Progress): TurnResult {
  const said = stripSilence(text).text.trim()
  const answer = said === '' ? reason : `${said}\n\n${reason}`
  return { kind: 'final', text: answer, model, usage, steps, error: 'turn_limit' }
}
