import type { RenderedPart } from '../../../src/channels/adapter.ts'
import { isFoundByItself, type Run, Style, type StyledText, spellsOut } from '../../shared/document.ts'
import type { Passage } from '../../shared/lay-out-blocks.ts'
import type { Part } from '../../shared/split-text.ts'

/** From outermost to innermost. Telegram allows these three in each other and around links, but nothing in code. */
const STYLE_TAGS = [
  [Style.bold, 'b'],
  [Style.italic, 'i'],
  [Style.strike, 's'],
] as const

const STYLES = Array.from({ length: 16 }, (_, style) => style)
/** Tags by style; code excludes every other. */
const TAGS = STYLES.map((style) => ((style & Style.code) === 0 ? styleTags(style) : ['code']))
/** The same inside a link, which excludes code, for its address is worth more. */
const LINK_TAGS = STYLES.map((style) => ['a', ...styleTags(style)])

function styleTags(style: number): readonly string[] {
  return STYLE_TAGS.filter(([bit]) => (style & bit) !== 0).map(([, tag]) => tag)
}

/** One part as Telegram's HTML, its tags always properly nested (Bot API, "HTML style"). */
export function renderHtml(part: Part): string {
  let html = ''
  let quoted = false
  for (const [index, passage] of part.entries()) {
    const gap = index === 0 ? '' : passage.gap
    if (passage.quoted === quoted) html += gap
    else html += quoted ? `</blockquote>${gap}` : `${gap}<blockquote>`
    quoted = passage.quoted
    html += passage.kind === 'code' ? renderCode(passage) : renderText(passage.body)
  }
  return quoted ? `${html}</blockquote>` : html
}

/** The part without markup. An address that hides behind a label stands behind it, if all of them find room. */
export function renderPlain(part: Part, limit: number): RenderedPart['plain'] {
  const bare = joinText(part, (body) => body.text)
  if (!part.some((passage) => passage.body.runs.some((run) => run.href !== undefined))) return bare
  const full = joinText(part, withAddresses)
  return full.length <= limit ? full : bare
}

function joinText(part: Part, textOf: (body: StyledText) => string): string {
  return part.map((passage, index) => (index === 0 ? '' : passage.gap) + textOf(passage.body)).join('')
}

function renderCode({ language, body }: Passage): string {
  const code = escapeHtml(body.text)
  return language === '' ? `<pre>${code}</pre>` : `<pre><code class="language-${language}">${code}</code></pre>`
}

/** Tags that two neighbouring runs share stay open between them, so a label with a bold word is one link. */
function renderText({ text, runs }: StyledText): string {
  let html = ''
  let above: Run | undefined
  for (const run of runs) {
    if (run.style === 0 && isFoundByItself(text, run, 'http://')) continue
    if (above?.end !== run.start) {
      html += closeRun(above, 0) + renderWords(text.slice(above?.end ?? 0, run.start)) + openRun(run, 0)
    } else {
      const shared = sharedTags(above, run)
      html += closeRun(above, shared) + openRun(run, shared)
    }
    html += escapeHtml(text.slice(run.start, run.end))
    above = run
  }
  return html + closeRun(above, 0) + renderWords(text.slice(above?.end ?? 0))
}

/** Ends of file names that are domains as well: clients would make `README.md` a link to a stranger's page. */
const FILE_NAME =
  /(?<![\w@:/.=?&#%+~-])((?:[\w.-]+\/)*[\w-]+(?:\.[\w-]+)*\.(?:md|sh|py|rs|pl|ps|cc|so|ml|mk|zip|mov))(?![\w/-]|\.\w)/g

/** Returns words as HTML; file names that look like domains are code, which clients leave alone. */
export function renderWords(text: string): string {
  const html = escapeHtml(text)
  return /\.(?:md|sh|py|rs|pl|ps|cc|so|ml|mk|zip|mov)\b/.test(html) ? html.replace(FILE_NAME, '<code>$1</code>') : html
}

/** A run's tags from outermost to innermost; the link, if there is one, is the first. */
function tagsOf(run: Run): readonly string[] {
  return (run.href === undefined ? TAGS : LINK_TAGS)[run.style] ?? []
}

function sharedTags(above: Run, run: Run): number {
  if (above.href !== run.href) return 0
  const [open, tags] = [tagsOf(above), tagsOf(run)]
  let shared = 0
  while (shared < open.length && open[shared] === tags[shared]) shared++
  return shared
}

function openRun(run: Run, from: number): string {
  const tags = tagsOf(run)
  let html = ''
  for (let index = from; index < tags.length; index++) {
    html += tags[index] === 'a' ? `<a href="${escapeHtml(run.href ?? '')}">` : `<${tags[index]}>`
  }
  return html
}

function closeRun(run: Run | undefined, downTo: number): string {
  if (run === undefined) return ''
  const tags = tagsOf(run)
  let html = ''
  for (let index = tags.length - 1; index >= downTo; index--) html += `</${tags[index]}>`
  return html
}

export function escapeHtml(text: string): string {
  if (!/[&<>"]/.test(text)) return text
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** Runs that share one address (a label with a bold word) get it once, behind the last of them. */
function withAddresses({ text, runs }: StyledText): string {
  let plain = ''
  let at = 0
  let label = 0
  let above: Run | undefined
  for (const run of runs) {
    if (run.href === undefined) continue
    const goesOn = above?.href === run.href && above.end === run.start
    if (above !== undefined && !goesOn) {
      plain += text.slice(at, above.end) + address(above, text.slice(label, above.end))
      at = above.end
    }
    if (!goesOn) label = run.start
    above = run
  }
  if (above === undefined) return text
  return plain + text.slice(at, above.end) + address(above, text.slice(label, above.end)) + text.slice(above.end)
}

function address(run: Run, label: string): string {
  return spellsOut(label, run.href ?? '') ? '' : ` (${run.href})`
}
