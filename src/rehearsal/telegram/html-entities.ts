import { parseUrl } from '../../core/parse-url.ts'
import type { ApiEntity } from './api-types.ts'

/**
 * `parse_mode: HTML` as the Bot API server reads it: the same tags, the same refusals, the same words. `strict` (the
 * default of the rehearsal) also refuses text that the documentation forbids and the real server accepts: a bare `&`,
 * and attributes a tag does not have. A text that passes strict passes the real one.
 */
export interface HtmlText {
  text: string
  entities: ApiEntity[]
}

/** The part of the error after "Bad Request: can't parse entities: ". */
export class HtmlParseError extends Error {
  override name = 'HtmlParseError'
}

interface OpenTag {
  name: string
  argument: string
  offset: number
}

interface Attribute {
  name: string
  value: string
}

const entityTypes: Readonly<Record<string, string>> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  u: 'underline',
  ins: 'underline',
  'tg-spoiler': 'spoiler',
  span: 'spoiler',
  'tg-emoji': 'custom_emoji',
  a: 'text_link',
  pre: 'pre',
  code: 'code',
  blockquote: 'blockquote',
}

/** The attribute each tag has, as `tag attribute`. */
const knownAttributes = new Set(['a href', 'code class', 'span class', 'tg-emoji emoji-id', 'blockquote expandable'])
const namedCharacters: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' }
const space = /\s/

export function parseHtml(source: string, strict = true): HtmlText {
  return new HtmlReader(source, strict).read()
}

class HtmlReader {
  readonly #source: string
  readonly #strict: boolean
  readonly #open: OpenTag[] = []
  readonly #entities: ApiEntity[] = []
  #at = 0
  #text = ''

  constructor(source: string, strict: boolean) {
    this.#source = source
    this.#strict = strict
  }

  read(): HtmlText {
    const source = this.#source
    while (this.#at < source.length) {
      const char = source[this.#at]
      if (char === '&') this.#text += this.#character()
      else if (char !== '<') this.#plainRun()
      else if (source[this.#at + 1] === '/') this.#endTag()
      else this.#startTag()
    }
    const unclosed = this.#open.at(-1)
    if (unclosed !== undefined) {
      throw new HtmlParseError(`Can't find end tag corresponding to start tag "${unclosed.name}"`)
    }
    return { text: this.#text, entities: this.#entities }
  }

  #plainRun(): void {
    const source = this.#source
    let end = this.#at
    while (end < source.length && source[end] !== '<' && source[end] !== '&') end++
    this.#text += source.slice(this.#at, end)
    this.#at = end
  }

  /** Reads `&lt;`, `&#60;`, `&#x3c;`, or the bare ampersand. */
  #character(): string {
    const match = /^&(?:(lt|gt|amp|quot)|#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6}));?/.exec(
      this.#source.slice(this.#at, this.#at + 12),
    )
    if (match === null || (this.#strict && !match[0].endsWith(';'))) {
      if (this.#strict) this.#fail('Unescaped "&"', this.#at)
      this.#at++
      return '&'
    }
    this.#at += match[0].length
    const named = match[1]
    if (named !== undefined) return namedCharacters[named] ?? '&'
    const code = match[2] === undefined ? Number.parseInt(match[3] ?? '0', 16) : Number.parseInt(match[2], 10)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : match[0]
  }

  #startTag(): void {
    const begin = this.#at
    this.#at++
    const name = this.#until((char) => space.test(char) || char === '>').toLowerCase()
    this.#expectMore(begin)
    if (entityTypes[name] === undefined) this.#fail(`Unsupported start tag "${name}"`, begin)
    let argument = ''
    for (let attribute = this.#attribute(name, begin); attribute !== null; attribute = this.#attribute(name, begin)) {
      argument = argumentOf(name, attribute) ?? argument
    }
    if (name === 'span' && argument !== 'spoiler') this.#fail('Tag "span" must have class "tg-spoiler"', begin)
    this.#open.push({ name, argument, offset: this.#text.length })
  }

  /** Returns the next attribute of the tag that began at `begin`, or null after its `>`. */
  #attribute(tag: string, begin: number): Attribute | null {
    this.#skipSpace()
    this.#expectMore(begin)
    if (this.#source[this.#at] === '>') {
      this.#at++
      return null
    }
    const name = this.#until((char) => space.test(char) || '=>/"\''.includes(char))
    if (name === '') this.#fail(`Empty attribute name in the tag "${tag}"`, begin)
    if (this.#strict && !knownAttributes.has(`${tag} ${name}`)) {
      this.#fail(`Unsupported attribute "${name}" in the tag "${tag}"`, begin)
    }
    this.#skipSpace()
    if (this.#source[this.#at] !== '=') {
      this.#expectMore(begin)
      return { name, value: '' }
    }
    this.#at++
    this.#skipSpace()
    this.#expectMore(begin)
    const value = this.#attributeValue()
    this.#expectMore(begin)
    return { name, value }
  }

  #attributeValue(): string {
    const quote = this.#source[this.#at]
    if (quote !== '"' && quote !== "'") {
      const begin = this.#at
      const token = this.#until((char) => !/[A-Za-z0-9.-]/.test(char)).toLowerCase()
      const next = this.#source[this.#at]
      if (next !== undefined && next !== '>' && !space.test(next)) this.#fail('Unexpected end of name token', begin)
      return token
    }
    this.#at++
    let value = ''
    while (this.#at < this.#source.length && this.#source[this.#at] !== quote) {
      value += this.#source[this.#at] === '&' ? this.#character() : this.#source[this.#at++]
    }
    this.#at++
    return value
  }

  #endTag(): void {
    const begin = this.#at
    const tag = this.#open.pop() ?? this.#fail('Unexpected end tag', begin)
    this.#at += 2
    const name = this.#until((char) => space.test(char) || char === '>')
    this.#skipSpace()
    if (this.#source[this.#at] !== '>') this.#fail('Unclosed end tag', begin)
    this.#at++
    if (name !== '' && name !== tag.name) {
      this.#fail('Unmatched end tag', begin, `, expected "</${tag.name}>", found "</${name}>"`)
    }
    this.#addEntity(tag)
  }

  #addEntity(tag: OpenTag): void {
    const length = this.#text.length - tag.offset
    if (length === 0) return
    const previous = this.#entities.at(-1)
    const covers = previous !== undefined && previous.offset === tag.offset && previous.length === length
    // `<pre><code class="language-x">` is one entity; a language on `<code>` alone is dropped.
    if (tag.name === 'pre' && covers && previous.type === 'code' && previous.language !== undefined) {
      previous.type = 'pre'
      return
    }
    if (tag.name === 'code' && covers && previous.type === 'pre' && tag.argument !== '') {
      previous.language = tag.argument
      return
    }
    const entity = entityOf(tag, this.#text)
    if (entity !== null) this.#entities.push({ ...entity, offset: tag.offset, length })
  }

  #until(stop: (char: string) => boolean): string {
    const begin = this.#at
    while (this.#at < this.#source.length && !stop(this.#source[this.#at] ?? '')) this.#at++
    return this.#source.slice(begin, this.#at)
  }

  #skipSpace(): void {
    while (space.test(this.#source[this.#at] ?? '')) this.#at++
  }

  #expectMore(begin: number): void {
    if (this.#at >= this.#source.length) this.#fail('Unclosed start tag', begin)
  }

  #fail(what: string, position: number, detail = ''): never {
    const byte = Buffer.byteLength(this.#source.slice(0, position))
    throw new HtmlParseError(`${what} at byte offset ${byte}${detail}`)
  }
}

function argumentOf(tag: string, { name, value }: Attribute): string | null {
  if (tag === 'a' && name === 'href') return value
  if (tag === 'code' && name === 'class' && value.startsWith('language-')) return value.slice('language-'.length)
  if (tag === 'span' && name === 'class' && value.startsWith('tg-')) return value.slice('tg-'.length)
  if (tag === 'tg-emoji' && name === 'emoji-id') return value
  if (tag === 'blockquote' && name === 'expandable') return 'expandable'
  return null
}

function entityOf(tag: OpenTag, text: string): Omit<ApiEntity, 'offset' | 'length'> | null {
  const type = entityTypes[tag.name] ?? tag.name
  switch (tag.name) {
    case 'a':
      return linkEntity(tag.argument === '' ? text.slice(tag.offset) : tag.argument)
    case 'code':
      return tag.argument === '' ? { type } : { type, language: tag.argument }
    case 'tg-emoji':
      return { type, custom_emoji_id: tag.argument }
    case 'blockquote':
      return { type: tag.argument === '' ? type : 'expandable_blockquote' }
    default:
      return { type }
  }
}

/** An invalid link (no host with a dot, unknown scheme) silently stays plain text. */
function linkEntity(url: string): Omit<ApiEntity, 'offset' | 'length'> | null {
  const user = /^tg:\/\/user\?id=(\d+)$/.exec(url)
  if (user !== null) return { type: 'text_mention', user: { id: Number(user[1]), is_bot: false, first_name: '' } }
  if (/^(tg|ton|tonsite|mailto):/i.test(url)) return { type: 'text_link', url }
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `http://${url}`
  const hostname = /^(https?|ftp):\/\//i.test(withScheme) ? parseUrl(withScheme)?.hostname : undefined
  if (hostname === undefined) return null
  if (!hostname.includes('.') && hostname !== 'localhost') return null
  return { type: 'text_link', url: /^\w+:\/\/[^/?#]+$/.test(withScheme) ? `${withScheme}/` : withScheme }
}
