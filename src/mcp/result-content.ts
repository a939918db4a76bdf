import * as z from 'zod'
import type { Content, ContentPart } from '../core/content.ts'
import type { ToolContext } from '../core/turn.ts'

const base64 = z.string()
const resource = z.object({ uri: z.string(), mimeType: z.string().nullish() })
const PART = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), data: base64 }),
  z.object({ type: z.literal('audio'), data: base64 }),
  z.object({ type: z.literal('resource_link'), uri: z.string(), name: z.string().nullish() }),
  z.object({
    type: z.literal('resource'),
    resource: z.union([resource.extend({ text: z.string() }), resource.extend({ blob: base64 })]),
  }),
])
type ResultPart = z.output<typeof PART>

/** Parts of one result that are read; each file of it is kept. */
const MOST_PARTS = 50

/** Returns a result as content: texts as they are, files by their handles, and a line for what cannot be shown. */
export async function resultContent(result: unknown, keep: ToolContext['keep']): Promise<Content> {
  const { content, structuredContent } = z
    .object({ content: z.array(z.unknown()).catch([]), structuredContent: z.unknown().optional() })
    .catch({ content: [], structuredContent: undefined })
    .parse(result)
  const parts: ContentPart[] = []
  for (const one of content.slice(0, MOST_PARTS)) parts.push(await partOf(one, keep))
  if (content.length > MOST_PARTS) parts.push(words(`[${content.length - MOST_PARTS} more parts were left out]`))
  if (parts.length === 0 && structuredContent !== undefined) return [words(JSON.stringify(structuredContent))]
  return parts.length === 0 ? [words('Done; the server says nothing more.')] : parts
}

async function partOf(one: unknown, keep: ToolContext['keep']): Promise<ContentPart> {
  const { data } = PART.safeParse(one)
  if (data === undefined) return words('[a part that cannot be shown]')
  switch (data.type) {
    case 'text':
      return words(data.text)
    case 'image':
    case 'audio':
      return file(data.data, keep)
    case 'resource_link':
      return words(`[${data.name ?? 'a resource'}: ${data.uri}]`)
    case 'resource':
      return fromResource(data, keep)
  }
}

async function fromResource(
  { resource: found }: Extract<ResultPart, { type: 'resource' }>,
  keep: ToolContext['keep'],
): Promise<ContentPart> {
  return 'text' in found ? words(found.text) : file(found.blob, keep, found.uri.split('/').at(-1))
}

async function file(data: string, keep: ToolContext['keep'], name?: string): Promise<ContentPart> {
  try {
    return await keep(Buffer.from(data, 'base64'), name)
  } catch {
    return words('[a file that is too large to keep]')
  }
}

function words(text: string): ContentPart {
  return { type: 'text', text }
}
