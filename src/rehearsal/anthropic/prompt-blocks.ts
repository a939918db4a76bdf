import type { Content, ContentBlock, MessagesRequest } from './request.ts'

export type Level = 'tools' | 'system' | 'messages'

/** The life of a marked prefix. */
export type Ttl = '5m' | '1h'

/** One block of a prompt, in the order in which the model reads it: tools, system, messages. */
export interface PromptBlock {
  readonly level: Level
  readonly type: string
  /** The block in one form for equal blocks, its mark left out. */
  readonly canonical: string
  readonly tokens: number
  /** The mark on this block, or on a part of it. */
  readonly mark: Ttl | undefined
  /** False for thoughts and empty texts. */
  readonly markable: boolean
}

const charactersPerToken = 4
/** The API scales larger pictures down until they cost about this much. */
const mostImageTokens = 1_600
const imageBytesPerToken = 64

/** Returns the blocks of a valid request with their estimated tokens and marks, the automatic mark among them. */
export function promptBlocks(request: MessagesRequest): PromptBlock[] {
  const tools = (request.tools ?? []).map((tool) => blockOf('tools', '', { ...tool, type: tool.type ?? 'custom' }))
  const system = contentBlocks(systemOf(request)).map((block) => blockOf('system', '', block))
  const messages = request.messages.flatMap(({ role, content }) =>
    contentBlocks(content).map((block) => blockOf('messages', role, block)),
  )
  return withAutomatic([...tools, ...system, ...messages], request.cache_control)
}

/** Returns true where the API puts no mark by itself and accepts none. */
export function isUnmarkable({ type, text }: { type?: unknown; text?: unknown }): boolean {
  return type === 'thinking' || type === 'redacted_thinking' || (type === 'text' && text === '')
}

/** Returns true if a picture is anywhere in the prompt, which decides about all messages of a cached prefix. */
export function hasImages({ messages }: MessagesRequest): boolean {
  const isImage = (block: ContentBlock): boolean =>
    block.type === 'image' || (Array.isArray(block.content) && block.content.some(isImage))
  return messages.some(({ content }) => contentBlocks(content).some(isImage))
}

/** Returns the lifetime a `cache_control` asks for; undefined without one. */
export function ttlOf(control: unknown): Ttl | undefined {
  if (typeof control !== 'object' || control === null) return undefined
  return 'ttl' in control && control.ttl === '1h' ? '1h' : '5m'
}

function systemOf({ system }: MessagesRequest): Content {
  return typeof system === 'string' || Array.isArray(system) ? system : ''
}

/** A plain string is one text block; an empty one is none. */
function contentBlocks(content: Content): ContentBlock[] {
  if (typeof content !== 'string') return content
  return content === '' ? [] : [{ type: 'text', text: content }]
}

function blockOf(level: Level, role: string, block: object & { type: string }): PromptBlock {
  const { cache_control, ...fields } = block as ContentBlock
  const parts = fields.content === undefined ? undefined : contentBlocks(fields.content)
  const bare = parts === undefined ? fields : { ...fields, content: parts.map(withoutMark) }
  const marks = [cache_control, ...(parts ?? []).map((part) => part.cache_control)]
  return {
    level,
    type: block.type,
    // The order of the fields says nothing, but that of a tool's input or schema does.
    canonical: JSON.stringify([role, Object.entries(bare).sort(([one], [other]) => (one < other ? -1 : 1))]),
    tokens: tokensOf(bare),
    mark: marks.map(ttlOf).find((ttl) => ttl !== undefined),
    markable: !isUnmarkable(fields),
  }
}

function withoutMark({ cache_control: _, ...fields }: ContentBlock): ContentBlock {
  return fields
}

/** Estimates four characters a token, and pictures by their bytes. */
function tokensOf(block: ContentBlock): number {
  switch (block.type) {
    case 'text':
      return tokensIn(block.text ?? '')
    case 'thinking':
      return tokensIn(block.thinking ?? '')
    case 'tool_use':
      return tokensIn(`${block.name}${JSON.stringify(block.input)}`)
    case 'tool_result':
      return contentBlocks(block.content ?? '').reduce((sum, part) => sum + tokensOf(part), 1)
    case 'image':
      return imageTokens(block)
    default:
      return tokensIn(JSON.stringify(block))
  }
}

export function tokensIn(text: string): number {
  return Math.max(1, Math.ceil(text.length / charactersPerToken))
}

function imageTokens(block: ContentBlock & { source?: { data?: string } }): number {
  const bytes = ((block.source?.data?.length ?? Number.POSITIVE_INFINITY) * 3) / 4
  return Math.min(mostImageTokens, Math.ceil(bytes / imageBytesPerToken))
}

/** The automatic mark goes to the last block that can carry one, unless that has its own. */
function withAutomatic(blocks: PromptBlock[], control: unknown): PromptBlock[] {
  const ttl = ttlOf(control)
  const last = blocks.findLastIndex(({ markable }) => markable)
  return blocks.map((block, index) => (index === last ? { ...block, mark: block.mark ?? ttl } : block))
}
