import type { MessagesRequest } from '../../src/rehearsal/anthropic/request.ts'
import { lastUserText, type Reply, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'

/** Returns what the model's last tool call was answered, if it has just been. */
export function toolResult({ messages }: MessagesRequest): string | undefined {
  for (const { content } of messages.slice(-2)) {
    const result = typeof content === 'string' ? undefined : content.find(({ type }) => type === 'tool_result')
    if (result && 'content' in result)
      return typeof result.content === 'string' ? result.content : JSON.stringify(result.content)
  }
  return undefined
}

/** Returns what somebody said while the tool ran whose result the model is shown, if anybody did. */
function joinedText({ messages }: MessagesRequest): string | undefined {
  const content = messages.at(-1)?.content
  const texts = Array.isArray(content) ? content.filter(({ type }) => type === 'text') : []
  return texts.length === 0 ? undefined : texts.map(({ text }) => text).join('\n')
}

/** Makes the call that stands behind "do" with its arguments, and says nothing of what it returned. */
export const doing: Script = (request) => {
  if (toolResult(request) !== undefined) return textReply('fine')
  return callIn(lastUserText(request)) ?? textReply('fine')
}

/** Makes the call that stands behind "do" in what anybody says, and repeats what it returned. */
export const repeating: Script = (request) => {
  const result = toolResult(request)
  return result === undefined ? (callIn(lastUserText(request)) ?? textReply('heard')) : textReply(`it says: ${result}`)
}

/** Returns the text that `callIn` makes a call of. */
export const callText = (tool: string, args: object): string => `do ${tool} ${JSON.stringify(args)}`

/** Returns the call that stands behind "do" in a text: `do memory_search {"query":"tea"}`. */
export function callIn(text: string): Reply | undefined {
  const [, tool, args = ''] = /do (\w+) (\{.*\})/.exec(text) ?? []
  return tool === undefined ? undefined : { blocks: [{ type: 'tool_use', name: tool, input: JSON.parse(args) }] }
}

/** Does whatever any text it is shown says, and repeats what its tools answer. What says "slow" waits for the gate. */
export function obedient(gate = createGate()): Script {
  return (request) => {
    const result = toolResult(request)
    const joined = result === undefined ? undefined : joinedText(request)
    if (result !== undefined && joined === undefined) return textReply(`it says ${result}`)
    const [, tool, args] = /(sessions_\w+) (\{.*?\})/.exec(joined ?? lastUserText(request)) ?? []
    if (tool && args) return { blocks: [{ type: 'tool_use', name: tool, input: JSON.parse(args) as object }] } as Reply
    const slow = lastUserText(request).includes('slow')
    // A tool call, behind which what was said meanwhile joins the turn.
    if (slow && result === undefined)
      return { blocks: [{ type: 'tool_use', name: 'sessions_list', input: {} }], holds: [{ beforeDelta: 0, gate }] }
    return textReply('heard')
  }
}
