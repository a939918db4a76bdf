import type { PlaceMatch } from './policy.ts'

/** The age limits of conversations; the first rule that fits counts, then `days`. Absent: they are kept. */
export interface RetentionSettings {
  readonly days?: number
  readonly rules: readonly { readonly match: PlaceMatch; readonly days: number | 'keep' }[]
}

/** The limit that holds for a conversation. */
export interface AgeLimit {
  /** The place of the limit in the configuration. */
  readonly rule: string
  readonly days: number
}
