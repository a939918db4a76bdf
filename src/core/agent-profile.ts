import type { VoiceMode } from './audio.ts'
import type { AgentId } from './ids.ts'
import type { SettingValues } from './session-settings.ts'

/** An agent as configured. */
export interface AgentProfile {
  readonly id: AgentId
  /** `<server>/<model>`. */
  readonly model: string
  /** The models that are asked in its place, in this order, where it cannot be called. */
  readonly fallback?: readonly string[]
  /** Model calls of one turn, those before a crash included. Default 10 (R14). */
  readonly maxSteps?: number
  /** Tokens of one answer of the model, without those it thinks. Default 4096. */
  readonly answerTokens?: number
  /** The model that writes summaries; absent: its own. */
  readonly summaryModel?: string
  /** Tokens that the model reads at once; absent: not known. */
  readonly contextTokens?: number
  /** Models a session may be set to, beside its own; absent: any the configuration has a key for. */
  readonly models?: readonly string[]
  /** Sets how hard the model thinks; absent: the model's default. */
  readonly thinking?: SettingValues['thinkingLevel']
  /** Which of its answers are spoken; absent: none. */
  readonly voice?: VoiceMode
  readonly prompt: string
  readonly tools: readonly string[]
  readonly skills?: readonly Skill[]
}

/** Instructions for one kind of work, which the model loads when it needs them (R35). */
export interface Skill {
  readonly name: string
  /** One line on what it is for and when to use it. */
  readonly description: string
  /** Markdown. */
  readonly text: string
}
