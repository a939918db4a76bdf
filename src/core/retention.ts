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
  /** Names it with the conversations that it holds for: those of the rules before it are none of them. */
  readonly key: string
  readonly days: number
}
