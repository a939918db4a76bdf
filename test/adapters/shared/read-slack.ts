import { type Reading, ReadingBuilder } from './reading.ts'

const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' }
const FENCE = /```\n?([\s\S]*?)\n?```\n?/y
const LINK = /<([^<>|\s]+)(?:\|([^<>]*))?>/y
const CODE = /`([^`\n]+)`/y
const EMOJI = /(?<!\w:):(?:[abovmx]|100|1234|us|de|it|key):/y
/** What the platform itself would link: up to the next space, marks and all. */
const ADDRESS = /https?:\/\/[^\s<>|]+/y
/** Marks work at the borders of words, on one line; an invisible space is such a border. */
const BORDER = /[\p{L}\p{N}_]/u

/** Reads mrkdwn as Slack's client does; throws where the platform would read something into the words. */
export function readSlack(source: string): Reading {
  const found = new ReadingBuilder()
  for (let at = 0; at < source.length; ) {
    const fence = matchAt(FENCE, source, at)
    if (fence !== undefined && (at === 0 || source[at - 1] === '\n')) {
      found.addBlock(unescaped(fence[1] ?? ''))
      at += fence[0].length
      if (at < source.length && fence[0].endsWith('\n')) found.add('\n')
      continue
    }
    const end = `${source}\n`.indexOf('\n', at)
    found.take(lineOf(source.slice(at, end)))
    if (end < source.length) found.add('\n')
    at = end + 1
  }
  return found.done()
}

function lineOf(line: string): Reading {
  if (line.startsWith('&gt;')) throw new Error(`a quote that is none: ${line}`)
  return inline(line.replace(/^> /, ''))
}

function inline(line: string): Reading {
  const found = new ReadingBuilder()
  for (let at = 0; at < line.length; ) at += token(line, at, found)
  return found
}

function token(line: string, at: number, found: ReadingBuilder): number {
  const entity = /&(?:lt|gt|amp);/y
  const escaped = matchAt(entity, line, at)
  if (escaped !== undefined) {
    found.add(ENTITIES[escaped[0]] ?? '')
    return escaped[0].length
  }
  const link = matchAt(LINK, line, at)
  if (link !== undefined) {
    if (/^[!@#]/.test(link[1] ?? '')) throw new Error(`a mention: ${line}`)
    found.add(unescaped(link[2] ?? link[1] ?? ''))
    found.links.push(unescaped(link[1] ?? '').replaceAll('%7C', '|'))
    return link[0].length
  }
  if (matchAt(EMOJI, line, at)) throw new Error(`an emoji: ${line}`)
  const address = matchAt(ADDRESS, line, at)
  if (address !== undefined) throw new Error(`an address the platform would cut by itself: ${line}`)
  const code = matchAt(CODE, line, at)
  if (code !== undefined) {
    found.add(unescaped(code[1] ?? ''))
    found.code.push(unescaped(code[1] ?? '').replaceAll('\u200b', ''))
    return code[0].length
  }
  return styled(line, at, found)
}

function styled(line: string, at: number, found: ReadingBuilder): number {
  const mark = line[at] ?? ''
  const end = '*_~'.includes(mark) ? closing(line, at, mark) : -1
  if (end === -1) {
    found.add(mark)
    return 1
  }
  const inside = inline(line.slice(at + 1, end))
  if (mark === '*') found.bold.push(inside.text)
  if (mark === '_') found.italic.push(inside.text)
  found.take(inside)
  return end + 1 - at
}

function closing(line: string, at: number, mark: string): number {
  if (BORDER.test(line[at - 1] ?? ' ') || /[\s\u200b]/.test(line[at + 1] ?? ' ') || line[at + 1] === mark) return -1
  // No mark within the brackets of an address or within code counts.
  const bare = line.replace(/<[^<>]*>|`[^`]+`/g, (whole) => ')'.repeat(whole.length))
  for (let end = bare.indexOf(mark, at + 2); end !== -1; end = bare.indexOf(mark, end + 1)) {
    if (!/\s/.test(line[end - 1] ?? ' ') && !BORDER.test(line[end + 1] ?? ' ') && line[end + 1] !== mark) return end
  }
  return -1
}

function unescaped(text: string): string {
  return text.replace(/&(?:lt|gt|amp);/g, (entity) => ENTITIES[entity] ?? entity)
}

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at
  return pattern.exec(source) ?? undefined
}
