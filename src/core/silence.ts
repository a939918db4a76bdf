/**
 * Silence markers (S28-S30): exact case, anywhere in the text, removed everywhere. A reply that is a marker and
 * nothing else is silence; a reply that is empty without a marker is a failure, not silence. A growing reply must never
 * show a part of one, which no text library knows (decision 0017).
 */
const MARKERS = ['<NO_REPLY>', '<EMPTY_RESPONSE>'] as const
/** An answer that says nothing and takes back what was shown. */
export const SILENCE = MARKERS[0]
/**
 * The first marker may carry the reason for the silence, for whoever asks why: `<NO_REPLY: they talk about lunch>`. It
 * ends with the last `>` of its line: a reason may have one in it. One that its line does not close is all that
 * follows.
 */
const WITH_REASON = '<NO_REPLY:'
const REASONED = /<NO_REPLY:(?:[^\n]*>|[\s\S]*)/g
const LONGEST_REASON = 300
/** Markers in markers are removed this often; what is nested deeper nobody writes by mistake, and all of it goes. */
const MOST_NESTED = 8

/** Returns the reason that a marker carries; undefined where none does. */
export function silenceReason(text: string): string | undefined {
  const [, reason = ''] = /<NO_REPLY:([^\n]*)/.exec(text) ?? []
  return reason.replace(/>\s*$/, '').trim().slice(0, LONGEST_REASON) || undefined
}

export interface Stripped {
  /** The text without markers. Trimmed only if a marker was removed; otherwise exactly as it came (S29). */
  readonly text: string
  /** A marker was there and nothing but white space is left (S28). */
  readonly silent: boolean
}

/** Removes every marker, also those that only appear once another has been removed (S28-S30). */
export function stripSilence(text: string): Stripped {
  if (!hasMarker(text)) return { text, silent: false }
  const trimmed = withoutAny(text, withoutReasons).trim()
  return { text: trimmed, silent: trimmed === '' }
}

function hasMarker(text: string): boolean {
  return text.includes('<') && [...MARKERS, WITH_REASON].some((marker) => text.includes(marker))
}

function withoutAny(text: string, withoutReasoned: (text: string) => string): string {
  let left = text
  for (let pass = 0; pass < MOST_NESTED; pass++) {
    const next = withoutReasoned(withoutMarkers(left))
    if (next === left) return next
    left = next
  }
  const found = [...MARKERS, WITH_REASON].map((marker) => left.indexOf(marker)).filter((at) => at >= 0)
  return found.length === 0 ? left : left.slice(0, Math.min(...found))
}

function withoutReasons(text: string): string {
  return text.includes(WITH_REASON) ? text.replace(REASONED, '') : text
}

/** One pass: markers never overlap, so cutting each as its `>` arrives also finds those a cut has just joined. */
function withoutMarkers(text: string): string {
  const kept: string[] = []
  for (const unit of text.split('')) {
    kept.push(unit)
    // Both end in these two; a text may have as many `>` as it likes.
    if (unit !== '>' || !ENDS.has(kept.at(-2) ?? '')) continue
    const marker = MARKERS.find((candidate) => kept.slice(-candidate.length).join('') === candidate)
    if (marker) kept.length -= marker.length
  }
  return kept.join('')
}

const ENDS: ReadonlySet<string> = new Set(MARKERS.map((marker) => marker.slice(-2, -1)))

/**
 * Returns the part of a growing reply that may be shown: markers are removed, and a tail that could yet become a marker
 * is held back, so that no part of one is ever visible (S31). The held tail is the longest suffix that is a prefix of a
 * marker, or one with a reason whose line is not over.
 */
export function visibleWhileStreaming(text: string): string {
  if (!hasMarker(text)) return withoutOpenTail(text)
  return withoutOpenTail(withoutAny(text, (one) => withoutReasons(one.replace(LAST_REASONED, ''))).trim())
}

const LAST_REASONED = /<NO_REPLY:[^\n]*$/

/** `<NO_<NO_` may yet collapse to a marker, so every such tail is held, not only the last. */
function withoutOpenTail(text: string): string {
  let shown = text
  let start = shown.lastIndexOf('<')
  while (start >= 0 && opensMarker(shown.slice(start))) {
    shown = shown.slice(0, start)
    start = shown.lastIndexOf('<')
  }
  return shown
}

function opensMarker(tail: string): boolean {
  return [...MARKERS, WITH_REASON].some((marker) => marker.startsWith(tail))
}
