import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import type { Content, ContentPart } from '../core/content.ts'
import { cutText } from '../core/cut-text.ts'
import { DOORS } from '../core/doors.ts'
import { measureJson, readJson } from '../core/read-json.ts'
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

/** Parts of one result that are read; each file of it is kept. */
const MOST_PARTS = 50
/** Values that are compared to find a text that says what the values beside it say. */
const MOST_COMPARED = 20_000

/**
 * Returns a result as content: texts as they are, files by their handles, and a line for what cannot be shown. Values
 * that a server gives besides its texts are added as JSON, unless a text has the same. Bytes in a text are kept as
 * files (C25). Everything else has its turn between two parts.
 */
export async function resultContent(result: unknown, keep: ToolContext['keep']): Promise<Content> {
  // The answer was parsed in this turn of the loop.
  await nextTurn()
  if (!isRecord(result)) return [words(NOTHING)]
  const { content: given, structuredContent, toolResult } = result
  const content = partsIn(given)
  if (content.length === 0 && structuredContent === undefined && toolResult !== undefined)
    return typeof toolResult === 'string' ? partsOfText(toolResult, keep) : resultContent(withContent(toolResult), keep)
  const others = content.length === 0 && structuredContent === undefined ? otherFields(result) : {}
  if (hasValues(others)) return otherPart(others, keep)
  const { parts, texts } = await readParts(content, keep)
  const shown = parts.filter((part) => part.type !== 'text' || part.text.trim() !== '')
  if (hasValues(structuredContent) && !(await isAmong(texts, structuredContent)))
    shown.push(...(await partsOfText(JSON.stringify(structuredContent), keep)))
  return shown.length === 0 ? [words(NOTHING)] : shown
}

/** Reads the parts that are kept; `texts`: those that are texts, as the server has written them. */
async function readParts(content: readonly unknown[], keep: ToolContext['keep']) {
  const parts: ContentPart[] = []
  const texts: string[] = []
  for (const one of content.slice(0, MOST_PARTS)) {
    const read = await partOf(one, keep)
    if (typeof read === 'string') texts.push(read)
    parts.push(...(typeof read === 'string' ? await partsOfText(read, keep) : read))
    await nextTurn()
  }
  if (content.length > MOST_PARTS) parts.push(words(`[${content.length - MOST_PARTS} more parts were left out]`))
  return { parts, texts }
}

const NOTHING = 'Done; the server says nothing more.'

/** Returns the parts of a result: some servers write one part, or a text alone, where the list belongs. */
function partsIn(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content
  return typeof content === 'string' || isRecord(content) ? [content] : []
}

/** Fields of a result without content that are shown. */
const MOST_FIELDS = 200

function otherFields(result: Readonly<Record<string, unknown>>): object {
  const names = Object.keys(result).filter((name) => !['content', 'toolResult', 'isError', '_meta'].includes(name))
  return Object.fromEntries(names.slice(0, MOST_FIELDS).map((name) => [name, result[name]]))
}

/** The oldest form (2024-10-07) of a result. */
function withContent(toolResult: unknown): unknown {
  const isResult = typeof toolResult === 'object' && toolResult !== null && 'content' in toolResult
  return isResult ? { content: toolResult.content } : { structuredContent: toolResult }
}

function hasValues(value: unknown): boolean {
  return typeof value === 'object' && value !== null
    ? Object.keys(value).length > 0
    : value !== undefined && value !== null
}

/** Returns true where one of the texts is JSON of the value; only one that has as many values is parsed. */
async function isAmong(texts: readonly string[], value: unknown): Promise<boolean> {
  const { values } = measureJson(JSON.stringify(value), DOORS.toolServer)
  let tries = Math.floor(MOST_COMPARED / values)
  for (const text of texts) {
    await nextTurn()
    const found = tries > 0 ? sameSized(text, values) : undefined
    if (found === undefined) continue
    tries--
    await nextTurn()
    if (isDeepStrictEqual(found, value)) return true
  }
  return false
}

function sameSized(text: string, values: number): unknown {
  try {
    return measureJson(text, { values }).values === values ? readJson(text, DOORS.toolServer) : undefined
  } catch {
    return undefined
  }
}

/** Returns a part of a result: a text, or the parts that stand for it. */
async function partOf(one: unknown, keep: ToolContext['keep']): Promise<string | readonly ContentPart[]> {
  const { data } = PART.safeParse(one)
  if (data === undefined) return otherPart(one, keep)
  switch (data.type) {
    case 'text':
      return data.text
    case 'image':
    case 'audio':
      return isBase64(data.data)
        ? [await file(data.data, keep)]
        : otherPart({ ...data, data: cutText(data.data, LONGEST_ADDRESS) }, keep)
    case 'resource_link':
      return [words(`[${data.name ?? 'a resource'}: ${data.uri}]`)]
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
async function otherPart(one: unknown, keep: ToolContext['keep']): Promise<readonly ContentPart[]> {
  if (typeof one === 'string') return partsOfText(one, keep)
  const { type, text, data, blob, name, filename, source, resource, mimeType } = isRecord(one) ? one : {}
  if (typeof text === 'string' && data === undefined && blob === undefined) return partsOfText(text, keep)
  const inside = [source, resource].find(isRecord) ?? {}
  const bytes = [data, blob, inside.data, inside.blob].find((value) => typeof value === 'string' && isBase64(value))
  const isFile = /^(image|audio|video|file|resource|blob)$/i.test(String(type)) || mimeType !== undefined
  if (isFile && typeof bytes === 'string')
    return [
      await file(
        bytes,
        keep,
        [name, filename].find((given) => typeof given === 'string'),
      ),
    ]
  const all = JSON.stringify(one) ?? String(one)
  const [shown = words(''), ...files] = await partsOfText(all, keep)
  if (shown.type !== 'text' || shown.text.length <= LONGEST_OTHER) return [shown, ...files]
  return [words(`${cutText(shown.text, LONGEST_OTHER)} […]`), ...files]
}

/** Characters at the beginning of a text that show if it is base64, and not an address. */
const LOOKED_AT = 1_000

function isBase64(text: string): boolean {
  const begin = text.slice(0, LOOKED_AT).replace(/^data:[^,]{0,200},/, '')
  return BASE64.test(begin.replace(/\s/g, ''))
}

async function fromResource(
  { resource: found }: Extract<ResultPart, { type: 'resource' }>,
  keep: ToolContext['keep'],
): Promise<string | readonly ContentPart[]> {
  return 'text' in found ? found.text : [await file(found.blob, keep, found.uri.split('/').at(-1))]
}

async function file(data: string, keep: ToolContext['keep'], name?: unknown): Promise<ContentPart> {
  try {
    const bytes = Buffer.from(data.replace(/^data:[^,]{0,200},/, ''), 'base64')
    return await keep(bytes, typeof name === 'string' ? name : undefined)
  } catch {
    return words(TOO_LARGE)
  }
}

const TOO_LARGE = '[a file that is too large to keep]'

/** The base64 of a file whose kind its first bytes show: pictures, PDF, archives and documents, sound, video. */
const KNOWN =
  /^(iVBORw0KGgo|[/_]9j[/_]|R0lGOD|UklGR|JVBERi0|UEsDB|H4sI|SUkqA|TU0AK|T2dnU|SUQz|ZkxhQ|GkXfo|0M8R4KGx|N3q8r|AAAA..?Z0eX)/
const DATA_URI = /data:[\w.+/-]{0,100}(?:;[\w.=+-]{1,100}){0,5};base64,$/i
/** Characters of base64 that are no more a word, an address or a small picture of a page. */
const LEAST_OF_A_FILE = 1_000
/** Files that are kept of the texts of one part. */
const MOST_FILES = 10

/**
 * Returns a text without the bytes of files in it, and those files: servers write screenshots as `data:` addresses,
 * and documents as base64 in JSON. What is short, or of no known kind, stays as it is.
 */
async function partsOfText(text: string, keep: ToolContext['keep']): Promise<readonly ContentPart[]> {
  if (isBinary(text)) return [words(`[${text.length} characters of a file that is no text were left out]`)]
  const files: ContentPart[] = []
  let without = ''
  let from = 0
  for (const [at, end] of longRuns(text)) {
    const data = base64At(text, at, end)
    if (data === undefined) continue
    await nextTurn()
    const part = files.length < MOST_FILES ? await file(data, keep) : words('[one more file was left out]')
    if (part.type !== 'text') files.push(part)
    without += text.slice(from, at) + (part.type === 'text' ? part.text : `[file ${files.length}, see below]`)
    from = end
  }
  return from === 0 ? [words(text)] : [words(without + text.slice(from)), ...files]
}

/** Returns the base64 of a file that stands at a place of a text; undefined where none does for sure. */
function base64At(text: string, at: number, end: number): string | undefined {
  const run = text.slice(at, end)
  const isUri = DATA_URI.test(text.slice(Math.max(0, at - 400), at))
  if (
    !isUri &&
    !KNOWN.test(
      run
        .slice(0, 40)
        .replace(/^(?:\\[nrt])+/, '')
        .replaceAll('\\', ''),
    )
  )
    return undefined
  return run.includes('\\') ? unescaped(run) : run
}

/** JSON may write `/`, `+`, `=` and an end of a line with a backslash. */
function unescaped(run: string): string {
  const written: Readonly<Record<string, string>> = { '2b': '+', '2f': '/', '3d': '=' }
  return run.replace(/\\(?:[nrt]|u00(2b|2f|3d))?/gi, (_, code = '') => written[code.toLowerCase()] ?? '')
}

/** Marks the characters of both alphabets of base64, and the backslash of JSON. */
const IN_RUN = new Uint8Array(128)
for (const one of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_\\') IN_RUN[one.charCodeAt(0)] = 1

/** Yields the places of base64 that is long enough for a file. A character is looked at twice at most. */
function* longRuns(text: string): Generator<readonly [at: number, end: number], void, void> {
  const isWhole = KNOWN.test(text.slice(0, 40)) && /^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(text)
  if (isWhole && text.length >= LEAST_OF_A_FILE) yield [0, text.length]
  if (isWhole) return
  let last = 0
  for (let probe = LEAST_OF_A_FILE - 1; probe < text.length; probe += LEAST_OF_A_FILE) {
    if (IN_RUN[text.charCodeAt(probe)] !== 1) continue
    let at = probe
    while (at > last && IN_RUN[text.charCodeAt(at - 1)] === 1) at--
    while (IN_RUN[text.charCodeAt(probe)] === 1) probe++
    last = probe
    if (probe - at >= LEAST_OF_A_FILE)
      yield [at, probe + (/^={0,2}/.exec(text.slice(probe, probe + 2))?.[0].length ?? 0)]
  }
}

/** Characters by which a text shows that it is none. */
const LOOKED_AT_AS_TEXT = 4_000

/** Returns true for the bytes of a file that a server has read as text: with NUL, and others that no text has. */
function isBinary(text: string): boolean {
  const begin = text.slice(0, LOOKED_AT_AS_TEXT)
  if (!begin.includes('\0')) return false
  return [...begin].filter(isOdd).length * 100 > begin.length
}

/** Returns true for the mark of what could not be decoded, and for controls but those of lines and colours. */
function isOdd(character: string): boolean {
  const code = character.charCodeAt(0)
  return code === 0xfffd || (code > 0 && code < 7) || (code > 13 && code < 32 && code !== 27)
}

function words(text: string): ContentPart {
  return { type: 'text', text }
}
