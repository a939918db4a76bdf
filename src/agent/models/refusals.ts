import type { ModelRefusal } from './model-error.ts'
import type { Trait } from './traits.ts'

/** Words for a part of a request that a server does not take. */
const NOT_TAKEN =
  /not support|unsupported|not permitted|not allowed|not enabled|not available|extra_forbidden|unknown|unrecogni[sz]ed|unexpected|deprecated|invalid|only \S+ is allowed|may only be|must be (one of|1\b)|cannot (both|be)|additional propert|refused/i

interface Rule {
  readonly trait: Trait
  readonly words: RegExp
  /** True: only among words of `NOT_TAKEN`. */
  readonly named?: boolean
}

/** The first that fits counts: what says more stands before what says less. */
const RULES: readonly Rule[] = [
  { trait: 'nine-character-ids', words: /a-z, A-Z, 0-9, with a length of 9/i },
  { trait: 'signed-calls', words: /missing a `?thought_?signature/i },
  {
    trait: 'thoughts-with-calls',
    words:
      /reasoning_content[`'"]? (is missing|in the thinking mode must be passed)|missing [`'"]?reasoning_content|(content\[\]\.)?thinking[`'"]? in the thinking mode must be passed|expected `thinking` or `redacted_thinking`, but found/i,
  },
  {
    trait: 'no-thoughts-back',
    words: /invalid `?signature`? in `?thinking`? block|`?thinking`?.{0,40}blocks.{0,40}cannot be modified/i,
  },
  { trait: 'own-fields-refused', words: /corrupted thought signature/i },
  { trait: 'no-thoughts-back', words: /corrupted thought signature/i },
  { trait: 'own-fields-refused', words: /extra_content|thought_?signature/i, named: true },
  {
    trait: 'no-thoughts-back',
    words: /reasoning_(content|details|text)|property [`'"]reasoning[`'"]|messages[^:]{0,80}\breasoning\b/i,
    named: true,
  },
  { trait: 'no-usage-option', words: /stream_options|include_usage/i, named: true },
  {
    trait: 'max-completion-tokens',
    words:
      /\bmax_tokens\b[\s\S]{0,200}\buse\b[\s\S]{0,80}max_completion_tokens|[`'"]max_tokens[`'"] is not supported|unsupported parameter: [`'"]?max_tokens\b/i,
  },
  { trait: 'max-tokens', words: /max_?completion_?tokens/i, named: true },
  { trait: 'no-cache-marks', words: /cache_control/i, named: true },
  {
    trait: 'thinks-as-it-sees-fit',
    words: /thinking\.type\.enabled[\s\S]{0,200}(not supported|adaptive)|use [`'"]?(thinking\.type[.=: ]*)?adaptive/i,
  },
  {
    trait: 'thinks-by-budget',
    words: /adaptive[`'"]? thinking|thinking\.type[^a-z]{0,4}adaptive|[`'"]adaptive[`'"]/i,
    named: true,
  },
  {
    trait: 'thinks-always',
    words:
      /reasoning is mandatory|(reasoning|thinking).{0,60}cannot be disabled|only works in thinking mode|thinking\.type\.disabled|thinking (can ?not|can't) be (disabled|turned off)|does not support disabling/i,
  },
  {
    trait: 'no-effort',
    words: /reasoning[_ .]?effort|reasoning value|effort[`'"]? (parameter|is not)|output_config/i,
    named: true,
  },
  {
    trait: 'cannot-think',
    words:
      /does not support (extended )?thinking|thinking is not supported|(^|[^.a-z_])thinking[`'"]?: extra inputs|(parameter|argument|field)[^a-z]{0,16}thinking\b/i,
  },
  // Whoever asked by an effort alone can do without it.
  {
    trait: 'no-effort',
    words:
      /does not support (extended )?thinking|thinking is not supported|reasoning is (mandatory|not supported)|only works in thinking mode/i,
  },
  { trait: 'no-temperature', words: /\btemperature\b/i, named: true },
  {
    trait: 'no-tools',
    words:
      /(not|n't) support (tool|function)|support tool use|requires? --enable-auto-tool-choice|tool[s_ ]*(use|calling)? (is|are) not (supported|enabled|available)|function call(ing)? (is )?not (enabled|supported)|tool_choice|unsupported param(eter)?: tools|`tools` (is|are) not/i,
  },
  {
    trait: 'no-tools',
    words: /\btools\b[`'"]?:|body, ?tools|body\.tools|(argument|parameter|property|field)[^a-z]{0,16}tools\b/i,
    named: true,
  },
  {
    trait: 'no-pictures',
    words:
      /support (image|vision|multimodal)|image input|image_url|not a (vision|multimodal)|vision (is )?not|\bmmproj\b|invalid type: sequence, expected a string|content must be a string|enum ChatCompletionRequestContent|not support(s|ing)? (the )?images?|images? (is|are) not|text is not set|input should be 'text'|single `text` element|multimodal/i,
  },
  {
    trait: 'no-system',
    words:
      /developer instruction is not enabled|system (role|message|prompt|instruction)s?\b.{0,30}(not|unsupported)|only user,? (and )?assistant|does not support [`'"]system|roles must alternate|not support [`'"]?(system|developer)/i,
  },
]

/** Statuses that are about the request itself: of a key, of credit, of its load no trait is learnt. */
const OF_THE_REQUEST: ReadonlySet<number> = new Set([400, 403, 404, 406, 415, 422, 500, 501, 502])

/**
 * Returns the trait that a refusal teaches, if it is among those that the request could do without; undefined where it
 * teaches nothing.
 */
export function traitOfRefusal({ status, words }: ModelRefusal, avoidable: ReadonlySet<Trait>): Trait | undefined {
  if (!OF_THE_REQUEST.has(status)) return undefined
  return RULES.find((rule) => avoidable.has(rule.trait) && fits(rule, words))?.trait
}

/** Words for one picture that cannot be read; they say nothing of others. */
const OF_ONE_PICTURE = /could not process image|failed to load image|invalid image/i

/** Returns true where the words are about a part of the request that the server does not take: waiting is vain. */
export function isAboutTheRequest(words: string): boolean {
  return OF_ONE_PICTURE.test(words) || RULES.some((rule) => fits(rule, words))
}

function fits({ words: named, named: needsMore = false }: Rule, words: string): boolean {
  return named.test(words) && (!needsMore || NOT_TAKEN.test(words))
}

/** The tokens that a model reads at once, behind the words for it. */
const WINDOWS: readonly RegExp[] = [
  /context limit: [\d,]+ \+ [\d,]+ > ([\d,]+)/i,
  /(?:maximum|max)(?: allowed)? (?:context|prompt|input|model) length (?:is|of)?:? ?(?:only )?\(?([\d,]+)/i,
  /tokens > ([\d,]+) maximum/i,
  /maximum number of (?:input )?tokens allowed \(?([\d,]+)/i,
  /(?:context length|context size|context window)(?: is| of)?(?: only)? ?\(?([\d,]+)(?: tokens|\)|$|\s)/i,
  /\bn_ctx(?:_slot)?[^\d\n]{1,5}(\d+)/i,
  /token count of [\d,]+ exceeds the limit of ([\d,]+)/i,
  /model token limit: ([\d,]+)/i,
  /with ([\d,]+) maximum context length/i,
  /range of input length should be \[\d+, ?([\d,]+)\]/i,
  /max_model_len[^\d\n]{1,5}([\d,]+)/i,
  /must be <= ([\d,]+)\. given: /i,
  /max size: ([\d,]+) tokens/i,
  /in the prompt cannot exceed ([\d,]+)/i,
]

/** The most tokens of an answer, behind the words for it. */
const ANSWERS: readonly RegExp[] = [
  /[\d,]+ > ([\d,]+), which is the maximum allowed number of output tokens/i,
  /range of [`'"]?max_(?:completion_|output_)?tokens[`'"]? (?:is|should be) \[\d+, ?([\d,]+)\]/i,
  /supports at most ([\d,]+) (?:completion|output) tokens/i,
  /max_(?:completion_)?tokens[`'"]? must be (?:less than or equal to|<=|at most) [`'"]?([\d,]+)/i,
  /maximum tokens you requested exceeds the model limit of ([\d,]+)/i,
]
/** Gemini: `supported range is from 1 (inclusive) to 8193 (exclusive)`. */
const BELOW = /range is from \d+ \(inclusive\) to ([\d,]+) \(exclusive\)/i

/** The tokens of the prompt, behind the words for it, where they stand beside the window. */
const PROMPTS: readonly RegExp[] = [
  /\(([\d,]+) in the messages/i,
  /your (?:request|prompt) (?:has|contains)(?: at least)? ([\d,]+) input tokens/i,
  /context limit: ([\d,]+) \+ /i,
  /given: ([\d,]+) `?inputs`? tokens/i,
]

/** The numbers of tokens that a refusal names. */
interface NamedTokens {
  /** The model reads so many at once. */
  readonly window?: number
  /** It answers with so many at most. */
  readonly longestAnswer?: number
  /** So many are left for the answer to this request. */
  readonly room?: number
}

/** `asked`: the tokens of an answer that the request asked for. */
export function numbersIn(words: string, asked = 0): NamedTokens {
  const below = firstOf([BELOW], words)
  const window = firstOf(WINDOWS, words)
  const longestAnswer = below === undefined ? (firstOf(ANSWERS, words) ?? halfOf(words)) : below - 1
  const room = roomOf(words, asked)
  return {
    ...(window === undefined ? {} : { window }),
    ...(longestAnswer === undefined ? {} : { longestAnswer }),
    ...(room === undefined ? {} : { room }),
  }
}

/**
 * Returns half of the window where a prompt that fits in half of it was refused: the room for the answer was too large.
 * A longer prompt is too long itself, so that an answer of at most half fits beside every other.
 */
function halfOf(words: string): number | undefined {
  const [window, prompt] = [firstOf(WINDOWS, words), firstOf(PROMPTS, words)]
  if (window === undefined || prompt === undefined || prompt > window / 2) return undefined
  return Math.floor(window / 2)
}

/** An answer of fewer tokens is of no use. */
const SHORTEST_ANSWER = 256

/**
 * Returns the room for an answer beside the prompt: in the window, or in the quota of a minute, of which some
 * servers take all tokens that a request may use, whatever it will use (Groq): `Limit 6000, Requested 9100`.
 */
function roomOf(words: string, asked: number): number | undefined {
  const [whole, prompt] = [firstOf(WINDOWS, words), firstOf(PROMPTS, words)]
  const [, limit = '', requested = ''] = /Limit ([\d,]+), Requested ([\d,]+)/i.exec(words) ?? []
  const [quota, taken] = [limit, requested].map((tokens) => Number(tokens.replaceAll(',', '') || Number.NaN))
  const room = whole !== undefined && prompt !== undefined ? whole - prompt : (quota ?? 0) - ((taken ?? 0) - asked)
  return room >= SHORTEST_ANSWER && room < asked ? room : undefined
}

/** More tokens than any model has, or none, are a slip of the words. */
const MOST_TOKENS = 1_000_000_000

function firstOf(patterns: readonly RegExp[], words: string): number | undefined {
  for (const pattern of patterns) {
    const tokens = Number(pattern.exec(words)?.[1]?.replaceAll(',', '') ?? Number.NaN)
    if (tokens >= 1 && tokens <= MOST_TOKENS) return tokens
  }
  return undefined
}

const TOO_LONG_CODES =
  /^(context_length_exceeded|exceed_context_size_error|request_too_large|model_max_prompt_tokens_exceeded|model_context_window_exceeded|context_window_exceeded)$/

const TOO_LONG: readonly RegExp[] = [
  /prompt (is )?too long|input is too long|prompt exceeds max length|(input|prompt)\b.{0,40}\btoo long for/i,
  /exceed(s|ed|ing)?\b.{0,60}\bcontext (window|length|size|limit)|context (window|length|size|limit)\b.{0,40}\bexceed/i,
  /maximum (context|prompt|input) length|maximum allowed input length|\bmax_model_len\b/i,
  /input token count\b.{0,40}\bexceeds|prompt token count of \d+ exceeds|exceeded model token limit/i,
  /longer than the model's context|greater than the context length|available context size|exceeds context window/i,
  /tokens to keep from the initial prompt|trying to keep the first \d+ tokens|cannot truncate prompt|\bn_ctx(_slot)?\b|slot context/i,
  /reduce (the length of )?(the|your) (messages?|prompt|input)|input or output tokens must be reduced/i,
  /too large for model with|request body too large for|request (is )?too large|request exceeds the maximum size/i,
  /max_tokens must be at least 1, got -|must be <= \d+\. given: |prompt cannot exceed \d+/i,
  /too many (input )?tokens(?!.{0,80}\b(wait|try again|per minute|rate))|token limit exceeded/i,
  /extra usage\b.{0,60}\blong context|long context\b.{0,60}(extra usage|not (yet )?available)/i,
  /range of input length should be/i,
  /\u8d85\u8fc7\u6700\u5927\u957f\u5ea6|\u4e0a\u4e0b\u6587\u957f\u5ea6|(\u8f93\u5165|\u63d0\u793a).{0,12}(\u8fc7\u957f|\u8d85\u8fc7|\u8d85\u51fa)/,
]

/** Words for something else that is too long, or too much at once. */
const NOT_TOO_LONG = /string too long|string_above_max_length|maximum length \d+, but got a string/i

/** Returns true where a refusal says that the conversation does not fit, whose part is to be left out. */
export function isTooLong({ words, code = '' }: Pick<ModelRefusal, 'words' | 'code'>): boolean {
  if (NOT_TOO_LONG.test(words)) return false
  if (halfOf(words) !== undefined || firstOf([...ANSWERS, BELOW], words) !== undefined) return false
  return TOO_LONG_CODES.test(code) || TOO_LONG.some((pattern) => pattern.test(words))
}

/** Words and codes of servers, and reasons for an end, for a call of the model that they could not read. */
const BAD_CALL =
  /tool_use_failed|failed to call a function|tool call validation failed|output_parse_failed|model generated output that could not be parsed|json_validate_failed|failed to generate json|error parsing tool call|failed to parse (input at pos|tool[ _]call|fc )|malformed_(function|tool)_call|malformed function call|invalid sequence as part of tooluse|unexpected tokens? (remaining in message header|\d+ while expecting start token)|error: unexpected end of harmony|xml syntax error on line \d+/i

/** Returns true where a server could not read the call that its model wrote, which another try mends. */
export function isBadCall({ words, code = '' }: Pick<ModelRefusal, 'words' | 'code'>): boolean {
  return BAD_CALL.test(code) || BAD_CALL.test(words)
}

const FLAGGED =
  /content[ _]?(filter|management policy|policy_violation)|responsible ?ai ?policy|\bflagged\b|moderation|usage (guidelines|policy)|inappropriate content|data_inspection_failed|content exists risk|considered high risk|\binvalid_prompt\b|safety (system|policy|filter)|\u654f\u611f\u5185\u5bb9/i

/** Returns true where a filter of the provider refused what was asked. */
export function isFlagged({ words, code = '' }: Pick<ModelRefusal, 'words' | 'code'>): boolean {
  return FLAGGED.test(code) || FLAGGED.test(words)
}

const BAD_KEY =
  /(incorrect|invalid|wrong|missing|no) (x-)?api[- _]?key|api[- _]?key.{0,20}(not valid|not found|invalid|expired|incorrect|missing|required)|api_key_invalid|invalid_api_key|valid api key|authentication_error|no auth credentials|unauthenticated/i

/** Returns true where the server does not take the key, whatever the status. */
export function isBadKey({ words, code = '' }: Pick<ModelRefusal, 'words' | 'code'>): boolean {
  return BAD_KEY.test(code) || BAD_KEY.test(words)
}

const NO_CREDIT_CODES =
  /^(insufficient_quota|insufficient_user_quota|insufficient_balance|billing_hard_limit_reached|billing_not_active|exceeded_current_quota_error|enforced_spend_limit_reached|contract_spend_limit_reached|arrearage|1113|payment_required)$/i
const NO_CREDIT =
  /credit balance|insufficient (account )?(balance|credit|funds|quota)|balance is (too low|insufficient|not enough)|out of credits|used all available credits|requires more credits|any credits or licenses|purchase (more )?credits|spend(ing)? limit|need a grok subscription|active grok subscription|credits are depleted|in good standing|reached your specified api usage limits|key limit exceeded|usage limit reached.{0,80}reset|subscription quota limit|suspended due to|\u8d26\u6237?\u4f59\u989d\u4e0d\u8db3|\u4f59\u989d\u4e0d\u8db3|\u6b20\u8d39/i
/** Words that stand for an empty account as well as for the quota of a minute, which comes with a time. */
const QUOTA = /exceeded (your )?current quota|plan and billing/i

/** Returns true where the account has no credit or its plan is used up. `waits`: the server says when to ask again. */
export function isNoCredit({ status, words, code = '' }: ModelRefusal, waits: boolean): boolean {
  if (status === 402 || NO_CREDIT_CODES.test(code) || NO_CREDIT.test(words)) return true
  return !waits && QUOTA.test(words)
}

const NO_PATH =
  /^(\d{3} )?(not found|page not found|resource not found|method not allowed)\b\W*$|cannot (post|get) \/|^invalid url\b|no route|unexpected endpoint|unknown (request url|path|route|endpoint)|no static resource/i

/** Returns true where the server does not know the address at all. */
export function isNoPath(words: string): boolean {
  return NO_PATH.test(words)
}
