/** A request after validation. Fields the rehearsal does not use are kept as they are. */
export interface MessagesRequest {
  model: string
  max_tokens: number
  messages: RequestMessage[]
  system?: unknown
  stream?: boolean
  tools?: RequestTool[]
  thinking?: { type: string; budget_tokens?: number }
  [field: string]: unknown
}

export interface RequestMessage {
  role: 'user' | 'assistant'
  content: Content
}

export type Content = string | ContentBlock[]

export interface ContentBlock {
  type: string
  text?: string
  id?: string
  name?: string
  input?: unknown
  tool_use_id?: string
  content?: Content
  is_error?: boolean
  thinking?: string
  signature?: string
  cache_control?: unknown
}

export interface RequestTool {
  name: string
  type?: string
  description?: string
  input_schema?: unknown
  cache_control?: unknown
}
