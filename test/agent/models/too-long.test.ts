import { describe, expect, it } from 'vitest'
import { isTooLong, numbersIn } from '../../../src/agent/models/refusals.ts'

/** Words for too long a conversation, with the window that they name. */
const TOO_LONG: readonly (readonly [string, number | undefined])[] = [
  ['prompt is too long: 213462 tokens > 200000 maximum', 200_000],
  ['Your input exceeds the context window of this model', undefined],
  ["This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.", 4_096],
  ["Requested token count exceeds the model's maximum context length of 131072 tokens", 131_072],
  ["Input length (265330) exceeds model's maximum context length (262144).", 262_144],
  ['The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)', 1_048_575],
  ["This model's maximum prompt length is 131072 but the request contains 537812 tokens", 131_072],
  ['Please reduce the length of the messages or completion', undefined],
  ["This endpoint's maximum context length is 32768 tokens. However, you requested about 90000 tokens", 32_768],
  ['Input length 70000 exceeds the maximum allowed input length of 65536 tokens.', 65_536],
  ["The input (9000 tokens) is longer than the model's context length (8192 tokens).", 8_192],
  ['the request exceeds the available context size, try increasing it', undefined],
  [
    'the request exceeds the available context size. try increasing the context size or enable context shift (n_prompt_tokens: 14429, n_ctx: 8192)',
    8_192,
  ],
  ['request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it', 8_192],
  ['tokens to keep from the initial prompt is greater than the context length', undefined],
  ['Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)', 7_424],
  [
    'Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough.',
    32_768,
  ],
  ['Context size has been exceeded', undefined],
  ['prompt token count of 140000 exceeds the limit of 128000', 128_000],
  ['invalid params, context window exceeds limit', undefined],
  ['Your request exceeded model token limit: 262144 (requested: 300000)', 262_144],
  ['Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length', 32_768],
  ['prompt too long; exceeded max context length by 312 tokens', undefined],
  [
    "This model's maximum context length is 8192 tokens. However, you requested 1000 output tokens and your prompt contains at least 7193 input tokens, for a total of at least 8193 tokens.",
    8_192,
  ],
  ['max_tokens must be at least 1, got -186.', undefined],
  ['Requested tokens (2138) exceed context window of 2048', 2_048],
  ['Input is too long for requested model', undefined],
  ['输入内容超过最大长度', undefined],
  ['Range of input length should be [1, 30720]', 30_720],
  ['prompt exceeds max length', undefined],
  ['Request exceeds the maximum size', undefined],
  [
    "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
    131_072,
  ],
  [
    'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens`',
    200_000,
  ],
  ['`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 3950 `inputs` tokens and 1024 `max_new_tokens`', 4_096],
  [
    'Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 342389. The input or output tokens must be reduced in order to run successfully.',
    undefined,
  ],
  ['Request body too large for gpt-4o model. Max size: 8000 tokens.', 8_000],
  ['The long context beta is not yet available for this subscription.', undefined],
  ['Extra usage is required for long context requests.', undefined],
]

describe('a conversation that is too long', () => {
  it.each(TOO_LONG)('%s (%s)', (words, window) => {
    expect(isTooLong({ words })).toBe(true)
    expect(numbersIn(words)).toEqual(window === undefined ? {} : { window })
  })

  it.each(['context_length_exceeded', 'exceed_context_size_error', 'request_too_large'])('by its code %s', (code) => {
    expect(isTooLong({ words: 'No.', code })).toBe(true)
  })

  it.each([
    ["Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."],
    ['Too many tokens, please wait before trying again.'],
    [
      "Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 42 instead.",
    ],
    ['ContextWindowExceededError: OpenAIException - string too long. Expected a string with maximum length 40'],
    ['Rate limit reached for model `llama` on tokens per minute (TPM): Limit 6000, Used 5034, Requested 1443.'],
    ['model=gpt-5.2. context_window_fallbacks=None. fallbacks=None.'],
    ['Invalid max_tokens value, the valid range of max_tokens is [1, 8192]'],
    ['At least one of the image dimensions exceed max allowed size: 8000 pixels'],
  ])('is not meant by: %s', (words) => {
    expect(isTooLong({ words })).toBe(false)
  })
})

describe('the longest answer', () => {
  it.each([
    ['max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude-3-haiku', 4_096],
    ['Invalid max_tokens value, the valid range of max_tokens is [1, 8192]', 8_192],
    ['Range of max_tokens should be [1, 8192]', 8_192],
    [
      'max_tokens is too large: 32768. This model supports at most 16384 completion tokens, whereas you provided 32768.',
      16_384,
    ],
    [
      '`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window`',
      8_192,
    ],
    ['The maximum tokens you requested exceeds the model limit of 4096.', 4_096],
    ['the supported range is from 1 (inclusive) to 8193 (exclusive).', 8_192],
  ])('%s (%s)', (words, longestAnswer) => {
    expect(numbersIn(words)).toEqual({ longestAnswer })
    expect(isTooLong({ words })).toBe(false)
  })

  it.each([
    [
      "max_tokens is too large: 4096. This model's maximum context length is 4096 tokens and your request has 26 input tokens (4096 > 4096 - 26).",
      { window: 4_096, longestAnswer: 2_048 },
    ],
    [
      "This model's maximum context length is 6048 tokens. However, you requested 6616 tokens (568 in the messages, 6048 in the completion). Please reduce the length of the messages or completion.",
      { window: 6_048, longestAnswer: 3_024 },
    ],
    [
      "This model's maximum context length is 8192 tokens. However, you requested 8192 output tokens and your prompt contains at least 1 input tokens, for a total of at least 8193 tokens.",
      { window: 8_192, longestAnswer: 4_096 },
    ],
  ])('is half of the window where a small prompt was refused: %s', (words, numbers) => {
    expect(numbersIn(words)).toEqual(numbers)
    expect(isTooLong({ words })).toBe(false)
  })

  it('no number is made of words without one', () => {
    expect(numbersIn('the model is overloaded, 3 requests wait')).toEqual({})
    expect(numbersIn("This model's maximum context length is 0 tokens")).toEqual({})
    expect(numbersIn('maximum context length is 99999999999999 tokens')).toEqual({})
  })
})

describe('the room for the answer to one request', () => {
  it.each([
    ['Limit 6000, Requested 9100, please reduce your message size', 4_096, 996],
    [
      "This model's maximum context length is 4096 tokens. However, you requested 4429 tokens (2381 in the messages, 2048 in the completion).",
      2_048,
      1_715,
    ],
    ['Limit 6000, Requested 12000, please reduce your message size', 4_096, undefined],
    ['Rate limit reached (RPM): Limit 3, Used 3, Requested 1. Please try again in 7s.', 4_096, undefined],
    ['You requested up to 65536 tokens, but can only afford 1200.', 4_096, undefined],
    ['Something else', 4_096, undefined],
  ])('%s', (words, asked, room) => {
    expect(numbersIn(words, asked).room).toBe(room)
  })
})
