import type { AgentProfile } from '../core/agent-profile.ts'
import type { Content } from '../core/content.ts'
import { type ErrorCode, errorCode, ParleyError } from '../core/errors.ts'
import { type MediaId, shortHandle } from '../core/ids.ts'
import { absentServers } from '../core/mcp.ts'
import {
  addUsage,
  hadBegun,
  type Model,
  type ModelMessage,
  type ModelRequest,
  tokensOf,
  tokensRead,
  type Usage,
} from '../core/model.ts'
import { SEND_FILE } from '../core/send-file.ts'
import type { Tool } from '../core/turn.ts'
import { askModel, type ModelAnswer } from './models/ask-model.ts'
import { createModelChain, type ModelChain } from './models/model-chain.ts'
import { ModelError } from './models/model-error.ts'
import { imagesIn, type PictureRecord, withoutImages } from './models/pictures.ts'
import { pairCalls } from './pair-calls.ts'
import { buildPrompt } from './prompt.ts'
import { isMostlyLeftOut, pruneResults, RERUNS, type Rerun, shortenRequest } from './prune-results.ts'
import { skillTools } from './tools/skill.ts'
import type { Progress, RunningAgent } from './turn-progress.ts'

/** Tokens of an answer, where the agent sets none (R14). */
const ANSWER_TOKENS = 4096

/** Returns the tokens that an agent may write in one answer. */
export function longestAnswer({ answerTokens = ANSWER_TOKENS }: Pick<AgentProfile, 'answerTokens'>): number {
  return answerTokens
}

/** Everything that a turn asks its models with, the same in each step. */
interface Equipment {
  readonly chain: ModelChain
  readonly tools: readonly Tool[]
  readonly system: string
}

/** Returns what a turn asks its models with. */
export async function equip({ settings, request, progress }: RunningAgent): Promise<Equipment> {
  const { agent, chatType, joined, context, scheduled, elsewhere, unkept, traceId, sessionId } = request
  const { models, rests, logger } = settings
  const called = [...(request.open?.calls ?? []), ...(request.given ?? [])].map(({ name }) => name)
  const all = [...(await settings.tools(agent.tools, called)), ...skillTools(agent.skills)]
  const tools = unkept ? all.filter(isOnlyRead) : all
  const absent = unkept
    ? []
    : absentServers(
        agent.tools,
        tools.map(({ spec }) => spec),
      )
  const { timeZone } = settings
  const tasks = tools.some(({ spec }) => spec.name === 'task')
  const system = buildPrompt({ agent, chatType, joined, context, scheduled, elsewhere, tasks, absent, timeZone })
  return {
    chain: createModelChain([...new Set([agent.model, ...(agent.fallback ?? [])])], {
      models: (id) => models(id, request.charge),
      called(id, failure) {
        progress.asked = id
        settings.called(id, failure)
      },
      rests,
      moved: (model, next, err) =>
        logger.warn('A model failed; the next one is asked', { traceId, sessionId, model, next, err }),
    }),
    tools,
    system,
  }
}

/** Leaves nothing behind and shows nothing from outside of the conversation, whatever its arguments. */
function isOnlyRead(tool: Tool): boolean {
  return tool.class === 'pure' && tool.reach === 'inside'
}

/** Asks for the next step, the models of the agent in their order until one begins to answer. */
export function ask(run: RunningAgent, equipment: Equipment): Promise<ModelAnswer> {
  return equipment.chain.call(
    (model) => askOne(run, equipment, model),
    () => run.progress.begun,
  )
}

/** A request of the turn to one model, with what was left out of it so far. */
interface Attempt {
  readonly messages: readonly ModelMessage[]
  /** The reruns for its length that were tried, or left out nothing. */
  readonly reruns: number
  /** Pictures that are not shown. */
  readonly without: ReadonlySet<MediaId>
  /** The refusals that named one picture. */
  readonly named: number
  /** The failure for which a part was left out on a guess: it is reported if that was not the reason. */
  readonly failure?: unknown
}

/**
 * Asks one model. A request that it refuses for a part of it is made again without that part, for the rest of the turn.
 * No other model is kept from a picture that this one does not take.
 */
async function askOne(run: RunningAgent, equipment: Equipment, model: Model): Promise<ModelAnswer> {
  const { progress, request, settings, signal } = run
  const { pictures } = settings
  let attempt: Attempt = { messages: progress.messages, reruns: 0, without: new Set(), named: 0 }
  for (;;) {
    let shown = false
    const show = (text: string): void => {
      shown = true
      progress.begun = true
      request.show(text)
    }
    const broken = (usage: Usage, failure: unknown): void => countBroken(run, { model: model.id, usage, failure })
    const { without } = attempt
    const known = pictures.shownTo(model.id, attempt.messages)
    const messages = without.size === 0 ? known : withoutImages(known, (media) => without.has(media))
    try {
      const answer = await askModel(model, nextRequest(run, equipment, model, messages), { signal, show, broken })
      if (hasNoRoom(answer)) throw noRoom(answer, progress)
      pictures.took(model.id, messages, without)
      progress.leftOut += progress.messages.length - attempt.messages.length
      progress.messages = attempt.messages
      progress.shortened ||= attempt.reruns > 0
      return answer
    } catch (err) {
      if (shown || signal.aborted) throw err
      attempt = withLess(run, { attempt, messages, model: model.id }, err)
    }
  }
}

interface BrokenCall {
  readonly model: string
  readonly usage: Usage
  readonly failure: unknown
}

/** Such a call is paid for as well: its turn has cost it. One that was refused has cost nothing. */
function countBroken({ progress, settings, request }: RunningAgent, { model, usage, failure }: BrokenCall): void {
  const tokens = tokensOf(usage)
  if (tokens === 0) return
  progress.usage = addUsage(progress.usage, usage)
  const { traceId, sessionId } = request
  const fields = { traceId, sessionId, model, tokens, code: errorCode(failure) }
  settings.logger.info('A call was ended before its answer', fields)
}

/** The server counts a prompt and no answer: the prompt has left no room for one. */
function hasNoRoom({ stop, text, calls, usage, opaque }: ModelAnswer): boolean {
  const said = text !== '' || calls.length > 0 || opaque !== undefined
  return stop === 'length' && !said && usage.output === 0 && tokensRead(usage) > 0
}

/** Such a call is paid for. */
function noRoom({ model, usage }: ModelAnswer, progress: Progress): ParleyError {
  progress.usage = addUsage(progress.usage, usage)
  return new ParleyError('model_context_length', `The request left ${model} no room for an answer.`)
}

interface Failed {
  readonly attempt: Attempt
  /** The messages that the model was sent. */
  readonly messages: readonly ModelMessage[]
  readonly model: string
}

/**
 * Returns the attempt without what made the model refuse it, if that can be: a picture that it does not take would make
 * every later request of the conversation fail as well; a request that is too long is run again twice (R29). Throws the
 * failure of the turn where nothing can be left out.
 */
function withLess({ request, settings, progress }: RunningAgent, failed: Failed, err: unknown): Attempt {
  const { attempt } = failed
  const less = withoutOffending(settings.pictures, failed, err) ?? shorter({ request, progress }, failed, err)
  if (less === undefined) throw attempt.failure ?? err
  const { traceId, sessionId } = request
  const leftOut = less.reruns === attempt.reruns ? 'pictures' : 'older parts'
  settings.logger.warn('A call of the model failed and is made again with less', { traceId, sessionId, leftOut, err })
  return less
}

function withoutOffending(record: PictureRecord, failed: Failed, err: unknown): Attempt | undefined {
  const { attempt } = failed
  const found = offending(record, failed, err)
  if (found === undefined) return undefined
  const without = new Set([...attempt.without, ...found.media])
  const named = attempt.named + (found.named ?? 0)
  return { ...attempt, without, named, ...(found.isGuess ? { failure: err } : {}) }
}

type Begun = Pick<RunningAgent, 'request' | 'progress'>

function shorter(run: Begun, { attempt, messages }: Failed, err: unknown): Attempt | undefined {
  if (errorCode(err) === 'model_context_length') return rerun(run, attempt, { ways: RERUNS, err })
  if (!GUESSES.includes(errorCode(err))) return undefined
  const next = rerun(run, attempt, { ways: RERUNS.slice(0, 1), err })
  if (next === undefined || !isMostlyLeftOut(messages, next.messages)) return undefined
  return { ...next, failure: attempt.failure ?? err }
}

/** Returns the next of the reruns that leaves out something. */
function rerun(
  { request: { earlier, agent }, progress }: Begun,
  attempt: Attempt,
  { ways, err }: { readonly ways: readonly Rerun[]; readonly err: unknown },
): Attempt | undefined {
  const { messages, leftOut } = progress
  const room = err instanceof ModelError ? roomIn(err.window, agent) : undefined
  const still = { messages: (earlier?.messages ?? 0) - leftOut, summary: earlier?.summary === true }
  for (const [nth, way] of [...ways.entries()].slice(attempt.reruns)) {
    const less = shortenRequest(messages, still, { rerun: way, room, tried: attempt.messages })
    if (less !== undefined) return { ...attempt, messages: less, reruns: nth + 1 }
  }
  return undefined
}

/** Failures that a request may cause by its length: some local servers answer one that is too long with nothing. */
const GUESSES: readonly ErrorCode[] = ['model_invalid_request', 'model_empty']

/** Returns the tokens of a prompt beside which an answer has room. */
function roomIn(window: number | undefined, agent: AgentProfile): number | undefined {
  return window === undefined ? undefined : window - Math.min(longestAnswer(agent), window / 2)
}

interface Offending {
  readonly media: Iterable<MediaId>
  /** Nothing says that a picture is the reason. */
  readonly isGuess?: true
  readonly named?: 1
}

/** A server names only the first of several pictures that it does not take. */
const MOST_NAMED = 3
/** Failures that a picture may cause by making the server itself fail. */
const OF_THE_SERVER: readonly ErrorCode[] = ['model_failed', 'model_overloaded']
/** The server says that it is asked too much, or by whom: no picture is the reason. */
const OF_WHO_ASKS: ReadonlySet<number> = new Set([401, 402, 408, 429, 529])
const PICTURE = /image|picture|vision|multi-?modal|mmproj/i

/** Returns the pictures that may be the reason of a failure. */
function offending(record: PictureRecord, { attempt, messages, model }: Failed, err: unknown): Offending | undefined {
  const shown = imagesIn(messages)
  if (shown.length === 0 || attempt.failure !== undefined || hadBegun(err)) return undefined
  const { picture, refusal } = err instanceof ModelError ? err : {}
  if (refusal !== undefined && OF_WHO_ASKS.has(refusal.status)) return undefined
  if (picture !== undefined && shown.includes(picture) && attempt.named < MOST_NAMED)
    return { media: [picture], named: 1 }
  const code = errorCode(err)
  if (code === 'model_invalid_request' || (refusal !== undefined && PICTURE.test(refusal.words)))
    return { media: record.suspects(model, messages) }
  const fresh = OF_THE_SERVER.includes(code) ? record.fresh(model, messages) : new Set<MediaId>()
  return fresh.size === 0 ? undefined : { media: fresh, isGuess: true }
}

function nextRequest(
  run: RunningAgent,
  { tools, system }: Equipment,
  model: Model,
  messages: readonly ModelMessage[],
): ModelRequest {
  const { request, progress, settings } = run
  const { thinking, contextTokens: window = progress.window } = request.agent
  const { place } = request
  const sends = tools.some(({ spec }) => spec.name === SEND_FILE)
  const whole = progress.talk ? messages : paired(run, model, messages)
  const shown = sends ? withHandles(whole) : whole
  const pruned = progress.talk
    ? shown
    : pruneResults(shown, {
        ...{ window, from: settings.results.pruneFrom },
        besides: tools.reduce((sum, { spec }) => sum + JSON.stringify(spec).length, system.length),
      })
  const asked = {
    system,
    ...(place === undefined ? {} : { place }),
    messages: pruned,
    tools: tools.map(({ spec }) => spec),
    maxTokens: longestAnswer(request.agent),
  }
  return thinking === undefined ? asked : { ...asked, thinking }
}

function paired(
  { settings, request }: RunningAgent,
  model: Model,
  asked: readonly ModelMessage[],
): readonly ModelMessage[] {
  const { messages, repairs } = pairCalls(asked)
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

/** Returns the messages with the handle of each file behind it, by which a tool can send it. */
function withHandles(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  return messages.map((message): ModelMessage => {
    if (message.role === 'user') return { role: 'user', content: named(message.content) }
    if (message.role === 'assistant') return message
    return { role: 'tool', results: message.results.map((one) => ({ ...one, content: named(one.content) })) }
  })
}

function named(content: Content): Content {
  if (content.every(({ type }) => type === 'text')) return content
  return content.flatMap((part) =>
    part.type === 'text' ? [part] : [part, { type: 'text', text: `[its handle: ${shortHandle(part.media)}]` }],
  )
}
