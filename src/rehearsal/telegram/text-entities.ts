import type { ApiEntity } from './api-types.ts'

/** The entities the platform finds in plain text by itself, in messages of people and the bot alike. */
const found =
  /(?<=^|[^\w@/])(?:(?<mention>@[A-Za-z][A-Za-z0-9_]{2,31})(?![\w])|(?<bot_command>\/[A-Za-z0-9_]{1,64}(?:@[A-Za-z][A-Za-z0-9_]{2,31})?)(?![\w/])|(?<hashtag>#[\p{L}\p{N}_]*\p{L}[\p{L}\p{N}_]*)|(?<url>https?:\/\/[^\s<>"]+[^\s<>".,;:!?)]))/gu

const mayHold = /[@/#]/
const opaque = new Set(['code', 'pre', 'text_link', 'text_mention'])

export function findEntities(text: string): ApiEntity[] {
  if (!mayHold.test(text)) return []
  const entities: ApiEntity[] = []
  for (const match of text.matchAll(found)) {
    const type = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined)?.[0]
    if (type !== undefined) entities.push({ type, offset: match.index, length: match[0].length })
  }
  return entities
}

/** Adds the found entities to those of the markup; code and links are not searched. */
export function withFoundEntities(text: string, marked: ApiEntity[]): ApiEntity[] {
  const blocked = marked.filter((entity) => opaque.has(entity.type))
  const free = findEntities(text).filter((entity) => !blocked.some((other) => overlaps(entity, other)))
  if (free.length === 0 && marked.length < 2) return marked
  return [...marked, ...free].sort((a, b) => a.offset - b.offset || b.length - a.length)
}

function overlaps(a: ApiEntity, b: ApiEntity): boolean {
  return a.offset < b.offset + b.length && b.offset < a.offset + a.length
}
