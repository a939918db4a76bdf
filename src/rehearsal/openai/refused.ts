/** The servers that are rehearsed besides OpenAI itself; what each is reported to do is in `MODEL-FACTS.md`. */
export const DIALECTS = [
  ...(['deepseek', 'kimi', 'gemini', 'mistral', 'groq', 'xai', 'azure'] as const),
  ...(['ollama', 'lm-studio', 'vllm', 'llama-cpp', 'openrouter', 'litellm'] as const),
] as const

export type DialectName = (typeof DIALECTS)[number] | 'openai'

/** The first line is what scripts ask for, the second what the server says of a request. */
export type RefusalKind =
  | ('noKey' | 'noCredit' | 'rateLimit' | 'overloaded' | 'toolUseFailed')
  | ('tools' | 'pictures' | 'system' | 'field' | 'tooLong' | 'answerTooLong')

/** The numbers and names that a refusal may speak of. */
export interface RefusalDetails {
  readonly model?: string
  /** The wait of a rate limit. */
  readonly afterSeconds?: number
  /** Tokens of the prompt, of the answer that was asked for, and of both at most. */
  readonly tokens?: number
  readonly answer?: number
  readonly window?: number
  /** The most tokens of an answer. */
  readonly most?: number
  /** The field that is refused, and what stood in it. */
  readonly field?: string
  readonly value?: unknown
  /** The position of the message that is refused. */
  readonly message?: number
}

/** A refusal before it has the shape of its server. */
export interface Refused {
  readonly status: number
  /** A sentence; Mistral puts objects there. */
  readonly message: unknown
  readonly type?: string | null
  readonly param?: string | null
  readonly code?: string | number | null
  /** Further fields of the error. */
  readonly beside?: object
  readonly headers?: Readonly<Record<string, string>>
  /** It comes as an event of a stream that began well. */
  readonly inStream?: boolean
}

export type Details = Required<RefusalDetails>

/** Returns a refusal of a request that is not valid. */
export const bad = (message: unknown, more: Partial<Refused> = {}): Refused => ({ status: 400, message, ...more })

/** Mistral puts the places of fields it does not know where others have a sentence. */
export function extraForbidden(places: readonly { readonly loc: readonly unknown[]; readonly input: unknown }[]) {
  const msg = 'Extra inputs are not permitted'
  const detail = places.map(({ loc, input }) => ({ type: 'extra_forbidden', loc: ['body', ...loc], msg, input }))
  return bad({ detail }, { status: 422 })
}

/** The error of an upstream, as OpenRouter hands it on. */
export function fromUpstream(raw: string, provider: string): Refused {
  return bad('Provider returned error', { beside: { metadata: { raw, provider_name: provider } } })
}

/** A refusal of an upstream, as LiteLLM hands it on. */
export function litellm(upstream: string, status = 400): Refused {
  return bad(
    `litellm.BadRequestError: AnthropicException - ${upstream}. Received Model Group=claude\nAvailable Model Group Fallbacks=None`,
    { status },
  )
}

/** An error of a model's template, as llama.cpp reports it. */
export function jinja(thrown: string): string {
  return `\n------------\nWhile executing CallExpression at line 189, column 32 in source:\n...== 0) %}↵            {{- raise_exception('${thrown.slice(0, 38)}...\n                                           ^\nError: Jinja Exception: ${thrown}`
}

/** The same in LM Studio. */
export function template(thrown: string): string {
  return `Error rendering prompt with jinja template: "${thrown}".\n\nThis is usually an issue with the model's prompt template.`
}
