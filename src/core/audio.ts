import type { Charge } from './budget.ts'
import type { MediaId } from './ids.ts'

/** A recording with a type by its content, or as an endpoint says it. */
export interface SoundFile {
  readonly bytes: Uint8Array
  readonly mime: string
}

/**
 * A server that transcribes and speaks. Everything that fails is thrown as `unavailable` in words for people, without
 * those of the server and without its key; `aborted` once `signal` is.
 */
export interface Audio {
  /** Absent: nothing is transcribed. Throws `too_long` for a recording larger than is sent. */
  readonly transcribe?: (recording: SoundFile, signal: AbortSignal, charge?: Charge) => Promise<Heard>
  /** Absent: nothing is spoken. */
  readonly speak?: Speak
}

/** The words of a recording. */
export interface Heard {
  readonly said: string
  /** Tokens, by the count of the server; absent where it has none. */
  readonly usage?: { readonly input: number; readonly output: number }
}

/** Returns a text spoken. Throws `too_long` for one that is longer than is spoken. */
export type Speak = (text: string, signal: AbortSignal, charge?: Charge) => Promise<SoundFile>

/** A recording that is kept under its handle. */
export interface KeptRecording extends SoundFile {
  readonly id: MediaId
}

/** Returns what is said in a recording, or in words why that cannot be known. Never rejects. */
export type Hear = (
  recording: KeptRecording,
  signal: AbortSignal,
  charge?: Charge,
) => Promise<{ readonly said: string } | { readonly unheard: string }>

export interface AudioLimits {
  /** The whole of one call. */
  readonly seconds: number
  /** Bytes of a recording that is sent or received. */
  readonly bytes: number
  /** Characters of a text that is spoken; a longer one stays a text. */
  readonly characters: number
}

export const DEFAULT_AUDIO_LIMITS: AudioLimits = { seconds: 45, bytes: 20_000_000, characters: 1_000 }

/** When answers are spoken. `when-spoken-to`: to a voice note of the person's own. */
export const VOICE_MODES = ['never', 'when-spoken-to', 'always'] as const

export type VoiceMode = (typeof VOICE_MODES)[number]
