/** A request after validation. Fields the rehearsal does not use are kept as they are. */
export interface ChatRequest {
  model: string
  messages: RequestMessage[]
  max_tokens?: number
  max_completion_tokens?: number
  stream?: boolean
  stream_options?: { include_usage?: boolean }
  tools?: RequestTool[]
  reasoning_effort?: string
  [field: string]: unknown
}

export interface RequestMessage {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool' | 'function'
  content?: Content | null
  tool_calls?: RequestToolCall[]
  tool_call_id?: string
  [field: string]: unknown
}

export type Content = string | ContentPart[]

export interface ContentPart {
  type: string
  text?: string
  image_url?: { url: string; detail?: string }
}

export interface RequestToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

export interface RequestTool {
  type: 'function'
  function: { name: string; description?: string; parameters?: Record<string, unknown> }
}

/** Returns the texts of a content, one after the other. */
export function textOf(content: Content | null | undefined): string {
  if (typeof content === 'string') return content
  return (content ?? []).map(({ text = '' }) => text).join('\n')
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
