/**
 * Silence markers (S28-S30): exact case, anywhere in the text, removed everywhere. A reply that is a marker and
 * nothing else is silence; a reply that is empty without a marker is a failure, not silence. A growing reply must never
 * show a part of one, which no text library knows (decision 0017).
 */
const MARKERS = ['<NO_REPLY>', '<EMPTY_RESPONSE>'] as const

export interface Stripped {
  /** The text without markers. Trimmed only if a marker was removed; otherwise exactly as it came (S29). */
  readonly text: string
  /** A marker was there and nothing but white space is left (S28). */
  readonly silent: boolean
}

/** Removes every marker, also those that only appear once another has been removed (S28-S30). */
export function stripSilence(text: string): Stripped {
  if (!text.includes('<') || !MARKERS.some((marker) => text.includes(marker))) return { text, silent: false }
  const trimmed = withoutMarkers(text).trim()
  return { text: trimmed, silent: trimmed === '' }
}

/** One pass: markers never overlap, so cutting each as its `>` arrives also finds those a cut has just joined. */
function withoutMarkers(text: string): string {
  const kept: string[] = []
  for (const unit of text.split('')) {
    kept.push(unit)
    if (unit !== '>') continue
    const marker = MARKERS.find((candidate) => kept.slice(-candidate.length).join('') === candidate)
    if (marker) kept.length -= marker.length
  }
  return kept.join('')
}

/**
 * Returns the part of a growing reply that may be shown: markers are removed, and a tail that could yet become a marker
 * is held back, so that no part of one is ever visible (S31). The held tail is the longest suffix that is a prefix of a
 * marker.
 */
export function visibleWhileStreaming(text: string): string {
  return withoutOpenTail(stripSilence(text).text)
}

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
  return MARKERS.some((marker) => marker.startsWith(tail))
}
