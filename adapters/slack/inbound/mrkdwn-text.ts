import { plainName } from '../../../src/core/label.ts'
import type { Mention } from '../../../src/core/message.ts'

interface TextReading {
  /** Readable, its escapes undone. */
  readonly text: string
  /** Ids of the users it mentions. */
  readonly mentioned: readonly string[]
  /** It calls a group of users, or everybody here. */
  readonly mentionsMany: boolean
}

/** The names that were looked up for a message, by id. */
export interface Names {
  readonly people: ReadonlyMap<string, { readonly name?: string; readonly username?: string }>
  readonly places: ReadonlyMap<string, string>
}

interface BotName {
  readonly userId: string
  readonly username: string
}

const NO_NAMES: Names = { people: new Map(), places: new Map() }
const NO_ONE = () => ({ people: new Set<string>(), places: new Set<string>() })
const MARK = /<([^<>]*)>/g
/** Stands for one of the platform's marks while the marks around it are read; nobody's text has it. */
const HOLE = '\uE000'
const CODE = /(```[\s\S]*?```|`[^`\n]+`)/
const STRUCK = /(?<![\p{L}\p{N}_~])~(?=[^\s~])([^~\n]*[^\s~])~(?![\p{L}\p{N}_~])/gu
/** Quotes everything behind it. */
const QUOTE_ALL = /^&gt;&gt;&gt; ?/m

/**
 * Returns a person's text without the platform's markup, as commands are read from it. Brackets typed by a person
 * arrive escaped, so real ones are the platform's own: a mention is never read from the text. Mentions of users stay
 * `<@U1>`, which the arguments of a command have, except the bot's own, which reads `@name`.
 */
export function readMrkdwn(source: string, bot: BotName): TextReading {
  const targets = [...source.matchAll(MARK)].map(([, inner = '']) => splitLabel(inner)[0])
  const readable = source.replace(MARK, (whole, inner: string) => {
    const [target, label] = splitLabel(inner)
    if (target === `@${bot.userId}`) return `@${bot.username}`
    if (target.startsWith('@')) return `<${target}>`
    if (target.startsWith('!')) return label || `@${target.slice(1)}`
    if (target.startsWith('#')) return label ? `#${label}` : whole
    return linkWords(target, label)
  })
  return {
    text: unescaped(readable),
    mentioned: targets.filter((target) => /^@[UW][A-Z0-9]+$/.test(target)).map((target) => target.slice(1)),
    mentionsMany: targets.some((target) => /^!(here|channel|everyone|subteam\^)/.test(target)),
  }
}

/** Puts the marks of the platform into words as people there read them, and keeps whom they name. */
export class Wording {
  readonly #bot: BotName
  readonly #names: Names
  /** The ids of the people who were mentioned, the bot too. */
  readonly mentioned = new Set<string>()
  /** Everything that was named but the bot. */
  readonly mentions: Mention[] = []
  /** The ids of people and places whose names are not known. */
  readonly unknown: { readonly people: Set<string>; readonly places: Set<string> }
  mentionsMany = false

  constructor(bot: BotName, names: Names = NO_NAMES, unknown: Wording['unknown'] = NO_ONE()) {
    this.#bot = bot
    this.#names = names
    this.unknown = unknown
  }

  /** Returns one for words beside these that are somebody else's: whom they name is not named by the writer. */
  beside(): Wording {
    return new Wording(this.#bot, this.#names, this.unknown)
  }

  /** Reads a text with the platform's marks; struck-through words and quotations get those of Markdown. */
  mrkdwn(source: string): string {
    const marks: string[] = []
    const bare = source.replaceAll(HOLE, '').replace(MARK, (_, inner: string) => {
      marks.push(this.#mark(inner))
      return HOLE
    })
    const struck = bare.split(CODE).map((piece, at) => (at % 2 === 1 ? piece : piece.replace(STRUCK, '~~$1~~')))
    let next = 0
    return unescaped(quoted(struck.join(''))).replaceAll(HOLE, () => marks[next++] ?? '')
  }

  /** Returns a person as `@Name`; where the name is not known the mark stays, which is known to be no words. */
  user(id: string, label?: string): string {
    this.mentioned.add(id)
    if (id === this.#bot.userId) return `@${this.#bot.username}`
    const known = this.#names.people.get(id)
    if (known === undefined) this.unknown.people.add(id)
    const name = plainName(known?.name ?? label ?? '')
    const username = plainName(known?.username ?? '')
    if (name === '') return `<@${id}>`
    this.mentions.push({ kind: 'person', name, ...(username === '' ? {} : { username }) })
    return `@${name}`
  }

  /** Returns a channel as `#name`; where the name is not known the mark stays. */
  place(id: string, label?: string): string {
    const known = label || this.#names.places.get(id)
    if (known === undefined) this.unknown.places.add(id)
    const name = plainName(known ?? '')
    if (name === '') return `<#${id}>`
    this.mentions.push({ kind: 'place', name })
    return `#${name}`
  }

  /** Returns a group of people as `@name`; `id` is the platform's, whose mark stays without a name, or `here`. */
  group(id: string, label?: string): string {
    this.mentionsMany = true
    const name = plainName((label || id).replace(/^@/, ''))
    if (!label && /^S[A-Z0-9]+$/.test(id)) return `<!subteam^${id}>`
    this.mentions.push({ kind: 'group', name })
    return `@${name}`
  }

  #mark(inner: string): string {
    const [target, label] = splitLabel(inner)
    const words = label === undefined ? undefined : unescaped(label)
    const [kind, rest] = [target.slice(0, 1), target.slice(1)]
    if (kind === '@') return this.user(rest, words)
    if (kind === '#') return this.place(rest, words)
    if (kind !== '!') return unescaped(linkWords(target, label))
    const group = /^(?:subteam\^)?(here|channel|everyone|S[A-Z0-9]+)$/.exec(rest)?.[1]
    return group === undefined ? words || `@${rest}` : this.group(group, words)
  }
}

/** Returns a link as its words and the address, which stands alone where both are the same. */
export function linkWords(url: string, label: string | undefined): string {
  const shown = url.replace(/^(https?:\/\/|mailto:|tel:)/, '')
  return label === undefined || label === shown || label === url ? (label ?? url) : `${label} (${url})`
}

/** Returns lines as a quotation. */
export function quotation(text: string): string {
  return text.replace(/^/gm, '> ')
}

/** Three marks at the beginning of a line quote all that follows; one quotes its line, as in Markdown. */
function quoted(source: string): string {
  const at = QUOTE_ALL.exec(source)
  if (at === null || source.slice(0, at.index).split('```').length % 2 === 0) return source
  return `${source.slice(0, at.index)}${quotation(source.slice(at.index + at[0].length))}`
}

/** Only these three are escaped by the platform. */
export function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}

function splitLabel(inner: string): readonly [string, string | undefined] {
  const bar = inner.indexOf('|')
  return bar < 0 ? [inner, undefined] : [inner.slice(0, bar), inner.slice(bar + 1)]
}
