import type { RenderedPart } from '../../src/channels/adapter.ts'
import { stripSilence } from '../../src/core/silence.ts'

/** The longest text in angle brackets that is tried as a marker. */
const LONGEST = 64

/** Smallest pieces of each markup: tags, escapes, characters. */
const ATOMS = {
  html: /<[^>]*>|&\w+;|[\s\S]/gu,
  mrkdwn: /<[^>]*>|&\w+;|[\s\S]/gu,
  markdown: /\\[\s\S]|[\s\S]/gu,
  plain: /[\s\S]/gu,
} as const

const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"' }

interface Atom {
  readonly source: string
  /** The part that a reader sees; nothing of a tag. */
  readonly shown: string
}

/** Marks that enclose text on Discord and Slack; between two equal ones nothing must not be left. */
const PAIRED_MARKS = { html: '', mrkdwn: '*_~`', markdown: '*_~`|', plain: '' } as const

/**
 * The last look before delivery (S28-S30): removes silence markers from a rendered part, however escaping and
 * formatting have disguised them, with the tags that enclosed nothing else. `null`: nothing is left to send; a file is
 * sent without its caption then. A part without a marker comes back as it is.
 */
export function stripNoReply(part: RenderedPart): RenderedPart | null {
  if (!opensBracket(part.plain) && !opensBracket(part.text)) return part
  const plain = stripSilence(part.plain).text
  if (plain === part.plain && !hasMarker(part.text) && !hasMarker(roughlyShown(part.text))) return part
  const found = withoutMarkers(atomsOf(part.text, part.markup), PAIRED_MARKS[part.markup])
  const meant = withoutMarkers(atomsOf(part.plain, 'plain'), PAIRED_MARKS.plain)
  if (found.removed === 0 && meant.removed === 0) return part
  const atoms = withoutEdgeSpace(found.atoms)
  if (plain === '' || atoms.every((atom) => atom.shown === ''))
    return part.file === undefined ? null : { ...part, text: '', plain: '', markup: 'plain' }
  // Marks that cannot be distinguished from text stood inside a marker: rather no formatting than a marker in a chat.
  if (found.removed < meant.removed) return { ...part, text: plain, plain, markup: 'plain' }
  const text = atoms.map((atom) => atom.source).join('')
  return { ...part, text: part.markup === 'html' ? withoutEmptyTags(text) : text, plain }
}

/** Every marker begins with one, however it is written. */
function opensBracket(text: string): boolean {
  return text.includes('<') || text.includes('&lt;')
}

function hasMarker(text: string): boolean {
  return stripSilence(text).text !== text
}

/** Cheap and generous: what could be seen of any markup. */
function roughlyShown(text: string): string {
  const untagged = text.replace(/<[^>]*>/g, '')
  return untagged.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('\\', '')
}

function atomsOf(text: string, markup: RenderedPart['markup']): Atom[] {
  return Array.from(text.matchAll(ATOMS[markup]), ([source]) => ({ source, shown: shownOf(source, markup) }))
}

function shownOf(source: string, markup: RenderedPart['markup']): string {
  if (markup === 'markdown') return source.length > 1 && source.startsWith('\\') ? source.slice(1) : source
  if (markup === 'plain') return source
  // An unescaped marker looks like a tag. Slack's own brackets (links, mentions) show something.
  if (source.length > 1 && source.startsWith('<')) return markup === 'mrkdwn' || isMarker(source) ? source : ''
  return ENTITIES[source] ?? source
}

function isMarker(text: string): boolean {
  return stripSilence(text).silent
}

/** Takes each marker out as soon as its last bracket is read, so that one inside another is found too. */
function withoutMarkers(source: readonly Atom[], marks: string): { atoms: Atom[]; removed: number } {
  const atoms: Atom[] = []
  let removed = 0
  for (let index = 0; index < source.length; index++) {
    const atom = source[index]
    if (atom === undefined) break
    atoms.push(atom)
    const start = atom.shown.endsWith('>') ? markerStart(atoms) : -1
    if (start < 0) continue
    // Tags inside the marker belong to what is around it.
    atoms.push(...atoms.splice(start).filter((inner) => inner.shown === ''))
    removed++
    while (isPair(atoms.at(-1), source[index + 1], marks)) {
      atoms.pop()
      index++
    }
  }
  return { atoms, removed }
}

/** Returns the start of the marker that ends with the last atom, or -1. */
function markerStart(atoms: readonly Atom[]): number {
  let shown = ''
  for (let index = atoms.length - 1; index >= 0 && shown.length < LONGEST; index--) {
    shown = (atoms[index]?.shown ?? '') + shown
    if (shown.startsWith('<') && atoms[index]?.shown !== '') return isMarker(shown) ? index : -1
  }
  return -1
}

function isPair(before: Atom | undefined, after: Atom | undefined, marks: string): boolean {
  return before !== undefined && before.source === after?.source && marks.includes(before.source)
}

/** Removes white space at both ends after a marker was removed, like the shared rule. */
function withoutEdgeSpace(atoms: readonly Atom[]): Atom[] {
  const isText = (atom: Atom) => atom.shown.trim() !== ''
  const first = atoms.findIndex(isText)
  const last = atoms.findLastIndex(isText)
  return atoms.filter((atom, index) => (index >= first && index <= last && first >= 0) || atom.shown === '')
}

/** Removes tags around nothing, from the inside out. */
function withoutEmptyTags(text: string): string {
  let html = text
  for (let before = ''; before !== html; ) {
    before = html
    html = html.replace(/<([a-z][\w-]*)(?: [^>]*)?><\/\1>/g, '')
  }
  return html
}
