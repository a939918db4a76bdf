import { pieces } from '../texts.ts'
import type { ReplyMessage, SentBlock, Usage } from './reply-message.ts'

/** One server-sent event. A `delta` is a piece of content, at which a reply can be held or cut. */
export interface StreamEvent {
  readonly delta: boolean
  readonly data: { readonly type: string }
}

/** Yields the events of a streamed answer, in the order of the API. */
export function* streamEvents(
  message: ReplyMessage,
  split: (text: string) => readonly string[] = pieces,
): Generator<StreamEvent> {
  const { stop_reason, stop_sequence, stop_details, content, usage, ...head } = message
  const started = {
    ...head,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  }
  yield plain({ type: 'message_start', message: started })
  for (const [index, block] of content.entries()) {
    yield plain({ type: 'content_block_start', index, content_block: emptied(block) })
    if (index === 0) yield plain({ type: 'ping' })
    for (const delta of deltasOf(block, split)) {
      yield { delta: true, data: { type: 'content_block_delta', index, delta } as { type: string } }
    }
    yield plain({ type: 'content_block_stop', index })
  }
  const delta = { stop_reason, stop_sequence, stop_details, container: null }
  yield plain({ type: 'message_delta', delta, usage: finalUsage(usage) })
  yield plain({ type: 'message_stop' })
}

export function writeEvent(data: { readonly type: string }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
}

function finalUsage(usage: Usage): object {
  const { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens } = usage
  const unused = { output_tokens_details: null, server_tool_use: null }
  return { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens, ...unused }
}

function plain(data: { type: string; [field: string]: unknown }): StreamEvent {
  return { delta: false, data }
}

/** Returns a block as it is announced, before its content. */
function emptied(block: SentBlock): SentBlock {
  switch (block.type) {
    case 'text':
      return { ...block, text: '' }
    case 'tool_use':
      return { ...block, input: {} }
    case 'thinking':
      return { ...block, thinking: '', signature: '' }
  }
}

function* deltasOf(block: SentBlock, split: (text: string) => readonly string[]): Generator<object> {
  switch (block.type) {
    case 'text':
      for (const text of split(block.text)) yield { type: 'text_delta', text }
      return
    case 'tool_use':
      // The API opens every tool input with an empty piece.
      yield { type: 'input_json_delta', partial_json: '' }
      for (const partial_json of split(JSON.stringify(block.input))) yield { type: 'input_json_delta', partial_json }
      return
    case 'thinking':
      for (const thinking of split(block.thinking)) yield { type: 'thinking_delta', thinking }
      yield { type: 'signature_delta', signature: block.signature }
  }
}
