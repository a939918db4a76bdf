import { type Reading, ReadingBuilder } from './reading.ts'

/** Known emoji whose names could stand in a text by accident. */
const EMOJI = /:(?:[abovmx]|100|1234|rocket|tada|memo|us|de|it|key):/y

const ESCAPE = /\\([^0-9A-Za-z\s])/y
const AUTOLINK = /<([a-z][a-z0-9+.-]*:[^\s<>]+)>/iy
const ADDRESS = /https?:\/\/[^\s<]+[^<.,:;"'\]\s]/y
const MASKED =
  /\[((?:\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|[^\][\\])+)\]\((?:<([^\s<>]+)>|((?:[^\s<>()]|\([^\s()]*\))+))\)/y
const MENTION = /<(?:@[!&]?|#|t:|\/|a?:|id:)[^>\s]*>/y
const CODE = /(`+)([\s\S]*?[^`])\1(?!`)/y
const STRONG = /\*\*((?:\\[\s\S]|[^\\])+?)\*\*(?!\*)/y
const UNDERLINE = /__((?:\\[\s\S]|[^\\])+?)__(?!_)/y
const STRUCK = /~~([\s\S]+?)~~(?!_)/y
const SPOILER = /\|\|([\s\S]+?)\|\|/y
const ITALIC =
  /\b_((?:__|\\[\s\S]|[^\\_])+?)_\b|\*(?=\S)((?:\*\*|\\[\s\S]|\s+(?:\\[\s\S]|[^\s*\\]|\*\*)|[^\s*\\])+?)\*(?!\*)/y
const FENCE = /```(?:([a-z0-9_+\-.#]+?)\n)?\n*([^\n][\s\S]*?)\n*```\n?/iy

/** Reads Discord's Markdown as its client does: marks and escapes gone, lists counted by their first number. */
export function readDiscord(source: string): Reading {
  return new Client(source).read()
}

class Client {
  readonly #source: string
  readonly #found = new ReadingBuilder()
  #at = 0
  #list: { indent: number; number: number } | undefined

  constructor(source: string) {
    this.#source = source
  }

  read(): Reading {
    while (this.#at < this.#source.length) {
      const fence = matchAt(FENCE, this.#source, this.#at)
      if (fence === undefined) this.#line()
      else this.#fence(fence)
    }
    return this.#found.done()
  }

  #fence([whole, , code = '']: RegExpExecArray): void {
    this.#found.addBlock(code)
    this.#list = undefined
    this.#at += whole.length
    if (this.#at < this.#source.length && whole.endsWith('\n')) this.#found.add('\n')
  }

  #line(): void {
    const end = endOfLine(this.#source, this.#at)
    const bare = this.#source.slice(this.#at, end).replace(/^(> )+/, '')
    if (/^ *(?:#{1,3}|-#|>>>) /.test(bare)) throw new Error(`a heading, small text or a long quote: ${bare}`)
    if (/^ *[-*] /.test(bare)) throw new Error(`a bullet of the platform's: ${bare}`)
    this.#found.take(inline(this.#counted(bare)))
    if (end < this.#source.length) this.#found.add('\n')
    this.#at = end + 1
  }

  #counted(line: string): string {
    const [, indent, written] = /^( *)(\d+)\.(?= )/.exec(line) ?? []
    if (line.trim() === '') this.#list = undefined
    if (indent === undefined) return line
    const goesOn = this.#list?.indent === indent.length
    const number = goesOn ? (this.#list?.number ?? 0) + 1 : Math.max(1, Number(written))
    this.#list = { indent: indent.length, number }
    return line.replace(/\d+/, `${number}`)
  }
}

/** A span may cross lines, so that a line ends only where none is open. */
function endOfLine(source: string, at: number): number {
  let end = source.indexOf('\n', at)
  while (end !== -1) {
    const line = source.slice(at, end)
    if ((line.match(/(?<!\\)\*\*/g)?.length ?? 0) % 2 === 0) return end
    end = source.indexOf('\n', end + 1)
  }
  return source.length
}

function inline(source: string, inLink = false): Reading {
  const found = new ReadingBuilder()
  for (let at = 0; at < source.length; ) {
    const taken = escapeOrLink(source, at, found, inLink) || span(source, at, found, inLink)
    if (taken === 0) found.add(source[at] ?? '')
    at += taken || 1
  }
  return found
}

function escapeOrLink(source: string, at: number, found: ReadingBuilder, inLink: boolean): number {
  const escaped = matchAt(ESCAPE, source, at)
  if (escaped !== undefined) {
    found.add(escaped[1] ?? '')
    return escaped[0].length
  }
  const mention = matchAt(MENTION, source, at) ?? matchAt(EMOJI, source, at)
  if (mention !== undefined) throw new Error(`a mention or an emoji: ${mention[0]} in ${source}`)
  return address(source, at, found, inLink) || (inLink ? 0 : masked(source, at, found))
}

function address(source: string, at: number, found: ReadingBuilder, inLink: boolean): number {
  const bracketed = matchAt(AUTOLINK, source, at)
  const shown = bracketed?.[1] ?? balanced(matchAt(ADDRESS, source, at)?.[0] ?? '')
  if (shown === '') return 0
  found.add(shown)
  if (!inLink) found.links.push(shown)
  return bracketed?.[0].length ?? shown.length
}

/** Closing brackets at the end that nothing opened stand around an address. */
function balanced(found: string): string {
  let shown = found
  while (shown.endsWith(')') && shown.split(')').length > shown.split('(').length) shown = shown.slice(0, -1)
  return shown
}

function masked(source: string, at: number, found: ReadingBuilder): number {
  const [whole = '', label = '', bracketed, plain = ''] = matchAt(MASKED, source, at) ?? []
  if (whole === '' || /https?:\/\//.test(label)) return 0
  found.take(inline(label, true))
  found.links.push(bracketed ?? plain)
  return whole.length
}

function span(source: string, at: number, found: ReadingBuilder, inLink: boolean): number {
  const code = matchAt(CODE, source, at)
  if (code !== undefined) {
    const shown = (code[2] ?? '').replace(/^ (?=.*`)|(?<=`.*) $/g, '')
    found.add(shown)
    found.code.push(shown.replaceAll('\u200b', ''))
    return code[0].length
  }
  if (matchAt(UNDERLINE, source, at) ?? matchAt(SPOILER, source, at)) throw new Error(`underlined or hidden: ${source}`)
  return styled(source, at, found, inLink)
}

function styled(source: string, at: number, found: ReadingBuilder, inLink: boolean): number {
  for (const [pattern, texts] of [
    [STRONG, found.bold],
    [STRUCK, [] as string[]],
    [ITALIC, found.italic],
  ] as const) {
    const match = matchAt(pattern, source, at)
    if (match === undefined) continue
    const inside = inline(match[1] ?? match[2] ?? '', inLink)
    texts.push(inside.text)
    found.take(inside)
    return match[0].length
  }
  return 0
}

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at
  return pattern.exec(source) ?? undefined
}
