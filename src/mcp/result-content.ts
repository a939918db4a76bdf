import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import type { Content, ContentPart } from '../core/content.ts'
import { cutText } from '../core/cut-text.ts'
import { isRecord } from '../core/schema-node.ts'
import type { ToolContext } from '../core/turn.ts'

const base64 = z.string()
const resource = z.object({ uri: z.string().catch('a resource'), mimeType: z.string().nullish().catch(undefined) })
const PART = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), data: base64 }),
  z.object({ type: z.literal('audio'), data: base64 }),
  z.object({ type: z.literal('resource_link'), uri: z.string(), name: z.string().nullish().catch(undefined) }),
  z.object({
    type: z.literal('resource'),
    resource: z.union([resource.extend({ text: z.string() }), resource.extend({ blob: base64 })]),
  }),
])
type ResultPart = z.output<typeof PART>

/** A result with its parts. Some servers write one part, or a text alone, where the list belongs. */
const RESULT = z.looseObject({
  content: z
    .union([
      z.array(z.unknown()),
      z.string().transform((text) => [{ type: 'text', text }]),
      z.looseObject({}).transform((part) => [part]),
    ])
    .catch([]),
  structuredContent: z.unknown().optional(),
  /** The oldest form (2024-10-07). */
  toolResult: z.unknown().optional(),
})

/** Parts of one result that are read; each file of it is kept. */
const MOST_PARTS = 50

/**
 * Returns a result as content: texts as they are, files by their handles, and a line for what cannot be shown. Values
 * that a server gives besides its texts are added as JSON, unless a text has the same.
 */
export async function resultContent(result: unknown, keep: ToolContext['keep']): Promise<Content> {
  const { data } = RESULT.safeParse(result)
  if (data === undefined) return [words(NOTHING)]
  const { content, structuredContent, toolResult, isError: _error, _meta, ...others } = data
  if (content.length === 0 && structuredContent === undefined && toolResult !== undefined)
    return typeof toolResult === 'string' ? [words(toolResult)] : resultContent(withContent(toolResult), keep)
  if (content.length === 0 && structuredContent === undefined && hasValues(others))
    return [await otherPart(others, keep)]
  const parts: ContentPart[] = []
  for (const one of content.slice(0, MOST_PARTS)) parts.push(await partOf(one, keep))
  if (content.length > MOST_PARTS) parts.push(words(`[${content.length - MOST_PARTS} more parts were left out]`))
  const shown = parts.filter((part) => part.type !== 'text' || part.text.trim() !== '')
  if (hasValues(structuredContent) && !shown.some((part) => isSame(part, structuredContent)))
    shown.push(words(JSON.stringify(structuredContent)))
  return shown.length === 0 ? [words(NOTHING)] : shown
}

const NOTHING = 'Done; the server says nothing more.'

function withContent(toolResult: unknown): unknown {
  const isResult = typeof toolResult === 'object' && toolResult !== null && 'content' in toolResult
  return isResult ? { content: toolResult.content } : { structuredContent: toolResult }
}

function hasValues(value: unknown): boolean {
  return typeof value === 'object' && value !== null
    ? Object.keys(value).length > 0
    : value !== undefined && value !== null
}

function isSame(part: ContentPart, value: unknown): boolean {
  if (part.type !== 'text') return false
  try {
    return isDeepStrictEqual(JSON.parse(part.text), value)
  } catch {
    return false
  }
}

async function partOf(one: unknown, keep: ToolContext['keep']): Promise<ContentPart> {
  const { data } = PART.safeParse(one)
  if (data === undefined) return otherPart(one, keep)
  switch (data.type) {
    case 'text':
      return words(data.text)
    case 'image':
    case 'audio':
      return isBase64(data.data)
        ? file(data.data, keep)
        : otherPart({ ...data, data: cutText(data.data, LONGEST_ADDRESS) }, keep)
    case 'resource_link':
      return words(`[${data.name ?? 'a resource'}: ${data.uri}]`)
    case 'resource':
      return fromResource(data, keep)
  }
}

/** Characters of a part that are shown in the form in which they came. */
const LONGEST_OTHER = 4_000
/** Characters of a picture's data that are none, such as its address. */
const LONGEST_ADDRESS = 500
const BASE64 = /^[A-Za-z0-9+/_-]{16,}={0,2}$/

/**
 * Returns a part that is not as the protocol has it, as its fields say: a text, bytes, else all that it
 * says, as JSON.
 */
async function otherPart(one: unknown, keep: ToolContext['keep']): Promise<ContentPart> {
  if (typeof one === 'string') return words(one)
  const { type, text, data, blob, name, filename, source, resource, ...more } = isRecord(one) ? one : {}
  if (typeof text === 'string' && data === undefined && blob === undefined) return words(text)
  const inside = [source, resource].find(isRecord) ?? {}
  const bytes = [data, blob, inside.data, inside.blob].find((value) => typeof value === 'string' && isBase64(value))
  const isFile = /^(image|audio|video|file|resource|blob)$/i.test(String(type)) || 'mimeType' in more
  if (isFile && typeof bytes === 'string')
    return file(
      bytes,
      keep,
      [name, filename].find((given) => typeof given === 'string'),
    )
  const all = JSON.stringify(one) ?? String(one)
  return words(all.length <= LONGEST_OTHER ? all : `${cutText(all, LONGEST_OTHER)} […]`)
}

function isBase64(text: string): boolean {
  return BASE64.test(text.replace(/^data:[^,]{0,200},/, '').replace(/\s/g, ''))
}

async function fromResource(
  { resource: found }: Extract<ResultPart, { type: 'resource' }>,
  keep: ToolContext['keep'],
): Promise<ContentPart> {
  return 'text' in found ? words(found.text) : file(found.blob, keep, found.uri.split('/').at(-1))
}

async function file(data: string, keep: ToolContext['keep'], name?: unknown): Promise<ContentPart> {
  try {
    const bytes = Buffer.from(data.replace(/^data:[^,]{0,200},/, ''), 'base64')
    return await keep(bytes, typeof name === 'string' ? name : undefined)
  } catch {
    return words('[a file that is too large to keep]')
  }
}

function words(text: string): ContentPart {
  return { type: 'text', text }
}
