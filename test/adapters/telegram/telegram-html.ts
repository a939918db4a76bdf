const TAGS = new Set(['b', 'i', 'u', 's', 'code', 'pre', 'a', 'blockquote', 'tg-spoiler'])
const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"' }
const HREF = /^ href="(?:https?:\/\/|tg:\/\/|mailto:)[^"<>\s]+"$/i

export interface ParsedHtml {
  readonly visible: string
  /** Tag names with the text inside, in order of closing. */
  readonly elements: readonly { readonly tag: string; readonly attributes: string; readonly text: string }[]
}

interface Open {
  readonly tag: string
  readonly attributes: string
  readonly from: number
}

/** Reads Telegram's HTML as strictly as its server, and stricter; throws on whatever could be refused. */
export function parseTelegramHtml(html: string): ParsedHtml {
  const open: Open[] = []
  const elements: { tag: string; attributes: string; text: string }[] = []
  let visible = ''
  for (const [token] of html.matchAll(/<[^>]*>|&[^;\s]*;|[\s\S]/g)) {
    if (token.length > 1 && token.startsWith('<')) {
      if (token.startsWith('</')) elements.push(close(open, token.slice(2, -1), visible))
      else open.push(opened(token, open, visible))
      continue
    }
    const shown = token.length > 1 ? ENTITIES[token] : token
    if (shown === undefined || '<>&'.includes(token)) throw new Error(`unescaped or unknown ${token} in ${html}`)
    visible += shown
  }
  if (open.length > 0) throw new Error(`not closed: ${open.map((one) => one.tag).join(' ')} in ${html}`)
  return { visible, elements }
}

function opened(token: string, around: readonly Open[], visible: string): Open {
  const [, tag = '', attributes = ''] = /^<([a-z-]+)( [^>]*)?>$/.exec(token) ?? []
  if (!TAGS.has(tag)) throw new Error(`unknown tag ${token}`)
  checkAttributes(token, tag, attributes)
  const parent = around.at(-1)
  const language = tag === 'code' && parent?.tag === 'pre' && attributes !== '' && parent.from === visible.length
  if (tag === 'code' && attributes !== '' && !language) throw new Error(`language outside pre: ${token}`)
  if (around.some((one) => one.tag === 'code' || one.tag === 'pre') && !language) throw new Error(`${token} in code`)
  if (around.some((one) => one.tag === tag)) throw new Error(`${token} in itself`)
  return { tag, attributes, from: visible.length }
}

function checkAttributes(token: string, tag: string, attributes: string): void {
  if (tag === 'a') {
    if (!HREF.test(attributes)) throw new Error(`link ${token}`)
  } else if (tag === 'code') {
    if (attributes !== '' && !/^ class="language-[\w+#.-]+"$/.test(attributes)) throw new Error(`class ${token}`)
  } else if (attributes !== '') {
    throw new Error(`attribute ${token}`)
  }
}

function close(open: Open[], tag: string, visible: string): { tag: string; attributes: string; text: string } {
  const last = open.pop()
  if (last?.tag !== tag) throw new Error(`</${tag}> closes ${last?.tag ?? 'nothing'}`)
  if (last.from === visible.length) throw new Error(`empty <${tag}>`)
  return { tag, attributes: last.attributes, text: visible.slice(last.from) }
}
