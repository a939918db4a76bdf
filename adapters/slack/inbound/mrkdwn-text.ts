interface TextReading {
  /** Readable, its escapes undone. */
  readonly text: string
  /** Ids of the users it mentions. */
  readonly mentioned: readonly string[]
  /** It calls a group of users, or everybody here. */
  readonly mentionsMany: boolean
}

const MARK = /<([^<>]*)>/g

/**
 * Returns a person's text without the platform's markup. Brackets typed by a person arrive escaped, so real ones are
 * the platform's own: a mention is never read from the text. Mentions of users stay `<@U1>` (the name behind an id is
 * not known here) except the bot's own, which reads `@name`.
 */
export function readMrkdwn(source: string, bot: { readonly userId: string; readonly username: string }): TextReading {
  const targets = [...source.matchAll(MARK)].map(([, inner = '']) => splitLabel(inner)[0])
  const readable = source.replace(MARK, (whole, inner: string) => {
    const [target, label] = splitLabel(inner)
    if (target === `@${bot.userId}`) return `@${bot.username}`
    if (target.startsWith('@')) return `<${target}>`
    if (target.startsWith('!')) return label || `@${target.slice(1)}`
    if (target.startsWith('#')) return label ? `#${label}` : whole
    return readLink(target, label)
  })
  return {
    text: unescaped(readable),
    mentioned: targets.filter((target) => /^@[UW][A-Z0-9]+$/.test(target)).map((target) => target.slice(1)),
    mentionsMany: targets.some((target) => /^!(here|channel|everyone|subteam\^)/.test(target)),
  }
}

/** Only these three are escaped by the platform. */
function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}

function splitLabel(inner: string): readonly [string, string | undefined] {
  const bar = inner.indexOf('|')
  return bar < 0 ? [inner, undefined] : [inner.slice(0, bar), inner.slice(bar + 1)]
}

function readLink(url: string, label: string | undefined): string {
  const shown = url.replace(/^(https?:\/\/|mailto:|tel:)/, '')
  return label === undefined || label === shown || label === url ? (label ?? url) : `${label} (${url})`
}
