import { badRequest } from './api-error.ts'
import type { ApiEntity } from './api-types.ts'
import { HtmlParseError, parseHtml } from './html-entities.ts'
import type { Params } from './params.ts'
import { isRecord, structureParam, textParam } from './params.ts'
import { withFoundEntities } from './text-entities.ts'

export interface FormattedText {
  text: string
  entities: ApiEntity[]
}

export interface TextRules {
  strictHtml: boolean
  /** The server's message for a text over the limit; it differs between sending and editing. */
  tooLong: string
  /** UTF-16 units after entity parsing; those of a message if absent. */
  most?: number
  unrehearsed(what: string): void
}

/** UTF-16 units after entity parsing. */
const maxTextLength = 4096
/** More entities than this are dropped without an error, as on the platform. */
const maxEntities = 100

/** Reads `text` with `parse_mode` or `entities` and cleans it. Throws for a text that cannot be sent. */
export function readText(params: Params, rules: TextRules): FormattedText {
  const source = textParam(params, 'text')
  if (source === undefined) throw badRequest('message text is empty')
  if (/\p{Surrogate}/u.test(source)) throw badRequest('text must be encoded in UTF-8')
  const trimmed = trim(parse(clean(source), params, rules))
  if (trimmed.text === '') throw badRequest('message text is empty')
  if (trimmed.text.length > (rules.most ?? maxTextLength)) throw badRequest(rules.tooLong)
  return { text: trimmed.text, entities: withFoundEntities(trimmed.text, trimmed.entities).slice(0, maxEntities) }
}

function parse(source: string, params: Params, rules: TextRules): FormattedText {
  const mode = (textParam(params, 'parse_mode') ?? '').toLowerCase()
  if (mode === '' || mode === 'none') return { text: source, entities: readEntities(params, source.length) }
  if (mode === 'html') return parseAsHtml(source, rules.strictHtml)
  if (mode !== 'markdown' && mode !== 'markdownv2') throw badRequest('unsupported parse_mode')
  rules.unrehearsed(`parse_mode ${mode}`)
  throw badRequest(`parse_mode ${mode} is not rehearsed; use HTML or entities`)
}

function parseAsHtml(source: string, strict: boolean): FormattedText {
  try {
    const parsed = parseHtml(source, strict)
    for (const entity of parsed.entities) if (entity.type === 'code') delete entity.language
    return parsed
  } catch (error) {
    if (error instanceof HtmlParseError) throw badRequest(`can't parse entities: ${error.message}`)
    throw error
  }
}

function readEntities(params: Params, textLength: number): ApiEntity[] {
  const given = structureParam(params, 'entities')
  if (given === undefined) return []
  if (!Array.isArray(given)) throw badRequest("can't parse entities: expected an Array of MessageEntity")
  return given.map(readEntity).filter((entity) => entity.offset < textLength)
}

function readEntity(value: unknown): ApiEntity {
  if (!isRecord(value)) throw badRequest("can't parse MessageEntity: expected an Object")
  const { type, offset, length } = value
  if (typeof type !== 'string' || typeof offset !== 'number' || typeof length !== 'number') {
    throw badRequest("can't parse MessageEntity: type, offset and length are required")
  }
  return { ...value, type, offset, length }
}

/** Removes carriage returns, and replaces other control characters by spaces. */
function clean(source: string): string {
  if (!/\p{Cc}/u.test(source)) return source
  return source.replace(/\r/g, '').replace(/\p{Cc}/gu, (char) => (char === '\n' || char > '\u007e' ? char : ' '))
}

/** Removes white space around the text; in front only as far as the first entity begins. */
function trim({ text, entities }: FormattedText): FormattedText {
  const end = text.trimEnd().length
  const first = entities.reduce((least, entity) => Math.min(least, entity.offset), end)
  const start = Math.min(text.length - text.trimStart().length, first)
  if (start === 0 && end === text.length) return { text, entities }
  const kept = entities
    .map((entity) => ({
      ...entity,
      offset: entity.offset - start,
      length: Math.min(entity.length, end - entity.offset),
    }))
    .filter((entity) => entity.length > 0)
  return { text: text.slice(start, end), entities: kept }
}
