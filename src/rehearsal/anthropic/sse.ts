import { pieces } from '../texts.ts'
import type { ReplyMessage, SentBlock, Usage } from './reply-message.ts'
import type { Quirks } from './script.ts'

/** One server-sent event. A `delta` is a piece of content, at which a reply can be held or cut. */
export interface StreamEvent {
  readonly delta: boolean
  readonly data: { readonly type: string }
}

export interface Streaming {
  readonly message: ReplyMessage
  readonly split?: ((text: string) => readonly string[]) | undefined
  readonly quirks?: Quirks
}

/** Yields the events of a streamed answer, in the order of the API. */
export function* streamEvents({ message, split = pieces, quirks = {} }: Streaming): Generator<StreamEvent> {
  const { stop_reason, stop_sequence, stop_details, content, usage, ...head } = message
  const started = {
    ...head,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  }
  yield plain({ type: 'message_start', message: started })
  if (quirks.startsTwice) yield plain({ type: 'message_start', message: started })
  const blocks = content.map((block, index) => [...blockEvents(block, { index, split, quirks })])
  yield* quirks.interleaved ? byTurns(blocks) : blocks.flat()
  const delta = { stop_reason, stop_sequence, stop_details, container: null }
  yield plain({ type: 'message_delta', delta, usage: finalUsage(usage) })
  yield plain({ type: 'message_stop' })
}

export function writeEvent(data: { readonly type: string }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
}

interface BlockPlace {
  readonly index: number
  readonly split: (text: string) => readonly string[]
  readonly quirks: Quirks
}

function* blockEvents(block: SentBlock, { index, split, quirks }: BlockPlace): Generator<StreamEvent> {
  const whole = quirks.inputAtStart === true && block.type === 'tool_use'
  yield plain({ type: 'content_block_start', index, content_block: whole ? block : emptied(block, quirks) })
  if (index === 0) yield plain({ type: 'ping' })
  for (const delta of whole ? [] : deltasOf(block, split)) {
    yield { delta: true, data: { type: 'content_block_delta', index, delta } as { type: string } }
  }
  if (!quirks.unended) yield plain({ type: 'content_block_stop', index })
}

/** Yields an event of each block in turn. */
function* byTurns(blocks: readonly (readonly StreamEvent[])[]): Generator<StreamEvent> {
  const longest = Math.max(0, ...blocks.map(({ length }) => length))
  for (let nth = 0; nth < longest; nth++) {
    for (const events of blocks) {
      const event = events[nth]
      if (event !== undefined) yield event
    }
  }
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
function emptied(block: SentBlock, { noInput }: Quirks): object {
  switch (block.type) {
    case 'text':
      return { ...block, text: '' }
    case 'tool_use': {
      const { input: _, ...named } = block
      return noInput ? named : { ...block, input: {} }
    }
    case 'thinking':
      return { ...block, thinking: '', ...(block.signature === undefined ? {} : { signature: '' }) }
    case 'redacted_thinking':
      return block
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
      for (const thinking of block.thinking === '' ? [] : split(block.thinking))
        yield { type: 'thinking_delta', thinking }
      if (block.signature !== undefined) yield { type: 'signature_delta', signature: block.signature }
      return
    case 'redacted_thinking':
      return
  }
}
