import { createHash } from 'node:crypto'
import type { SessionEvent } from '../../core/event.ts'
import { type ArchivedSession, isAboutExport } from '../../core/operate-archives.ts'

/** The form of the lines; a reader refuses a later one. */
export const BUNDLE_VERSION = 1

/** A line of a bundle, in this order: one `session`, its events, its files, one `end`. */
export type BundleLine =
  | { readonly kind: 'session'; readonly version: number; readonly session: Omit<ArchivedSession, 'lastSeq'> }
  | { readonly kind: 'event'; readonly event: SessionEvent }
  | { readonly kind: 'file'; readonly media: string; readonly base64: string }
  | { readonly kind: 'end'; readonly lines: number; readonly sha256: string }

/** Returns a value as JSON with sorted keys, so that equal values are equal bytes. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([one], [other]) => (one < other ? -1 : 1)))
      : item,
  )
}

/** Writes the lines of a bundle and, at its end, the digest of all before it. */
export class BundleWriter {
  readonly #digest = createHash('sha256')
  #lines = 0

  line(line: BundleLine): string {
    const text = `${canonicalJson(line)}\n`
    this.#digest.update(text)
    this.#lines++
    return text
  }

  end(): string {
    return this.line({ kind: 'end', lines: this.#lines, sha256: this.#digest.copy().digest('hex') })
  }
}

/** Without the path of the machine it was written on. */
export function withoutPath(event: SessionEvent): SessionEvent {
  if (event.type !== 'session_exported') return event
  return { ...event, data: { format: event.data.format } }
}

/** Without the exports after the last word, so that a second export is the first one. */
export function withoutLastExports(events: readonly SessionEvent[]): readonly SessionEvent[] {
  return events.slice(0, events.findLastIndex((event) => !isAboutExport(event)) + 1)
}
