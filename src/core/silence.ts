/**
 * Silence markers (S28-S30): exact case, anywhere in the text, removed everywhere, with the reason that one may carry:
 * `<NO_REPLY: they talk about lunch>`. A reply that is a marker and
 * nothing else is silence; a reply that is empty without a marker is a failure, not silence. A growing reply must never
 * show a part of one, which no text library knows (decision 0017).
 */
const MARKERS = ['<NO_REPLY>', '<EMPTY_RESPONSE>'] as const
/** The marker may carry the reason for the silence, one short line, for whoever asks why. */
const WITH_REASON = '<NO_REPLY:'
const LONGEST_REASON = 300
const REASON = new RegExp(`^ ?([^<>\\n]{0,${LONGEST_REASON}})>?$`)

/** Returns the reasons that markers carry, in order. */
export function silenceReasons(text: string): readonly string[] {
  const reasons = text.split(WITH_REASON).slice(1)
  return reasons.flatMap((rest) => REASON.exec(rest.slice(0, rest.indexOf('>') + 1))?.[1]?.trim() || [])
}

export interface Stripped {
  /** The text without markers. Trimmed only if a marker was removed; otherwise exactly as it came (S29). */
  readonly text: string
  /** A marker was there and nothing but white space is left (S28). */
  readonly silent: boolean
}

/** Removes every marker, also those that only appear once another has been removed (S28-S30). */
export function stripSilence(text: string): Stripped {
  if (!text.includes('<') || ![...MARKERS, WITH_REASON].some((marker) => text.includes(marker)))
    return { text, silent: false }
  const without = withoutMarkers(text)
  // A marker that is not closed in its line is none.
  if (without === text) return { text, silent: false }
  const trimmed = without.trim()
  return { text: trimmed, silent: trimmed === '' }
}

/** One pass: markers never overlap, so cutting each as its `>` arrives also finds those a cut has just joined. */
function withoutMarkers(text: string): string {
  const kept: string[] = []
  for (const unit of text.split('')) {
    kept.push(unit)
    if (unit !== '>') continue
    kept.length -= markerAtEnd(kept)
  }
  return kept.join('')
}

/** Returns the length of the marker with which the characters end; 0 for none. */
function markerAtEnd(kept: readonly string[]): number {
  const marker = MARKERS.find((candidate) => kept.slice(-candidate.length).join('') === candidate)
  if (marker) return marker.length
  const tail = kept.slice(-(WITH_REASON.length + LONGEST_REASON + 2)).join('')
  const start = tail.lastIndexOf(WITH_REASON)
  if (start < 0 || !REASON.test(tail.slice(start + WITH_REASON.length))) return 0
  return tail.length - start
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
  if ([...MARKERS, WITH_REASON].some((marker) => marker.startsWith(tail))) return true
  return tail.startsWith(WITH_REASON) && REASON.test(tail.slice(WITH_REASON.length))
}
