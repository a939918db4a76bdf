/** A text that is HTML already. */
export interface Markup {
  readonly markup: string
}

type Filled = string | Markup | readonly Markup[]

/** Returns HTML with everything that is filled in escaped, unless it is HTML itself. */
export function html(texts: TemplateStringsArray, ...filled: readonly Filled[]): Markup {
  const parts = texts.map((text, at) => `${text}${at < filled.length ? markupOf(filled[at] ?? '') : ''}`)
  return { markup: parts.join('') }
}

/** Returns a text of this program as HTML, as it is. */
export function plain(markup: string): Markup {
  return { markup }
}

function markupOf(filled: Filled): string {
  if (typeof filled === 'string') return escaped(filled)
  return 'markup' in filled ? filled.markup : filled.map(({ markup }) => markup).join('')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign)
}
