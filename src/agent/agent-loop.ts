import { textContent } from '../core/content.ts'
import { inWords } from '../core/content-words.ts'
import { type ErrorCode, errorCode, ParleyError } from '../core/errors.ts'
import type { ToolResultData } from '../core/event.ts'
import { silentLogger } from '../core/logger.ts'
import { type ModelMessage, type ModelToolCall, NO_USAGE, type StopReason } from '../core/model.ts'
import { isStorable } from '../core/opaque.ts'
import { stripSilence } from '../core/silence.ts'
import {
  type AgentSteps,
  DEFAULT_TOOL_RESULTS,
  type JournalDraft,
  type OpenStep,
  type ReadContext,
  type RunAgent,
  type Tool,
  type ToolContext,
  type TurnResult,
} from '../core/turn.ts'
import { cutRefusal, cutsInARow, loopWarning, MOST_CUTS, watchLoop } from './doom-loop.ts'
import { gateCalls } from './gate-calls.ts'
import type { ModelAnswer } from './models/ask-model.ts'
import { withOwnIds } from './models/call-ids.ts'
import { createPictureRecord } from './models/pictures.ts'
import { ask, equip, longestAnswer } from './next-step.ts'
import { type CallPlan, planCalls } from './plan-calls.ts'
import { runTools } from './run-tools.ts'
import { begun, type Progress, type RunAgentServices, type RunningAgent, type Settings, take } from './turn-progress.ts'

/** Model calls of one turn, where the agent sets no other number (R14). */
const MAX_STEPS = 10
/** Tools that are named while they run. */
const MOST_NAMED = 3

type Steps = AgentSteps<void>

/**
 * The agent loop: ask the model, journal its step, run its tools, ask again, until it answers without tools. See
 * `RunAgent` for the contract. An answer cut at its limit is delivered as it is and is no error. Calls in it may be
 * torn: none is run, the model reads why and may continue in smaller steps, three times in a row at most. An empty
 * answer without a silence marker fails as `model_empty`, one that was cut before anything was said as `model_cut`.
 */
export function createRunAgent(services: RunAgentServices): RunAgent {
  const settings: Settings = {
    called() {},
    rests: () => false,
    results: DEFAULT_TOOL_RESULTS,
    redact: (text) => text,
    logger: silentLogger,
    pictures: createPictureRecord(),
    ...services,
  }
  return (request, signal) => runLoop({ settings, request, signal, progress: begun(request) })
}

async function* runLoop(run: RunningAgent): ReturnType<RunAgent> {
  const { request, signal, progress } = run
  try {
    const equipment = await equip(run)
    if (request.open) yield* settle(run, equipment.tools, request.open.calls, request.open)
    else if (request.given) yield* act(run, equipment.tools, givenStep(request.given, request.agent.model))
    for (;;) {
      signal.throwIfAborted()
      const limit = limitOf(run)
      if (limit !== undefined) return stoppedBy(limit, progress)
      const asked = await ask(run, equipment)
      const answer = bounded({ ...asked, calls: withOwnIds(asked.calls, progress.messages) })
      take(answer, progress)
      signal.throwIfAborted()
      if (answer.calls.length === 0 || answer.stop === 'refused') return conclude(answer, progress)
      yield* act(run, equipment.tools, answer)
    }
  } catch (cause) {
    const { usage, steps } = progress
    return signal.aborted ? { kind: 'aborted', usage, steps } : failed(errorCode(cause), cause, progress)
  }
}

interface Limit {
  /** Says in words for the chat why the turn may not continue. */
  readonly reason: string
  readonly error: ErrorCode
}

/** Returns the limit that the turn has reached, if it has. */
function limitOf({ request, progress }: RunningAgent): Limit | undefined {
  if (!progress.talk && watchLoop(progress.messages) === 'stop')
    return { reason: 'I stopped here because I kept repeating the same step.', error: 'turn_limit' }
  if (!progress.talk && cutsInARow(progress.messages) >= MOST_CUTS) {
    const reason = `I stopped here because my steps are longer than the ${longestAnswer(request.agent)} tokens that I may write at once (answerTokens).`
    return { reason, error: 'model_cut' }
  }
  return progress.steps >= (request.agent.maxSteps ?? MAX_STEPS)
    ? { reason: `I stopped here after ${progress.steps} steps.`, error: 'turn_limit' }
    : undefined
}

/** Returns an answer without opaque fields that cannot be stored: a turn is the same whether it was resumed or not. */
function bounded({ opaque, ...answer }: ModelAnswer): ModelAnswer {
  return opaque !== undefined && isStorable(opaque) ? { ...answer, opaque } : answer
}

/** Journals an answer that asks for tools and gives it their results. */
async function* act(run: RunningAgent, tools: readonly Tool[], answer: ModelAnswer): Steps {
  const { text, calls, opaque } = answer
  const step: ModelMessage = { role: 'assistant', text, calls, ...(opaque === undefined ? {} : { opaque }) }
  run.progress.messages = [...run.progress.messages, step]
  yield journalStep(answer)
  yield* settle(run, tools, calls, { cut: answer.stop === 'length' })
}

/** The step of calls that the model has asked for in an earlier turn. */
function givenStep(calls: readonly ModelToolCall[], model: string): ModelAnswer {
  return { text: '', calls, model, usage: NO_USAGE, stop: 'tools' }
}

/** Gives every call of a step its result, then adds what people said meanwhile. */
async function* settle(
  run: RunningAgent,
  tools: readonly Tool[],
  calls: readonly ModelToolCall[],
  before: { readonly cut: boolean } | OpenStep,
): Steps {
  const { settings, request, signal, progress } = run
  progress.talk = false
  const refusal = refusalOf(run, before.cut === true)
  const context = contextOf(run)
  const open = 'results' in before ? before : undefined
  const planned = planCalls(calls, { tools, open, refusal })
  const plans = yield* gateCalls(planned, { context, gate: request.gate })
  request.working?.(doingOf(plans))
  const { clock, redact, results: limits } = settings
  const results = yield* runTools(plans, { clock, redact, longest: limits.maxCharacters, context })
  notifyDenied(run, results)
  const inOrder = calls.flatMap(({ id }) => results.filter((result) => result.callId === id).slice(0, 1))
  progress.messages = [
    ...progress.messages,
    { role: 'tool', results: inOrder.map(({ callId, content, isError }) => ({ id: callId, content, isError })) },
  ]
  if (limitOf(run) !== undefined || signal.aborted) return
  const last = calls.at(-1)
  const warnings = last && watchLoop(progress.messages) === 'warn' ? [textContent(loopWarning(last.name))] : []
  const said = [...warnings, ...(await request.steer())]
  progress.messages = [...progress.messages, ...said.map((content): ModelMessage => ({ role: 'user', content }))]
}

/** Returns why no call of a step is made, in words for the model. */
function refusalOf(run: RunningAgent, cut: boolean): string | undefined {
  if (limitOf(run) !== undefined) return 'the turn has reached its limit'
  return cut ? cutRefusal(longestAnswer(run.request.agent)) : undefined
}

/** Returns what the tools that are about to run do, each once, in words for people; empty where none runs. */
function doingOf(plans: readonly CallPlan[]): string {
  const words = plans.flatMap((plan) =>
    plan.kind === 'run' ? [plan.tool.doing ?? `using ${plan.tool.spec.name}`] : [],
  )
  return [...new Set(words)].slice(0, MOST_NAMED).join(', ')
}

/** A denial is an ordinary result to the model; the operator finds it in the log and by `why`. */
function notifyDenied(
  { settings: { logger }, request: { traceId, sessionId } }: RunningAgent,
  results: readonly ToolResultData[],
) {
  for (const { tool, content, denied } of results)
    if (denied) logger.info('A tool call was denied', { traceId, sessionId, tool, reason: inWords(content) })
}

function contextOf({ settings, request, signal }: RunningAgent): Omit<ToolContext, 'callId'> {
  const { turnId, sessionId, agent } = request
  const keep: ToolContext['keep'] = (bytes, name) => settings.media.keep(bytes, name, signal)
  return { turnId, sessionId, agentId: agent.id, signal, now: () => settings.clock.now(), keep }
}

function journalStep({ text, calls, stop, model, usage, opaque }: ModelAnswer): JournalDraft {
  const asked = calls.map(({ id, name, args }) => ({ callId: id, tool: name, args }))
  const cut = stop === 'length' ? ({ cut: true } as const) : {}
  return { type: 'assistant_step', data: { text, model, usage, calls: asked, ...cut, ...(opaque && { opaque }) } }
}

function conclude({ text, stop, model }: ModelAnswer, progress: Progress): TurnResult {
  const { usage, steps } = progress
  const refused = stop === 'refused'
  const cut = stop === 'length' ? ({ cut: true } as const) : {}
  if (!refused && text.trim() !== '')
    return { kind: 'final', text, model, usage, steps, ...cut, context: contextRead(progress) }
  const [code, words] = UNSAID[stop]
  return failed(code, new ParleyError(code, `${model} ${words}.`), progress)
}

function failed(code: ErrorCode, cause: unknown, { asked, usage, steps }: Progress): TurnResult {
  const model = code.startsWith('model_') ? { model: asked } : {}
  return { kind: 'failed', code, cause, ...model, usage, steps }
}

/** The failure of an answer in which nothing is said, by the reason why it ended. */
const UNSAID: Readonly<Record<StopReason, readonly [ErrorCode, string]>> = {
  refused: ['model_refused', 'declined to answer'],
  length: ['model_cut', 'used all tokens of its answer (answerTokens), perhaps for thoughts, and said nothing'],
  end: ['model_empty', 'answered with nothing at all'],
  tools: ['model_empty', 'answered with nothing at all'],
}

/** Leaves an answer that says so (R14, R17); what the model said along with its last calls comes first. */
function stoppedBy({ reason, error }: Limit, progress: Progress): TurnResult {
  const { messages, model, usage, steps } = progress
  const said = stripSilence(lastSaid(messages)).text.trim()
  const answer = said === '' ? reason : `${said}\n\n${reason}`
  return { kind: 'final', text: answer, model, usage, steps, error, context: contextRead(progress) }
}

function contextRead({ read, shortened, window }: Progress): ReadContext {
  return { read, shortened, ...(window === undefined ? {} : { window }) }
}

/** Returns the text of the newest step of the turn, also where a crash lies between it and its end. */
function lastSaid(messages: readonly ModelMessage[]): string {
  const step = messages.findLast((message) => message.role === 'assistant')
  return step?.role === 'assistant' && step.calls.length > 0 ? step.text : ''
}
