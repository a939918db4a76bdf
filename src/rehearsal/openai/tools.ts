import { openAiSchema } from '../schema-rules.ts'
import { checkLength, emptyArray, invalid, missing, wrongType, wrongValue } from './api-error.ts'
import { isObject, type RequestMessage } from './request.ts'

const mostTools = 128
const mostNameLength = 64
const mostIdLength = 40

/** Checks the tools of a request and what it says of their choice. */
export function checkTools(tools: unknown, choice: unknown): void {
  if (tools === undefined) {
    if (choice === undefined) return
    throw invalid(
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      'tool_choice',
    )
  }
  if (!Array.isArray(tools)) throw wrongType('tools', 'an array of objects', tools)
  if (tools.length === 0) throw emptyArray('tools')
  if (tools.length > mostTools) {
    throw invalid(
      `Invalid 'tools': array too long. Expected an array with maximum length ${mostTools}, but got an array with length ${tools.length} instead.`,
      'tools',
      'array_above_max_length',
    )
  }
  for (const [index, tool] of tools.entries()) checkTool(tool, `tools[${index}]`)
}

function checkTool(tool: unknown, at: string): void {
  if (!isObject(tool)) throw wrongType(at, 'an object', tool)
  if (tool.type === undefined) throw missing(`${at}.type`)
  if (tool.type !== 'function') throw wrongValue(`${at}.type`, tool.type, ['function', 'custom'])
  const path = `${at}.function`
  if (!isObject(tool.function)) throw missing(path)
  const { name, parameters } = tool.function
  checkName(name, `${path}.name`)
  if (parameters === undefined) return
  if (!isObject(parameters)) throw wrongType(`${path}.parameters`, 'an object', parameters)
  const wrong = openAiSchema(parameters)
  if (wrong === undefined) return
  throw invalid(`Invalid schema for function '${name}': ${wrong}`, `${path}.parameters`, 'invalid_function_parameters')
}

function checkName(name: unknown, path: string): void {
  if (name === undefined) throw missing(path)
  if (typeof name !== 'string') throw wrongType(path, 'a string', name)
  checkLength(path, name, mostNameLength)
  if (/^[a-zA-Z0-9_-]+$/.test(name)) return
  throw invalid(
    `Invalid '${path}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
    path,
    'invalid_value',
  )
}

/** Checks the tool calls that an assistant message carries; OpenAI alone (`own`) limits the length of their ids. */
export function checkCalls(calls: unknown, at: string, own: boolean): void {
  const path = `${at}.tool_calls`
  if (!Array.isArray(calls)) throw wrongType(path, 'an array of objects', calls)
  if (calls.length === 0) throw emptyArray(path)
  for (const [nth, call] of calls.entries()) checkCall(call, `${path}[${nth}]`, own)
}

function checkCall(call: unknown, at: string, own: boolean): void {
  if (!isObject(call)) throw wrongType(at, 'an object', call)
  for (const field of ['id', 'type', 'function']) if (call[field] === undefined) throw missing(`${at}.${field}`)
  if (typeof call.id !== 'string') throw wrongType(`${at}.id`, 'a string', call.id)
  if (own) checkLength(`${at}.id`, call.id, mostIdLength)
  if (call.type !== 'function') throw wrongValue(`${at}.type`, call.type, ['function', 'custom'])
  if (!isObject(call.function)) throw wrongType(`${at}.function`, 'an object', call.function)
  checkName(call.function.name, `${at}.function.name`)
  if (call.function.arguments === undefined) throw missing(`${at}.function.arguments`)
  if (typeof call.function.arguments !== 'string') {
    throw wrongType(`${at}.function.arguments`, 'a string', call.function.arguments)
  }
}

/**
 * Checks that tool messages follow right after the assistant message with their calls, each call answered once and none
 * left open.
 */
export function checkToolPairs(messages: readonly RequestMessage[]): void {
  let open: { readonly ids: Set<string>; readonly all: ReadonlySet<string> } | undefined
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      checkAnswer(message, open, index)
      open?.ids.delete(message.tool_call_id ?? '')
      continue
    }
    checkAllAnswered(open?.ids, index)
    const ids = (message.tool_calls ?? []).map(({ id }) => id)
    open = ids.length === 0 ? undefined : { ids: new Set(ids), all: new Set(ids) }
  }
  checkAllAnswered(open?.ids, messages.length)
}

function checkAnswer(
  { tool_call_id: id = '' }: RequestMessage,
  open: { readonly ids: ReadonlySet<string>; readonly all: ReadonlySet<string> } | undefined,
  index: number,
): void {
  const at = `messages.[${index}]`
  if (open === undefined) {
    throw invalid(
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      `${at}.role`,
    )
  }
  if (!open.all.has(id)) {
    throw invalid(
      `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`,
      `${at}.tool_call_id`,
    )
  }
  if (open.ids.has(id)) return
  throw invalid(`Duplicate value for 'tool_call_id' of '${id}' in message[${index}].`, `${at}.tool_call_id`)
}

function checkAllAnswered(ids: ReadonlySet<string> | undefined, index: number): void {
  if (ids === undefined || ids.size === 0) return
  throw invalid(
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
      `The following tool_call_ids did not have response messages: ${[...ids].join(', ')}`,
    `messages.[${index}].role`,
  )
}
