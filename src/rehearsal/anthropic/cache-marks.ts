import { invalid } from './api-error.ts'
import { isUnmarkable, type Ttl, ttlOf } from './prompt-blocks.ts'

/** A block that may carry a mark, wherever it lies. */
interface MarkedBlock {
  readonly place: string
  /** The place, and the tag of the type where the API says it. */
  readonly path: string
  readonly fields: Readonly<Record<string, unknown>>
}

const mostMarks = 4

/** Checks every `cache_control` of a body whose other shapes need not be valid yet. */
export function checkCacheMarks(body: Readonly<Record<string, unknown>>): void {
  const blocks = blocksIn(body)
  const marked = blocks.filter(({ fields }) => isSet(fields.cache_control))
  for (const block of marked) checkMark(block)
  const automatic = body.cache_control
  if (isSet(automatic)) checkControl(automatic, 'cache_control')
  checkCount(marked.length, addsMark(blocks, automatic))
  checkOrder(marked, automatic)
}

/** Returns true if the automatic mark takes a place of its own. */
function addsMark(blocks: readonly MarkedBlock[], automatic: unknown): boolean {
  const target = blocks
    .filter(({ path }) => !path.includes('.tool_result.'))
    .findLast((one) => !isUnmarkable(one.fields))
  if (!isSet(automatic) || target === undefined) return false
  const own = target.fields.cache_control
  if (!isSet(own)) return true
  // The documentation promises the refusal but not its words.
  if (ttlOf(own) !== ttlOf(automatic)) {
    throw invalid('cache_control: the last block has a cache_control with a different ttl')
  }
  return false
}

function checkCount(explicit: number, automatic: boolean): void {
  const found = explicit + (automatic ? 1 : 0)
  if (found <= mostMarks) return
  throw invalid(`A maximum of ${mostMarks} blocks with cache_control may be provided. Found ${found}.`)
}

/** A longer life must not come after a shorter one. */
function checkOrder(marked: readonly MarkedBlock[], automatic: unknown): void {
  const marks = marked.map(({ place, fields }) => ({ place: `${place}.`, ttl: ttlOf(fields.cache_control) }))
  let before: Ttl | undefined
  for (const { place, ttl } of [...marks, { place: '', ttl: ttlOf(automatic) }]) {
    if (ttl === '1h' && before === '5m') {
      throw invalid(
        `${place}cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. ` +
          'Note that blocks are processed in the following order: `tools`, `system`, `messages`.',
      )
    }
    before = ttl
  }
}

function checkMark({ path, place, fields }: MarkedBlock): void {
  if (fields.type === 'text' && fields.text === '') {
    throw invalid(`${place}.text: cache_control cannot be set for empty text blocks`)
  }
  if (isUnmarkable(fields)) throw invalid(`${path}.cache_control: Extra inputs are not permitted`)
  checkControl(fields.cache_control, `${path}.cache_control`)
}

function checkControl(control: unknown, path: string): void {
  if (!isObject(control)) throw invalid(`${path}: Input should be a valid dictionary or object to extract fields from`)
  const { type, ttl, ...more } = control
  if (type === undefined) throw invalid(`${path}: Unable to extract tag using discriminator 'type'`)
  if (type !== 'ephemeral') {
    throw invalid(
      `${path}: Input tag '${type}' found using 'type' does not match any of the expected tags: 'ephemeral'`,
    )
  }
  if (ttl !== undefined && ttl !== '5m' && ttl !== '1h') {
    throw invalid(`${path}.ephemeral.ttl: Input should be '5m' or '1h'`)
  }
  for (const field of Object.keys(more)) throw invalid(`${path}.ephemeral.${field}: Extra inputs are not permitted`)
}

function blocksIn(body: Readonly<Record<string, unknown>>): MarkedBlock[] {
  const tools = objectsIn(body.tools, 'tools').map(({ place, fields }) => ({ place, fields, path: `${place}.custom` }))
  const system = objectsIn(body.system, 'system').map(({ place, fields }) => ({ place, fields, path: place }))
  const messages = objectsIn(body.messages, 'messages').flatMap(({ place, fields }) =>
    contentIn(fields.content, `${place}.content`),
  )
  return [...tools, ...system, ...messages]
}

/** Lists the parts of a tool result behind it: they carry marks as well. A plain string is a text that carries none. */
function contentIn(content: unknown, at: string): MarkedBlock[] {
  if (typeof content === 'string') return [{ path: at, place: at, fields: { type: 'text', text: content } }]
  return objectsIn(content, at).flatMap(({ place, fields }) => {
    const path = `${place}.${String(fields.type)}`
    const parts = fields.type === 'tool_result' && Array.isArray(fields.content) ? fields.content : []
    return [{ place, path, fields }, ...contentIn(parts, `${path}.content`)]
  })
}

function objectsIn(list: unknown, at: string): { place: string; fields: Record<string, unknown> }[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((fields, index) => (isObject(fields) ? [{ place: `${at}.${index}`, fields }] : []))
}

function isSet(control: unknown): boolean {
  return control !== undefined && control !== null
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
