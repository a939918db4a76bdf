import {
  bad,
  type Details,
  type DialectName,
  extraForbidden,
  fromUpstream,
  jinja,
  litellm,
  type RefusalKind,
  type Refused,
  template,
} from './refused.ts'

type Words = Readonly<Record<RefusalKind, (details: Details) => Refused>>

const later = ({ afterSeconds }: Details) => ({ headers: { 'retry-after': String(afterSeconds) } })
const camelCase = (field: string): string => field.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** The words of OpenAI, which are those of every server of which no other are known. */
export const OPENAI_WORDS: Words = {
  noKey: ({ value }) =>
    value === ''
      ? bad(
          "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
          { status: 401 },
        )
      : bad(
          `Incorrect API key provided: ${masked(String(value))}. You can find your API key at https://platform.openai.com/account/api-keys.`,
          { status: 401, code: 'invalid_api_key' },
        ),
  noCredit: () =>
    bad('You exceeded your current quota, please check your plan and billing details.', {
      ...{ status: 429, type: 'insufficient_quota', code: 'insufficient_quota' },
    }),
  rateLimit: (details) =>
    bad(
      `Rate limit reached for the model on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in ${details.afterSeconds}s.`,
      { status: 429, type: 'requests', code: 'rate_limit_exceeded', ...later(details) },
    ),
  overloaded: () =>
    bad('That model is currently overloaded with other requests.', { status: 503, type: 'server_error' }),
  toolUseFailed: () => bad('The model produced an invalid tool call.', { status: 500, type: 'server_error' }),
  tools: ({ model }) => bad(`Tools are not supported with ${model}.`, { param: 'tools' }),
  pictures: ({ message }) =>
    bad('Invalid content type. image_url is only supported by certain models.', {
      param: `messages.[${message}].content.[1].type`,
    }),
  system: () =>
    bad("Unsupported value: 'messages[0].role' does not support 'system' with this model.", {
      ...{ param: 'messages[0].role', code: 'unsupported_value' },
    }),
  field: ({ field }) => bad(`Unrecognized request argument supplied: ${field}`),
  tooLong: ({ tokens, window }) =>
    bad(
      `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
      { param: 'messages', code: 'context_length_exceeded' },
    ),
  answerTooLong: ({ most, answer, field }) =>
    bad(
      `${field} is too large: ${answer}. This model supports at most ${most} completion tokens, whereas you provided ${answer}.`,
      { param: field, code: 'invalid_value' },
    ),
}

function masked(key: string): string {
  return key.length < 12 ? key : `${key.slice(0, 8)}${'*'.repeat(key.length - 12)}${key.slice(-4)}`
}

const inCompletion = ({ tokens, answer, window }: Pick<Details, 'tokens' | 'answer' | 'window'>) =>
  `This model's maximum context length is ${window} tokens. However, you requested ${tokens + answer} tokens (${tokens} in the messages, ${answer} in the completion). Please reduce the length of the messages or completion.`

const routed = (sentence: string) => bad(sentence, { status: 404 })
const ROUTING =
  'To learn more about provider routing, visit: https://openrouter.ai/docs/guides/routing/provider-selection'
const UPGRADE = 'Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing'

/** The words of each server where they differ from OpenAI's. */
export const WORDS: Readonly<Record<DialectName, Partial<Words>>> = {
  openai: {},
  deepseek: {
    noCredit: () => bad('Insufficient Balance', { status: 402, type: 'unknown_error' }),
    noKey: () => bad('Authentication Fails (no such user)', { status: 401, type: 'authentication_error' }),
    pictures: ({ message }) =>
      bad(
        `Failed to deserialize the JSON body into the target type: messages[${message}]: unknown variant \`image_url\`, expected \`text\` at line 1 column 460917`,
      ),
    tooLong: (details) => bad(inCompletion(details)),
    answerTooLong: ({ most }) => bad(`Invalid max_tokens value, the valid range of max_tokens is [1, ${most}]`),
  },
  kimi: {
    noCredit: () =>
      bad(
        'Your account org-446a <ak-446a> is suspended due to insufficient balance, please recharge your account or check your plan and billing details',
        { status: 429, type: 'exceeded_current_quota_error' },
      ),
    overloaded: () =>
      bad('The engine is currently overloaded, please try again later', {
        ...{ status: 429, type: 'engine_overloaded_error' },
      }),
    tooLong: ({ tokens, window }) => bad(`Your request exceeded model token limit: ${window} (requested: ${tokens})`),
  },
  gemini: {
    noKey: () => bad('API key not valid. Please pass a valid API key.'),
    noCredit: () => bad('Resource has been exhausted (e.g. check quota).', { status: 429, type: 'RESOURCE_EXHAUSTED' }),
    rateLimit: () =>
      bad('Resource has been exhausted (e.g. check quota).', { status: 429, type: 'RESOURCE_EXHAUSTED' }),
    overloaded: () => bad('The model is overloaded. Please try again later.', { status: 503, type: 'UNAVAILABLE' }),
    system: ({ model }) => bad(`Developer instruction is not enabled for models/${model}`),
    tools: ({ model }) => bad(`Function calling is not enabled for models/${model}`),
    field: ({ field }) => bad(`Invalid JSON payload received. Unknown name "${field}": Cannot find field.`),
    tooLong: ({ tokens, window }) =>
      bad(`The input token count (${tokens}) exceeds the maximum number of tokens allowed (${window})`),
  },
  mistral: {
    noKey: () => bad('Unauthorized', { status: 401, type: 'invalid_request_unauthorized' }),
    rateLimit: () => bad('Rate limit exceeded', { status: 429, type: 'rate_limited', code: '1300' }),
    field: ({ field, value }) => extraForbidden([{ loc: [field], input: value }]),
    tooLong: ({ tokens, window }) =>
      bad(
        `Prompt contains ${tokens} tokens and 0 draft tokens, too large for model with ${window} maximum context length`,
      ),
  },
  groq: {
    rateLimit: (details) =>
      bad(
        `Rate limit reached for model \`${details.model}\` in organization \`org_01\` service tier \`on_demand\` on tokens per minute (TPM): Limit 6000, Used 5034, Requested 1443. Please try again in ${details.afterSeconds}s. ${UPGRADE}`,
        {
          ...{ status: 429, type: 'tokens', code: 'rate_limit_exceeded' },
          headers: { ...later(details).headers, 'x-ratelimit-reset-tokens': `${details.afterSeconds}s` },
        },
      ),
    toolUseFailed: () =>
      bad("Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.", {
        code: 'tool_use_failed',
        beside: { failed_generation: '<function=brave_search>{"query": "Hello!"}</function>' },
      }),
    pictures: ({ message }) => bad(`messages[${message}].content must be a string`),
    field: ({ field }) =>
      bad(
        field === 'reasoning_effort'
          ? `\`${field}\` is not supported with this model`
          : `property '${field}' is unsupported`,
      ),
    tooLong: () => bad('Please reduce the length of the messages or completion.', { code: 'context_length_exceeded' }),
    answerTooLong: ({ most, field }) =>
      bad(
        `\`${field}\` must be less than or equal to \`${most}\`, the maximum value for \`${field}\` is less than the \`context_window\` for this model`,
        { param: field },
      ),
  },
  xai: {
    noKey: () => bad('Incorrect API key provided: re***ey. You can obtain an API key from https://console.x.ai.'),
    noCredit: () =>
      bad(
        'Your team 16f2 has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit.',
        { status: 403, code: 'permission-denied' },
      ),
    field: ({ field, model }) => bad(`Model ${model} does not support parameter ${camelCase(field)}.`),
    tooLong: ({ tokens, window }) =>
      bad(`This model's maximum prompt length is ${window} but the request contains ${tokens} tokens.`),
  },
  azure: {
    noKey: () =>
      bad(
        'Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.',
        { status: 401, code: '401' },
      ),
    rateLimit: (details) =>
      bad(
        `Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-08-01-preview have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after ${details.afterSeconds} seconds. Please go here: https://aka.ms/oai/quotaincrease if you would like to further increase the default rate limit.`,
        { status: 429, code: '429', ...later(details) },
      ),
  },
  ollama: {
    overloaded: () =>
      bad('server busy, please try again.  maximum pending requests exceeded', { status: 503, type: 'api_error' }),
    tools: ({ model }) => bad(`registry.ollama.ai/library/${model} does not support tools`),
    field: ({ model }) => bad(`"${model}" does not support thinking`),
    tooLong: ({ tokens, window }) => bad(`prompt too long; exceeded max context length by ${tokens - window} tokens`),
  },
  'lm-studio': {
    pictures: () => bad('Model does not support images. Please use a model that does.'),
    system: () => bad(template('System role not supported')),
    tooLong: ({ tokens, window }) =>
      bad(`Cannot truncate prompt with n_keep (${tokens}) >= n_ctx (${window})`, { inStream: true }),
  },
  vllm: {
    system: () => bad('System role not supported'),
    tools: () => bad('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    field: ({ field, value }) =>
      bad(
        `[{'type': 'extra_forbidden', 'loc': ('body', '${field}'), 'msg': 'Extra inputs are not permitted', 'input': ${value}}]`,
      ),
    tooLong: (details) => bad(inCompletion(details)),
    answerTooLong: ({ tokens, answer, most }) => bad(inCompletion({ tokens, answer, window: most })),
  },
  'llama-cpp': {
    pictures: () =>
      bad('image input is not supported - hint: if this is unexpected, you may need to provide the mmproj', {
        status: 500,
      }),
    system: () => bad(jinja('System role not supported'), { status: 500 }),
    tooLong: ({ tokens, window }) =>
      bad('the request exceeds the available context size, try increasing it', {
        ...{ type: 'exceed_context_size_error', beside: { n_prompt_tokens: tokens, n_ctx: window } },
      }),
  },
  openrouter: {
    noKey: () => bad('No auth credentials found', { status: 401 }),
    noCredit: ({ answer, most }) =>
      bad(
        `This request requires more credits, or fewer max_tokens. You requested up to ${answer} tokens, but can only afford ${most}. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account`,
        { status: 402 },
      ),
    rateLimit: (details) => ({
      ...bad('Provider returned error', { status: 429, ...later(details) }),
      beside: { metadata: { raw: `${details.model} is temporarily rate-limited upstream.`, provider_name: 'Chutes' } },
    }),
    overloaded: () =>
      bad('Provider returned error', {
        status: 502,
        beside: { metadata: { raw: 'overloaded', provider_name: 'Chutes' } },
      }),
    tools: () => routed(`No endpoints found that support tool use. ${ROUTING}`),
    pictures: () => routed('No endpoints found that support image input'),
    system: ({ model }) => {
      const message = `Developer instruction is not enabled for models/${model}`
      return fromUpstream(
        JSON.stringify({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
        'Google AI Studio',
      )
    },
    tooLong: ({ tokens, window }) =>
      bad(
        `This endpoint's maximum context length is ${window} tokens. However, you requested about ${tokens} tokens (${tokens} of text input). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.`,
      ),
  },
  litellm: {
    noKey: () => bad('Authentication Error, Invalid proxy server token passed.', { status: 401, type: 'auth_error' }),
    rateLimit: ({ afterSeconds, model }) =>
      bad(
        `No deployments available for selected model, Try again in ${afterSeconds} seconds. Passed model=${model}. pre-call-checks=False, allowed_model_region=n/a, cooldown_list=[]`,
        { status: 429 },
      ),
    field: ({ field, model }) =>
      bad(
        `litellm.UnsupportedParamsError: openai does not support parameters: ['${field}'], for model=${model}. To drop these, set \`litellm.drop_params=True\` or for proxy:`,
      ),
    system: () =>
      litellm(
        "{'object': 'error', 'message': 'System role not supported', 'type': 'BadRequestError', 'param': None, 'code': 400}",
      ),
    tooLong: ({ tokens, window }) =>
      bad(
        `litellm.ContextWindowExceededError: litellm.BadRequestError: AnthropicException - {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: ${tokens} tokens > ${window} maximum"}}`,
      ),
  },
}
