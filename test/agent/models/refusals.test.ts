import { describe, expect, it } from 'vitest'
import {
  isBadCall,
  isBadKey,
  isFlagged,
  isNoCredit,
  isNoPath,
  traitOfRefusal,
} from '../../../src/agent/models/refusals.ts'
import type { Trait } from '../../../src/agent/models/traits.ts'

const ALL: ReadonlySet<Trait> = new Set<Trait>([
  ...([
    'no-usage-option',
    'max-tokens',
    'max-completion-tokens',
    'no-temperature',
    'no-effort',
    'no-pictures',
  ] as const),
  ...([
    'no-tools',
    'no-system',
    'nine-character-ids',
    'thoughts-with-calls',
    'no-thoughts-back',
    'signed-calls',
  ] as const),
  ...(['own-fields-refused', 'thinks-always', 'thinks-by-budget', 'thinks-as-it-sees-fit', 'cannot-think'] as const),
  'no-cache-marks',
])

/** The words of servers: each as a public report or the server's source has them. */
const LESSONS: readonly (readonly [Trait, number, string])[] = [
  ['no-usage-option', 400, 'Argument not supported: stream_options'],
  ['no-usage-option', 400, "Unknown parameter: 'stream_options'. (request id: 20240806)"],
  ['no-usage-option', 422, 'body.stream_options: Extra inputs are not permitted'],
  [
    'no-usage-option',
    400,
    "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted'",
  ],
  [
    'max-completion-tokens',
    400,
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  ],
  ['max-tokens', 400, 'Unrecognized request argument supplied: max_completion_tokens'],
  ['max-tokens', 422, 'body.max_completion_tokens: Extra inputs are not permitted'],
  ['max-tokens', 400, "property 'max_completion_tokens' is unsupported"],
  ['no-temperature', 400, '`temperature` is deprecated for this model.'],
  ['no-temperature', 400, 'temperature is deprecated for this model.'],
  [
    'no-temperature',
    400,
    "Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) value is supported.",
  ],
  ['no-temperature', 400, 'invalid temperature: only 1 is allowed for this model'],
  ['no-temperature', 400, '`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.'],
  ['no-effort', 400, '`reasoning_effort` is not supported with this model'],
  ['no-effort', 400, 'Unrecognized request argument supplied: reasoning_effort'],
  ['no-effort', 400, 'invalid reasoning value: "none" (must be "minimal", "low", "medium", "high")'],
  ['no-effort', 400, 'This model does not support the effort parameter.'],
  ['cannot-think', 400, '"gemma3:4b" does not support thinking'],
  ['cannot-think', 400, 'thinking: Extra inputs are not permitted'],
  ['thinks-always', 400, 'Reasoning is mandatory for this endpoint and cannot be disabled.'],
  ['thinks-always', 400, 'Budget 0 is invalid. This model only works in thinking mode.'],
  ['thinks-always', 400, '"thinking.type.disabled" is not supported for this model.'],
  [
    'thinks-as-it-sees-fit',
    400,
    '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
  ],
  [
    'thinks-as-it-sees-fit',
    400,
    'The model returned the following errors: "thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive"',
  ],
  ['thinks-by-budget', 400, 'adaptive thinking is not supported on this model'],
  ['no-cache-marks', 400, 'system.1.cache_control.ephemeral.scope: Extra inputs are not permitted'],
  ['no-pictures', 404, 'No endpoints found that support image input'],
  [
    'no-pictures',
    500,
    'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
  ],
  ['no-pictures', 500, 'image input is not supported by this server'],
  ['no-pictures', 400, 'Invalid content type. image_url is only supported by certain models.'],
  ['no-pictures', 400, 'this model does not support image input (ref: 1)'],
  ['no-pictures', 400, 'Model does not support images. Please use a model that does.'],
  [
    'no-pictures',
    400,
    'Failed to deserialize the JSON body into the target type: messages[137]: unknown variant `image_url`, expected `text` at line 1 column 460917',
  ],
  [
    'no-pictures',
    422,
    'Failed to deserialize the JSON body into the target type: messages[2]: invalid type: sequence, expected a string at line 1 column 2901',
  ],
  ['no-pictures', 400, 'messages[0].content must be a string'],
  ['no-pictures', 400, 'Param Incorrect (text is not set)'],
  ['no-pictures', 422, "Validation Error: body -> messages -> 0 -> type: Input should be 'text'"],
  ['no-pictures', 400, 'The model expects a single `text` element per message.'],
  ['no-tools', 400, 'registry.ollama.ai/library/gemma3:4b does not support tools'],
  ['no-tools', 400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
  ['no-tools', 404, 'No endpoints found that support tool use. Try disabling "get_current_timestamp".'],
  ['no-tools', 404, "No endpoints found that support the provided 'tool_choice' value."],
  ['no-tools', 422, 'body.tools: Extra inputs are not permitted'],
  ['no-tools', 400, 'Function calling is not enabled for models/gemma-3-27b-it'],
  ['no-system', 400, 'Developer instruction is not enabled for models/gemma-3-27b-it'],
  ['no-system', 500, 'System role not supported'],
  ['no-system', 400, "Unsupported value: 'messages[0].role' does not support 'system' with this model."],
  [
    'no-system',
    500,
    'After the optional system message, conversation roles must alternate user and assistant roles...',
  ],
  ['nine-character-ids', 400, 'Tool call id was turn1_0 but must be a-z, A-Z, 0-9, with a length of 9.'],
  ['nine-character-ids', 500, 'Tool call id was call_49c89af0 but must be a-z, A-Z, 0-9, with a length of 9'],
  [
    'thoughts-with-calls',
    400,
    'Missing `reasoning_content` field in the assistant message at message index 2. For more information, please refer to the docs.',
  ],
  ['thoughts-with-calls', 400, 'The `reasoning_content` in the thinking mode must be passed back to the API.'],
  ['thoughts-with-calls', 400, 'The `content[].thinking` in the thinking mode must be passed back to the API.'],
  [
    'thoughts-with-calls',
    400,
    'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2',
  ],
  [
    'thoughts-with-calls',
    400,
    'messages.129.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.',
  ],
  ['no-thoughts-back', 422, 'body.messages.31.assistant.reasoning_content: Extra inputs are not permitted'],
  [
    'no-thoughts-back',
    400,
    "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]",
  ],
  ['no-thoughts-back', 400, 'messages.3.content.0: Invalid `signature` in `thinking` block'],
  [
    'no-thoughts-back',
    400,
    'messages.3.content.8: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.',
  ],
  [
    'signed-calls',
    400,
    'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance.',
  ],
  [
    'own-fields-refused',
    400,
    'Invalid JSON payload received. Unknown name "extra_content" at \'messages[1].tool_calls[0]\': Cannot find field.',
  ],
  ['own-fields-refused', 422, 'body.messages.1.tool_calls.0.extra_content: Extra inputs are not permitted'],
]

describe('a refusal teaches', () => {
  it.each(LESSONS)('%s (%s): %s', (trait, status, words) => {
    expect(traitOfRefusal({ status, words }, ALL)).toBe(trait)
    const others = new Set([...ALL].filter((other) => other !== trait))
    expect(traitOfRefusal({ status, words }, new Set())).toBeUndefined()
    expect(traitOfRefusal({ status, words }, others)).not.toBe(trait)
  })

  it.each([
    '"gemma3:4b" does not support thinking',
    'Reasoning is mandatory for this endpoint and cannot be disabled.',
    'Budget 0 is invalid. This model only works in thinking mode.',
  ])('a request that said its effort alone to do without: %s', (words) => {
    expect(traitOfRefusal({ status: 400, words }, new Set<Trait>(['no-effort', 'no-tools']))).toBe('no-effort')
  })

  it.each([
    [401, 'Incorrect API key provided: tools are not supported for it'],
    [429, 'stream_options: rate limited, not supported'],
    [402, 'temperature is not supported without credit'],
    [400, "Unexpected role 'user' after role 'tool'"],
    [400, 'requested tool does not exist'],
    [400, "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40"],
    [400, 'messages.11: all messages must have non-empty content except for the optional final assistant message'],
    [400, 'Your credit balance is too low to access the Anthropic API.'],
    [400, "This model's maximum context length is 4096 tokens."],
    [400, 'messages.1.content.0.tool_use.name: String should match pattern'],
  ])('nothing (%s): %s', (status, words) => {
    expect(traitOfRefusal({ status, words }, ALL)).toBeUndefined()
  })
})

describe('the words of servers', () => {
  it.each([
    ["Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details."],
    ["error parsing tool call: raw='ls -R', err=invalid character 'l' looking for beginning of value"],
    ['Tool call validation failed: attempted to call tool which was not in request.tools'],
    ['Parsing failed. The model generated output that could not be parsed. Please adjust your prompt.'],
    ["Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details."],
    ['unexpected tokens remaining in message header: Some("to=functions.web-browsing")'],
    ['Unexpected token 12606 while expecting start token 200006'],
    ['Failed to parse input at pos 42: <tool_call>'],
    ['Model produced invalid sequence as part of ToolUse. Please refer to the model tool use troubleshooting guide.'],
    ['MALFORMED_FUNCTION_CALL'],
    ['XML syntax error on line 3: element <function> closed by </parameter>'],
  ])('a call that the server could not read: %s', (words) => {
    expect(isBadCall({ words })).toBe(true)
  })

  it.each(['tool_use_failed', 'output_parse_failed', 'json_validate_failed'])('such a call by its code %s', (code) => {
    expect(isBadCall({ words: 'No.', code })).toBe(true)
  })

  it.each([
    [403, 'Your chosen model requires moderation and your input was flagged for "violence".'],
    [400, "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."],
    [400, 'Content Exists Risk'],
    [400, 'Input data may contain inappropriate content.'],
    [400, 'Output blocked by content filtering policy'],
    [400, 'Invalid prompt: your prompt was flagged as potentially violating our usage policy.'],
  ])('a filter (%s): %s', (_status, words) => {
    expect(isFlagged({ words })).toBe(true)
  })

  it.each([
    ['API key not valid. Please pass a valid API key.'],
    ['API Key not found. Please pass a valid API key.'],
    ['Incorrect API key provided: xa***bc. You can obtain an API key from https://console.x.ai.'],
    ['API key expired. Please renew the API key.'],
    ['invalid x-api-key'],
  ])('a key: %s', (words) => {
    expect(isBadKey({ words })).toBe(true)
  })

  it.each([
    [
      429,
      'Your account org-1 <ak-1> is suspended due to insufficient balance, please recharge your account or check your plan and billing details',
    ],
    [
      403,
      'Your account is not active, organization <org-1> exceeded current quota, please check your plan and billing details',
    ],
    [429, 'Your team 16f2 has either used all available credits or reached its monthly spending limit.'],
    [403, "Your newly created team doesn't have any credits or licenses yet."],
    [403, 'You have run out of credits or need a Grok subscription.'],
    [
      400,
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
    ],
    [429, 'You exceeded your current quota, please check your plan and billing details.'],
    [403, 'Sorry, your account balance is insufficient'],
    [429, '余额不足或无可用资源包,请充值。'],
    [412, 'Account is suspended, possibly due to reaching the monthly spending limit'],
    [403, 'Key limit exceeded (daily limit).'],
    [402, 'Payment Required'],
  ])('no credit (%s): %s', (status, words) => {
    expect(isNoCredit({ status, words }, false)).toBe(true)
  })

  it.each([
    [
      'Rate limit reached. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing',
      false,
    ],
    ['Resource has been exhausted (e.g. check quota).', false],
    [
      'You exceeded your current quota, please check your plan and billing details. Please retry in 20.04466179s.',
      true,
    ],
    ['The engine is currently overloaded, please try again later', false],
  ])('credit enough: %s', (words, waits) => {
    expect(isNoCredit({ status: 429, words }, waits)).toBe(false)
  })

  it.each([
    ['Not Found', true],
    ['404 page not found', true],
    ['Cannot POST /chat/completions', true],
    ['Invalid URL (POST /v1/v1/chat/completions)', true],
    ['Unexpected endpoint or method. (POST /chat/completions)', true],
    ['Resource not found', true],
    ['Method Not Allowed', true],
    ["model 'x' not found", false],
    ['The model `x` does not exist or you do not have access to it.', false],
    ['No endpoints found that support image input', false],
  ])('an unknown address: %s: %s', (words, is) => {
    expect(isNoPath(words)).toBe(is)
  })
})
