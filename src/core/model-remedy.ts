import { OWN_CHANNELS } from './channel-traits.ts'
import type { ErrorCode } from './errors.ts'
import type { ChannelId } from './ids.ts'
import { NO_MODEL } from './model.ts'
import { MODEL_NEEDED, SCRIPTED, splitModel, variableOf } from './model-server.ts'

/** The settings of the server of a model, as a remedy names them. */
interface ServerSettings {
  readonly server: string
  readonly apiKey: string
  readonly baseUrl: string
}

const ANEW = 'the next message is tried anew.'
const RESTART = 'start the daemon again.'
const WAIT = `Wait a few minutes; ${ANEW}`

type Remedy = string | ((settings: ServerSettings) => string)

const REMEDIES: Readonly<Partial<Record<ErrorCode, Remedy>>> = {
  model_auth: ({ apiKey }) => `Set a valid key in ${apiKey} and ${RESTART}`,
  model_unconfigured: ({ server }) =>
    `Choose another model with \`/model\`, or provide this one at its server; after a change of the agent or of ${server} ${RESTART}`,
  model_no_credit: `Pay for more, or raise the limit at the provider; ${ANEW}`,
  model_overloaded: WAIT,
  model_stalled: WAIT,
  model_refused: 'Ask in other words.',
  model_empty: 'Ask again.',
  model_bad_call: 'Ask again, perhaps in smaller steps; if it goes on, choose a model that is better with tools.',
  model_cut: 'Raise answerTokens of the agent or let it think less (`/think low`), or ask for less at a time.',
  model_context_length: 'Start a fresh conversation with `/new`.',
  model_failed: ({ baseUrl }) => `Check the network of this machine and ${baseUrl}; ${ANEW}`,
  agent_gone: `Put the agent back under agents and ${RESTART} Or start a fresh conversation with \`/new\`.`,
  turn_limit: 'Start a fresh conversation with `/new`, or raise session.turnCap.',
  budget_spent: 'Wait until the budget begins anew (`/budget` says when), or raise it under budgets.',
  quarantined: 'Send the message again in other words; the log has the cause.',
}

/** The remedies for sessions of clients, where commands are words. */
const FOR_CLIENTS: Readonly<Partial<Record<ErrorCode, (channel: ChannelId) => string>>> = {
  model_context_length: () => 'Begin a new chat there, or a session of another name.',
  agent_gone: () =>
    `Put the agent back under agents and ${RESTART} Or begin a new chat there, or a session of another name.`,
  turn_limit: (channel) => `Begin a new chat there, or a session of another name, or raise session.turnCap.${channel}.`,
}

/** The rest of a remedy behind words that name the setting themselves. */
const AFTER: Readonly<Partial<Record<ErrorCode, string>>> = {
  model_unconfigured: `Or choose another model with \`/model\`. After a change of the configuration ${RESTART}`,
  model_failed: 'The next message is tried anew.',
}

const IN_LOG = 'Look for the cause in the log, under the trace id.'

/**
 * Returns what somebody can do about a turn that failed with `code`, in one sentence. `model` is the one that
 * failed, as it is configured; `said` are the words of its failure that stand before this: no setting in them is
 * named again. `otherwise` is for a failure that no setting mends.
 */
export function modelRemedy(code: ErrorCode, model?: string, said = '', otherwise = IN_LOG): string {
  if (model === NO_MODEL) return `For the agent to have a model, ${MODEL_NEEDED}; then ${RESTART}`
  const name = model === undefined ? undefined : splitModel(model)[0]
  const server = name === undefined || name === SCRIPTED ? undefined : name
  if (server !== undefined && said.includes(`models.${server}.`)) {
    const rest = AFTER[code]
    if (rest !== undefined) return rest
  }
  const remedy = REMEDIES[code] ?? otherwise
  return typeof remedy === 'string' ? remedy : remedy(settingsOf(server))
}

/** Returns what somebody can do about a turn that failed with `code`, which was asked for at `channel`. */
export function turnRemedy(
  code: ErrorCode,
  { model, channel }: { model?: string | undefined; channel?: ChannelId | undefined },
): string {
  const client = channel !== undefined && OWN_CHANNELS.includes(channel) ? FOR_CLIENTS[code]?.(channel) : undefined
  return client ?? modelRemedy(code, model)
}

function settingsOf(name: string | undefined): ServerSettings {
  if (name === undefined)
    return { server: 'its server', apiKey: 'apiKey of its server', baseUrl: 'baseUrl of its server' }
  const server = `models.${name}`
  const variable = variableOf(name)
  return {
    server,
    apiKey: `${server}.apiKey${variable === undefined ? '' : ` (or ${variable})`}`,
    baseUrl: `${server}.baseUrl`,
  }
}

const CAUSES: Readonly<Partial<Record<ErrorCode, string>>> = {
  model_auth: 'the model provider refused the key',
  model_no_credit: 'the account at the model provider has no credit left',
  model_unconfigured: 'the agent has no model that can be called',
  model_overloaded: 'the model is overloaded',
  model_stalled: 'the model stopped answering',
  model_refused: 'the model refused to answer this',
  model_empty: 'the model returned an empty answer',
  model_cut: 'the model reached the longest answer it may give before it was done',
  model_context_length: 'the conversation is too long for the model',
  model_invalid_request: 'the model provider rejected the request',
  model_bad_call: 'the model wrote a tool call that its server could not read',
  model_failed: 'the call of the model failed',
  agent_gone: 'the agent of the conversation is not in the configuration',
  turn_limit: 'the conversation has had all its turns',
  budget_spent: 'a budget is used up',
  quarantined: 'the message made the turn crash several times',
}

/** Returns why a turn failed with `code`, as a clause. */
export function failureCause(code: ErrorCode): string {
  return CAUSES[code] ?? 'something unexpected failed'
}
