import type { ModelRequest } from '../../core/model.ts'
import type { ThinkingLevel } from '../../core/session.ts'

/** The part of a request that says how long the answer may be and how much may be thought. */
export interface LimitParams {
  max_tokens?: number
  max_completion_tokens?: number
  reasoning_effort?: Effort
  temperature?: number
}

type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high'

/** Tokens for thoughts; they count towards the answer's limit, which is raised by them. */
const ROOM: Readonly<Record<Effort, number>> = { none: 0, minimal: 2_048, low: 2_048, medium: 8_192, high: 16_384 }

/** OpenAI's models that think, and those of them that can do without; the names may follow that of a vendor. */
const THINKS = /^(.*\/)?(o\d|gpt-[5-9])/
const NEED_NOT_THINK = /^(.*\/)?gpt-(5\.\d|[6-9])/
const BARELY_THINKS = /^(.*\/)?gpt-5/
/** OpenAI's models that cannot think, which refuse an effort. */
const CANNOT = /^(.*\/)?(gpt-[34]|chatgpt-|gpt-\d(\.\d+)?-chat)/

/**
 * OpenAI's models that refuse tools while they think, which they do unless the request says `none`: only its newer API
 * has both (decision 0019). A vendor in front of the name is a gateway that knows its way.
 */
const EITHER_THINKS_OR_CALLS = /^gpt-(5\.([2-9]|\d\d)|[6-9])/

/**
 * Returns the limit of the answer and the effort of a thinking level (T37). OpenAI's own API takes one limit for every
 * model; other servers know the older one, but for the models of OpenAI that refuse it. A model of another vendor is
 * given the level as it is.
 */
export function limitParams(
  { model, isPublic }: { readonly model: string; readonly isPublic: boolean },
  {
    maxTokens,
    tools,
    temperature,
    thinking: wanted,
  }: Pick<ModelRequest, 'maxTokens' | 'thinking' | 'tools' | 'temperature'>,
): LimitParams {
  const thinks = THINKS.test(model)
  const thinking = tools.length > 0 && EITHER_THINKS_OR_CALLS.test(model) ? 'off' : wanted
  const effort = thinking === undefined || CANNOT.test(model) ? undefined : effortOf(model, thinking)
  const most = maxTokens + ROOM[effort ?? (thinks ? 'medium' : 'none')]
  return {
    ...(isPublic || thinks ? { max_completion_tokens: most } : { max_tokens: most }),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    // OpenAI's models that think take no temperature but their own.
    ...(temperature === undefined || thinks ? {} : { temperature }),
  }
}

function effortOf(model: string, thinking: ThinkingLevel): Effort {
  if (thinking !== 'off') return thinking
  if (!THINKS.test(model) || NEED_NOT_THINK.test(model)) return 'none'
  return BARELY_THINKS.test(model) ? 'minimal' : 'low'
}
