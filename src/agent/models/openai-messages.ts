import type { ContentPart } from '../../core/content.ts'
import { inWords, nameOf } from '../../core/content-words.ts'
import type { ModelMessage, ModelToolResult, ToolSpec } from '../../core/model.ts'
import { type Images, NO_IMAGES } from './load-images.ts'
import { argumentsObject } from './tool-arguments.ts'

/** The subset of the Chat Completions API that is ever sent. */
export type ChatMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | ShownPart[] }
  | { role: 'assistant'; content: string | null; tool_calls?: WireCall[] }
  | { role: 'tool'; tool_call_id: string; content: string }

type ShownPart = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } }

interface WireCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

interface WireTool {
  type: 'function'
  function: { name: string; description: string; parameters: Record<string, unknown> }
}

/**
 * Translates our messages, the system prompt in front. What users say in a row is merged, because local servers demand
 * that roles alternate; text alone is a string, because many of them know no other. The pictures of tool results follow
 * in a user message, because tool messages carry text only.
 */
export function toWireMessages(
  system: string,
  messages: readonly ModelMessage[],
  images: Images = NO_IMAGES,
): ChatMessage[] {
  const wire: ChatMessage[] = system === '' ? [] : [{ role: 'system', content: system }]
  let said: ShownPart[] = []
  const flush = (): void => {
    if (said.length > 0) wire.push({ role: 'user', content: textAlone(said) ?? said })
    said = []
  }
  for (const message of messages) {
    if (message.role === 'user') {
      const parts = message.content.flatMap((part) => shown(part, images))
      said.push(...(parts.length === 0 ? [textPart('(a message without text)')] : parts))
      continue
    }
    const translated = message.role === 'assistant' ? assistantMessage(message) : message.results.map(toolMessage)
    if (translated.length > 0) flush()
    wire.push(...translated)
    if (message.role === 'tool') said.push(...message.results.flatMap((result) => picturesOf(result, images)))
  }
  flush()
  return wire
}

export function toWireTools(tools: readonly ToolSpec[]): WireTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    // The API refuses an object whose properties are not named, even if it has none.
    function: { name, description, parameters: { properties: {}, ...parameters, type: 'object' } },
  }))
}

/** One that says nothing and calls nothing is left out. */
function assistantMessage({ text, calls }: Extract<ModelMessage, { role: 'assistant' }>): ChatMessage[] {
  const content = text.trim() === '' ? null : text
  if (calls.length === 0) return content === null ? [] : [{ role: 'assistant', content }]
  const asked = calls.map<WireCall>(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(argumentsObject(args)) },
  }))
  return [{ role: 'assistant', content, tool_calls: asked }]
}

function toolMessage({ id, content }: ModelToolResult): ChatMessage {
  const words = inWords(content)
  return { role: 'tool', tool_call_id: id, content: words.trim() === '' ? '(no output)' : words }
}

/** Returns the pictures of a result, each under the name by which its tool message speaks of it. */
function picturesOf({ content }: ModelToolResult, images: Images): ShownPart[] {
  return content.flatMap((part) => {
    const parts = part.type === 'text' ? [] : shown(part, images)
    return part.type !== 'text' && parts.some(({ type }) => type === 'image_url')
      ? [textPart(`From a tool: ${nameOf(part)}`), ...parts]
      : []
  })
}

/** Files that are not shown are named in words. */
function shown(part: ContentPart, images: Images): ShownPart[] {
  if (part.type === 'text') return part.text.trim() === '' ? [] : [textPart(part.text)]
  const data = images.get(part.media)
  if (data === undefined) return [textPart(nameOf(part))]
  return [{ type: 'image_url', image_url: { url: `data:${part.mime};base64,${data}` } }]
}

/** Undefined where there is a picture among the parts. */
function textAlone(parts: readonly ShownPart[]): string | undefined {
  const texts = parts.flatMap((part) => (part.type === 'text' ? part.text : []))
  return texts.length === parts.length ? texts.join('\n') : undefined
}

function textPart(text: string): ShownPart {
  return { type: 'text', text }
}
