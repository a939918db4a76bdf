import type { ErrorCode } from './errors.ts'
import { variableOf } from './model-server.ts'

const REMEDIES: Readonly<Partial<Record<ErrorCode, string>>> = {
  model_auth: 'Set a valid key in models.<server>.apiKey (or its variable) and start the daemon again.',
  model_unconfigured: 'Correct the model of the agent or the settings of its server and start the daemon again.',
  model_no_credit: 'Pay for more, or raise the limit at the provider; the next message is tried anew.',
  model_overloaded: 'Wait a few minutes; the next message is tried anew.',
  model_stalled: 'Wait a few minutes; the next message is tried anew.',
  model_refused: 'Ask in other words.',
  model_empty: 'Ask again.',
  model_bad_call: 'Ask again, perhaps in smaller steps; if it goes on, choose a model that is better with tools.',
  model_cut: 'Raise answerTokens of the agent or let it think less (`/think low`), or ask for less at a time.',
  model_context_length: 'Start a fresh conversation with `/new`.',
  model_failed: 'Check the network of this machine and models.<server>.baseUrl; the next message is tried anew.',
  turn_limit: 'Start a fresh conversation with `/new`, or raise session.turnCap.',
  budget_spent: 'Wait until the budget begins anew (`/budget` says when), or raise it under budgets.',
  quarantined: 'Send the message again in other words; the log has the cause.',
}

/**
 * Returns what somebody can do about a turn that failed with `code`, in one sentence; `server` is the name of the
 * model's server, where it is known.
 */
export function modelRemedy(code: ErrorCode, server?: string): string {
  const remedy = REMEDIES[code] ?? 'Look for the cause in the log, under the trace id.'
  if (server === undefined) return remedy
  const variable = variableOf(server)
  return remedy
    .replace('models.<server>', () => `models.${server}`)
    .replace(' (or its variable)', variable === undefined ? '' : ` (or ${variable})`)
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
  turn_limit: 'the conversation has had all its turns',
  budget_spent: 'a budget is used up',
  quarantined: 'the message made the turn crash several times',
}

/** Returns why a turn failed with `code`, as a clause. */
export function failureCause(code: ErrorCode): string {
  return CAUSES[code] ?? 'something unexpected failed'
}
