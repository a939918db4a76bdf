import type { AgentProfile } from '../core/agent-profile.ts'
import { errorCode } from '../core/errors.ts'
import type { MediaId } from '../core/ids.ts'
import type { Model, ModelMessage, ModelRequest } from '../core/model.ts'
import { SEND_FILE } from '../core/send-file.ts'
import type { Tool } from '../core/turn.ts'
import { askModel, type ModelAnswer } from './models/ask-model.ts'
import { createModelChain, type ModelChain } from './models/model-chain.ts'
import { showsImages, withoutImages } from './models/without-images.ts'
import { pairCalls } from './pair-calls.ts'
import { buildPrompt } from './prompt.ts'
import { pruneResults } from './prune-results.ts'
import { shortenRequest } from './shorten-request.ts'
import { withHandles } from './show-handles.ts'
import { skillTools } from './tools/skill.ts'
import type { RunningAgent } from './turn-progress.ts'

/** Tokens of an answer, where the agent sets none (R14). */
const ANSWER_TOKENS = 4096

/** Returns the tokens that an agent may write in one answer. */
export function longestAnswer({ answerTokens = ANSWER_TOKENS }: Pick<AgentProfile, 'answerTokens'>): number {
  return answerTokens
}

/** Everything that a turn asks its models with, the same in each step. */
export interface Equipment {
  readonly chain: ModelChain
  readonly tools: readonly Tool[]
  readonly system: string
}

/** Returns what a turn asks its models with. */
export async function equip({ settings, request }: RunningAgent): Promise<Equipment> {
  const { agent, chatType, joined, context, scheduled, elsewhere, unkept, traceId, sessionId } = request
  const { models, called, rests, logger } = settings
  const all = [...(await settings.tools(agent.tools)), ...skillTools(agent.skills)]
  const tools = unkept ? all.filter(isOnlyRead) : all
  const system = buildPrompt({ agent, chatType, joined, context, scheduled, elsewhere, timeZone: settings.timeZone })
  return {
    chain: createModelChain([...new Set([agent.model, ...(agent.fallback ?? [])])], {
      models: (id) => models(id, request.charge),
      called,
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

/**
 * Asks one model. A request that it refuses for what is in it is asked once more without that, for the rest of the
 * turn.
 */
async function askOne(run: RunningAgent, equipment: Equipment, model: Model): Promise<ModelAnswer> {
  const { progress, request, settings, signal } = run
  const asking = {
    signal,
    show(text: string) {
      progress.begun = true
      request.show(text)
    },
  }
  const { pictures } = settings
  const without = new Set<MediaId>()
  progress.messages = pictures.shownTo(model.id, progress.messages)
  for (;;) {
    try {
      const answer = await askModel(model, nextRequest(run, equipment, model), asking)
      pictures.took(model.id, progress.messages, without)
      return answer
    } catch (err) {
      const less = withLess(run, model, err)
      if (less === undefined) throw err
      const { traceId, sessionId } = request
      settings.logger.warn(`The model refused a request; it is asked without ${less.without}`, {
        ...{ traceId, sessionId, err },
      })
      progress.messages = less.messages
      for (const media of less.pictures ?? []) without.add(media)
    }
  }
}

interface Less {
  readonly messages: readonly ModelMessage[]
  /** The name of the missing, for the log. */
  readonly without: string
  readonly pictures?: ReadonlySet<MediaId>
}

/**
 * Returns the messages without what made the model refuse them, if that can be: a picture that it cannot read would
 * make every later request of the conversation fail as well; a request that is too long is shortened once (R29).
 */
function withLess({ progress, request, settings }: RunningAgent, model: Model, refusal: unknown): Less | undefined {
  const code = errorCode(refusal)
  if (code === 'model_invalid_request' && showsImages(progress.messages)) {
    const pictures = settings.pictures.suspects(model.id, progress.messages)
    const messages = withoutImages(progress.messages, (media) => pictures.has(media))
    return { messages, without: 'pictures that it may not read', pictures }
  }
  if (code !== 'model_context_length' || progress.shortened) return undefined
  progress.shortened = true
  const messages = shortenRequest(progress.messages, request.earlier ?? { messages: 0, summary: false })
  return messages && { messages, without: 'its older parts' }
}

function nextRequest(run: RunningAgent, { tools, system }: Equipment, model: Model): ModelRequest {
  const { request, progress, settings } = run
  const { thinking, contextTokens: window } = request.agent
  const sends = tools.some(({ spec }) => spec.name === SEND_FILE)
  const whole = progress.talk ? progress.messages : paired(run, model)
  const shown = sends ? withHandles(whole) : whole
  const messages = progress.talk
    ? shown
    : pruneResults(shown, {
        ...{ window, from: settings.results.pruneFrom },
        besides: tools.reduce((sum, { spec }) => sum + JSON.stringify(spec).length, system.length),
      })
  const asked = { system, messages, tools: tools.map(({ spec }) => spec), maxTokens: longestAnswer(request.agent) }
  return thinking === undefined ? asked : { ...asked, thinking }
}

function paired({ settings, request, progress }: RunningAgent, model: Model): readonly ModelMessage[] {
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
