import type { MessagesRequest } from '../../src/rehearsal/anthropic/request.ts'
import { lastUserText, type ReplyBlock, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'

/** What the model is told of a call that must not run twice and may have run. */
export const UNKNOWN = 'interrupted, outcome unknown, check before repeating'

/** Asks for `calls` probes of one class, then says what it was told. */
export function asksFor(name: string, calls = 1): Script {
  const call: ReplyBlock = { type: 'tool_use', name, input: {} }
  const asking: readonly ReplyBlock[] = [{ type: 'text', text: 'Let me see.' }, ...Array(calls).fill(call)]
  return (request) => (toldOfTools(request) ? textReply(`told: ${lastUserText(request)}`) : { blocks: asking })
}

function toldOfTools({ messages }: MessagesRequest): boolean {
  const content = messages.at(-1)?.content ?? ''
  return typeof content !== 'string' && content.some(({ type }) => type === 'tool_result')
}
