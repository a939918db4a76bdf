type Body = string | object
type Headers = Record<string, string>

/** What an answer has to be taken for. */
export interface Meaning {
  readonly code: string
  readonly retry?: boolean
  readonly afterMs?: number
  /** A part of the message. */
  readonly says?: string
}

export type AnswerRow = readonly [name: string, status: number, body: Body, meaning: Meaning, headers?: Headers]

export const LIMITED = { code: 'model_overloaded', retry: true }
const PAGE = '<html><head><title>502</title></head></html>'

/** Answers as public reports have them; each means the same whatever the protocol. */
export const ANSWERS: readonly AnswerRow[] = [
  // What passes.
  ['a limit without an error object', 429, { message: 'Too many requests' }, { ...LIMITED, says: 'Too many requests' }],
  ['a limit of a Nest server', 429, { statusCode: 429, message: 'slow down' }, { ...LIMITED, says: 'slow down' }],
  ['a limit in a list', 429, { errors: ['slow down'] }, { ...LIMITED, says: 'slow down' }],
  ['a limit with its time', 429, { message: 'x' }, { ...LIMITED, afterMs: 7_000 }, { 'retry-after': '7' }],
  ['a limit with its time in ms', 429, { message: 'x' }, { ...LIMITED, afterMs: 70 }, { 'retry-after-ms': '70' }],
  [
    'a limit with its date',
    429,
    { message: 'x' },
    { ...LIMITED, afterMs: 30_000 },
    { 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT', date: 'Wed, 21 Oct 2026 07:28:00 GMT' },
  ],
  [
    'a limit with its time in words',
    429,
    { error: { message: 'Please try again in 4.77s.' } },
    { ...LIMITED, afterMs: 4_770 },
  ],
  ['a limit of a proxy', 429, PAGE, { ...LIMITED, says: 'was answered 429 with HTML' }],
  ['a limit without a word', 429, '', { ...LIMITED, says: 'was answered 429' }],
  [
    "a minute's quota of Gemini",
    429,
    [
      {
        error: {
          code: 429,
          message: 'You exceeded your current quota, please check your plan and billing details.',
          status: 'RESOURCE_EXHAUSTED',
          details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' }],
        },
      },
    ],
    { ...LIMITED, afterMs: 34_000, says: 'exceeded your current quota' },
  ],
  [
    "a minute's quota of Gemini without its time",
    429,
    {
      error: {
        code: 429,
        message: 'You exceeded your current quota, please check your plan and billing details.',
        status: 'RESOURCE_EXHAUSTED',
      },
    },
    LIMITED,
  ],
  [
    'Kimi is overloaded',
    429,
    {
      error: { message: 'The engine is currently overloaded, please try again later', type: 'engine_overloaded_error' },
    },
    LIMITED,
  ],
  ['a limit of Bedrock', 429, { message: 'Too many tokens, please wait before trying again.' }, LIMITED],
  ['capacity of Groq', 498, { error: { message: 'capacity exceeded' } }, LIMITED],
  [
    'Ollama is busy',
    503,
    { error: { message: 'server busy, please try again.  maximum pending requests exceeded' } },
    LIMITED,
  ],
  ['a gateway without its server', 502, PAGE, { ...LIMITED, says: 'was answered 502 with HTML' }],
  ['a gateway that waited', 504, PAGE, { code: 'model_failed', retry: true, says: '504' }],
  [
    'Anthropic is overloaded',
    529,
    { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    LIMITED,
  ],
  ['a timeout', 408, { detail: 'timeout' }, { code: 'model_failed', retry: true }],
  ['too early', 425, '', { code: 'model_failed', retry: true }],
  ['a conflict', 409, { message: 'conflict' }, { code: 'model_failed', retry: true }],
  [
    'a limit that is not to be tried again',
    429,
    { message: 'x' },
    { code: 'model_overloaded', retry: false },
    { 'x-should-retry': 'false' },
  ],
  // Keys and credit.
  [
    'a key, not in the shape',
    401,
    { message: 'Unauthorized' },
    { code: 'model_auth', says: 'Unauthorized. Check models.' },
  ],
  ['a key, by a page', 401, PAGE, { code: 'model_auth', says: 'with HTML. Check models.' }],
  ['a key, without a type', 403, { message: 'forbidden' }, { code: 'model_auth', says: 'apiKey' }],
  [
    'a key of Gemini',
    400,
    [{ error: { code: 400, message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' } }],
    { code: 'model_auth', says: 'apiKey' },
  ],
  [
    'a key of xAI',
    400,
    { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: xa***bc.' },
    { code: 'model_auth', says: 'Incorrect API key' },
  ],
  [
    'no credit, not in the shape',
    402,
    { message: 'Insufficient Balance' },
    { code: 'model_no_credit', says: 'Check the plan and the credit of the key.' },
  ],
  ['no credit, by a page', 402, PAGE, { code: 'model_no_credit', says: 'credit' }],
  [
    'no credit at Anthropic',
    400,
    {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the Anthropic API.' },
    },
    { code: 'model_no_credit', says: 'credit balance' },
  ],
  [
    'no credit at Moonshot',
    429,
    {
      error: { message: 'Your account is suspended due to insufficient balance', type: 'exceeded_current_quota_error' },
    },
    { code: 'model_no_credit' },
  ],
  [
    'no credit at xAI',
    403,
    {
      code: 'permission-denied',
      error: 'Your team has either used all available credits or reached its monthly spending limit.',
    },
    { code: 'model_no_credit' },
  ],
  // What it was asked.
  [
    'a filter of OpenRouter',
    403,
    {
      error: {
        code: 403,
        message: 'Your chosen model requires moderation and your input was flagged',
        metadata: { reasons: ['violence'] },
      },
    },
    { code: 'model_refused' },
  ],
  [
    'a filter of Azure',
    400,
    {
      error: {
        message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        code: 'content_filter',
        status: 400,
      },
    },
    { code: 'model_refused' },
  ],
  ['too long by its size', 413, PAGE, { code: 'model_context_length' }],
  ['too long without a word', 413, '', { code: 'model_context_length' }],
  [
    'too long for xAI',
    400,
    { code: 'x', error: "This model's maximum prompt length is 131072 but the request contains 136973 tokens" },
    { code: 'model_context_length' },
  ],
  [
    'too long for an older llama.cpp',
    500,
    {
      error: { code: 500, message: 'the request exceeds the available context size. try increasing the context size' },
    },
    { code: 'model_context_length' },
  ],
  [
    'too long, by FastAPI',
    422,
    { detail: 'prompt is too long: 9 tokens > 8 maximum' },
    { code: 'model_context_length' },
  ],
  [
    'too long for a minute of OpenAI',
    429,
    {
      error: {
        message:
          'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 342389. The input or output tokens must be reduced in order to run successfully.',
      },
    },
    { code: 'model_context_length' },
  ],
  [
    "the answer's limit, not the conversation",
    400,
    {
      object: 'error',
      message:
        "max_tokens is too large: 4096. This model's maximum context length is 4096 tokens and your request has 26 input tokens",
      code: 400,
    },
    { code: 'model_invalid_request' },
  ],
  [
    'an id that is too long, told as the context by LiteLLM',
    400,
    {
      error: {
        message:
          "litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: OpenAIException - Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 42 instead.\nmodel=gpt-5.2. context_window_fallbacks=None.",
        code: '400',
      },
    },
    { code: 'model_invalid_request', says: 'string too long' },
  ],
  ['a refusal without a word', 400, '', { code: 'model_invalid_request' }],
  [
    'a field by FastAPI',
    422,
    { detail: [{ loc: ['body', 'stream_options'], msg: 'extra fields not permitted' }] },
    { code: 'model_invalid_request', says: 'body.stream_options' },
  ],
  [
    'pictures, told as a failure',
    500,
    {
      error: {
        code: 500,
        message: 'image input is not supported - hint: you may need to provide the mmproj',
        type: 'server_error',
      },
    },
    { code: 'model_invalid_request' },
  ],
  [
    'pictures, told as missing',
    404,
    { error: { message: 'No endpoints found that support image input', code: 404 } },
    { code: 'model_invalid_request' },
  ],
  [
    'ids, told as a failure',
    500,
    { error: { message: 'Tool call id was call_49c89af0 but must be a-z, A-Z, 0-9, with a length of 9' } },
    { code: 'model_invalid_request' },
  ],
  // What the model wrote.
  [
    'a call that Groq could not read',
    400,
    {
      error: {
        message: 'Failed to call a function. Please adjust your prompt.',
        type: 'invalid_request_error',
        code: 'tool_use_failed',
      },
    },
    { code: 'model_bad_call', retry: true },
  ],
  [
    'a call that Ollama could not read',
    500,
    { error: "error parsing tool call: raw='ls', err=invalid character 'l'" },
    { code: 'model_bad_call', retry: true },
  ],
  [
    'a call that vLLM could not read',
    500,
    { object: 'error', message: 'unexpected tokens remaining in message header: Some("to=x")', code: 500 },
    { code: 'model_bad_call', retry: true },
  ],
  // Who answers.
  [
    'an unknown model',
    404,
    { error: { message: "model 'x' not found", type: 'not_found_error' } },
    { code: 'model_unconfigured', says: 'Check the model name of the agent and models.' },
  ],
  [
    'an unknown model, bare',
    404,
    { detail: 'Model x is not loaded' },
    { code: 'model_unconfigured', says: 'Check the model name' },
  ],
  ['an unknown path of FastAPI', 404, { detail: 'Not Found' }, { code: 'model_unconfigured', says: 'which is not' }],
  ['an unknown path of Go', 404, '404 page not found', { code: 'model_unconfigured', says: 'which is not' }],
  [
    'an unknown path of Express',
    404,
    { statusCode: 404, message: 'Cannot POST /chat/completions', error: 'Not Found' },
    { code: 'model_unconfigured', says: 'which is not' },
  ],
  [
    'a path for something else',
    405,
    { detail: 'Method Not Allowed' },
    { code: 'model_unconfigured', says: 'which is not' },
  ],
  ['a page in the place of the API', 404, PAGE, { code: 'model_unconfigured', says: '404 with HTML, which is not' }],
  [
    'a page that calls it a bad request',
    400,
    PAGE,
    { code: 'model_unconfigured', says: '400 with HTML, which is not' },
  ],
  ["a stranger's JSON", 400, { hello: 'there' }, { code: 'model_unconfigured', says: 'JSON of another kind' }],
  ["a stranger's good answer", 200, { hello: 'there' }, { code: 'model_unconfigured', says: 'JSON of another kind' }],
  ['a page as a good answer', 200, PAGE, { code: 'model_unconfigured', says: '200 with HTML' }],
  [
    'LM Studio, which answers 200',
    200,
    { error: 'Unexpected endpoint or method. (POST /chat/completions)' },
    { code: 'model_unconfigured', says: 'which is not' },
  ],
  // Errors that come as a good answer.
  [
    'an error of OpenRouter in a good answer',
    200,
    { error: { code: 502, message: 'Provider disconnected' }, choices: [] },
    { ...LIMITED, says: 'Provider disconnected' },
  ],
  [
    'a limit in a good answer',
    200,
    { error: { code: 429, message: 'slow', metadata: { retry_after_seconds: 3 } } },
    { ...LIMITED, afterMs: 3_000 },
  ],
  [
    'MiniMax in a good answer',
    200,
    { base_resp: { status_code: 1008, status_msg: 'insufficient balance' }, choices: null },
    { code: 'model_no_credit' },
  ],
  [
    'llama.cpp in a good answer that calls itself a stream',
    200,
    {
      error: {
        code: 400,
        message: 'the request exceeds the available context size.',
        type: 'exceed_context_size_error',
        n_ctx: 8192,
      },
    },
    { code: 'model_context_length' },
    { 'content-type': 'text/event-stream' },
  ],
]
