import { anthropicSchema } from '../schema-rules.ts'
import { invalid } from './api-error.ts'
import { checkCacheMarks } from './cache-marks.ts'
import { checkImage, checkSizes } from './images.ts'
import { checkImitated, type Imitator } from './imitations.ts'
import type { ContentBlock, MessagesRequest, RequestMessage } from './request.ts'
import { checkFirstThought, checkSignatures, checkThinking, type SentMessages, type ThinkingType } from './thinking.ts'
import { checkToolPairs } from './tool-pairs.ts'

export interface Checking {
  /** The steps that the server has sent before. */
  readonly sent: SentMessages
  readonly imitates?: Imitator | undefined
  readonly refusesThinking?: readonly ThinkingType[] | undefined
}

/**
 * Checks a parsed body as the Messages API does and returns it typed.
 * @throws MessagesError 400 invalid_request_error with the wording of the API
 */
export function validateRequest(body: unknown, { sent, imitates, refusesThinking }: Checking): MessagesRequest {
  if (!isObject(body)) throw invalid('Input should be a valid dictionary or object to extract fields from')
  for (const field of ['model', 'max_tokens', 'messages']) {
    if (body[field] === undefined) throw invalid(`${field}: Field required`)
  }
  if (typeof body.model !== 'string') throw invalid('model: Input should be a valid string')
  if (body.model === '') throw invalid('model: String should have at least 1 character')
  checkMaxTokens(body.max_tokens)
  const tools = checkTools(body.tools)
  checkCacheMarks(body)
  const messages = checkMessages(body.messages)
  const merged = mergeRuns(messages)
  if (!tools && merged.some((message) => blocksOf(message).some(isToolBlock))) {
    throw invalid('Requests which include `tool_use` or `tool_result` blocks must define tools')
  }
  checkToolPairs(merged)
  checkSizes(messages)
  const request = body as MessagesRequest
  if (imitates !== undefined) {
    checkImitated(imitates, request)
    return request
  }
  checkSignatures(messages)
  checkThinking(request, refusesThinking)
  checkFirstThought(request, merged)
  sent.check(request, merged)
  return request
}

/** Returns the blocks of a message; a plain string is one text block. */
export function blocksOf({ content }: RequestMessage): ContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

function checkMaxTokens(value: unknown): asserts value is number {
  if (typeof value !== 'number' || !Number.isInteger(value))
    throw invalid('max_tokens: Input should be a valid integer')
  if (value < 1) throw invalid('max_tokens: Input should be greater than or equal to 1')
}

/** Returns true if any tool is defined. */
function checkTools(tools: unknown): boolean {
  if (tools === undefined) return false
  if (!Array.isArray(tools)) throw invalid('tools: Input should be a valid list')
  const names = new Set<string>()
  for (const [index, tool] of tools.entries()) names.add(checkTool(tool, index))
  if (names.size < tools.length) throw invalid('tools: Tool names must be unique.')
  return tools.length > 0
}

function checkTool(tool: unknown, index: number): string {
  const at = `tools.${index}.custom`
  if (!isObject(tool))
    throw invalid(`tools.${index}: Input should be a valid dictionary or object to extract fields from`)
  if (typeof tool.name !== 'string') throw invalid(`${at}.name: Field required`)
  // The vendor's own tools (bash, web search) carry a dated type and no schema.
  if (tool.type !== undefined && tool.type !== 'custom') return tool.name
  if (!/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name)) {
    throw invalid(`${at}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`)
  }
  if (!isObject(tool.input_schema)) throw invalid(`${at}.input_schema: Field required`)
  const wrong = anthropicSchema(tool.input_schema)
  if (wrong !== undefined) throw invalid(`${at}.input_schema${wrong}`)
  return tool.name
}

function checkMessages(messages: unknown): RequestMessage[] {
  if (!Array.isArray(messages)) throw invalid('messages: Input should be a valid list')
  if (messages.length === 0) throw invalid('messages: at least one message is required')
  const checked = messages.map((message, index) => checkMessage(message, index))
  if (checked[0]?.role !== 'user') throw invalid('messages: first message must use the "user" role')
  checkEmptiness(checked)
  return checked
}

function checkMessage(message: unknown, index: number): RequestMessage {
  const at = `messages.${index}`
  if (!isObject(message)) throw invalid(`${at}: Input should be a valid dictionary or object to extract fields from`)
  if (message.role === 'system') {
    throw invalid(
      'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
    )
  }
  if (message.role === undefined) throw invalid(`${at}.role: Field required`)
  if (message.role !== 'user' && message.role !== 'assistant') {
    throw invalid(`${at}.role: Input should be 'user' or 'assistant'`)
  }
  const { role, content } = message
  if (content === undefined) throw invalid(`${at}.content: Field required`)
  if (typeof content === 'string') return { role, content }
  if (!Array.isArray(content)) throw invalid(`${at}.content: Input should be a valid list`)
  return { role, content: content.map((block, nth) => checkBlock(block, role, `${at}.content.${nth}`)) }
}

const blockTypes = new Set(
  'text image document search_result thinking redacted_thinking tool_use tool_result server_tool_use web_search_tool_result'.split(
    ' ',
  ),
)
const requiredFields: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  thinking: ['thinking'],
  tool_use: ['id', 'name', 'input'],
  tool_result: ['tool_use_id'],
}

function checkBlock(block: unknown, role: string, at: string): ContentBlock {
  if (!isObject(block)) throw invalid(`${at}: Input should be a valid dictionary or object to extract fields from`)
  const { type } = block
  if (typeof type !== 'string') throw invalid(`${at}.type: Field required`)
  if (!blockTypes.has(type)) {
    throw invalid(`${at}: Input tag '${type}' found using 'type' does not match any of the expected tags`)
  }
  for (const field of requiredFields[type] ?? []) {
    if (block[field] === undefined) {
      throw invalid(`${at}.${type}.${field}: Field required`)
    }
  }
  checkPlace(type, role, at)
  if (type === 'text') checkText(String(block.text))
  if (type === 'image') checkImage(block, at)
  if (type === 'tool_use') checkCall(block, `${at}.tool_use`)
  if (type === 'tool_result') checkResult(block.content, at)
  return { ...block, type }
}

/** Calls of the history have names and ids that the API could have given. */
function checkCall({ name, id }: Record<string, unknown>, at: string): void {
  if (!/^[a-zA-Z0-9_-]+$/.test(String(id))) throw invalid(`${at}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`)
  if (String(name).length > 200) throw invalid(`${at}.name: String should have at most 200 characters`)
  if (/^[a-zA-Z0-9_-]+$/.test(String(name))) return
  throw invalid(`${at}.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`)
}

/** A result is a text, or a list of texts and pictures. */
function checkResult(content: unknown, at: string): void {
  if (content === undefined || typeof content === 'string') return
  if (!Array.isArray(content)) throw invalid(`${at}.tool_result.content: Input should be a valid list`)
  for (const [nth, inner] of content.entries()) {
    const path = `${at}.tool_result.content.${nth}`
    const { type } = checkBlock(inner, 'user', path)
    if (!resultTypes.has(type)) {
      throw invalid(`${path}: Input tag '${type}' found using 'type' does not match any of the expected tags`)
    }
  }
}

const resultTypes = new Set(['text', 'image', 'document', 'search_result'])

function checkPlace(type: string, role: string, at: string): void {
  if (type === 'tool_use' && role === 'user') {
    throw invalid(`${at}: \`tool_use\` blocks can only be in \`assistant\` messages`)
  }
  if (type === 'tool_result' && role === 'assistant') {
    throw invalid(`${at}: \`tool_result\` blocks can only be in \`user\` messages`)
  }
}

function checkText(text: string): void {
  if (text === '') throw invalid('messages: text content blocks must be non-empty')
  if (text.trim() === '') throw invalid('messages: text content blocks must contain non-whitespace text')
}

/** Only the last assistant message (a prefill) may be empty, and it may not end in white space. */
function checkEmptiness(messages: readonly RequestMessage[]): void {
  for (const [index, message] of messages.entries()) {
    const last = index === messages.length - 1 && message.role === 'assistant'
    if (message.content.length === 0 && !last) {
      throw invalid(
        `messages.${index}: all messages must have non-empty content except for the optional final assistant message`,
      )
    }
    const end = blocksOf(message).at(-1)
    if (last && end?.type === 'text' && /\s$/.test(end.text ?? '')) {
      throw invalid('messages: final assistant content cannot end with trailing whitespace')
    }
  }
}

/** Merges messages of one role in a row into one turn. */
function mergeRuns(messages: readonly RequestMessage[]): RequestMessage[] {
  const merged: RequestMessage[] = []
  for (const message of messages) {
    const previous = merged.at(-1)
    if (previous?.role === message.role) previous.content = [...blocksOf(previous), ...blocksOf(message)]
    else merged.push({ ...message })
  }
  return merged
}

function isToolBlock({ type }: ContentBlock): boolean {
  return type === 'tool_use' || type === 'tool_result'
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
