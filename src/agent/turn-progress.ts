import type { Charge } from '../core/budget.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { MediaStore } from '../core/media.ts'
import { addUsage, type Model, type ModelMessage, tokensRead, type Usage } from '../core/model.ts'
import type { Tool, ToolResultLimits, TurnRequest } from '../core/turn.ts'
import type { ModelAnswer } from './models/ask-model.ts'
import type { PictureRecord } from './models/pictures.ts'
import { isTalk } from './pair-calls.ts'

export interface RunAgentServices {
  /** May reject with `model_unconfigured`. */
  readonly models: (id: string, charge?: Charge) => Promise<Model>
  /** Throws `config` for an unknown group. */
  readonly tools: (groups: readonly string[], called: readonly string[]) => readonly Tool[] | Promise<readonly Tool[]>
  /** Keeps the files that tools return. */
  readonly media: Pick<MediaStore, 'keep'>
  readonly clock: Clock
  /** IANA zone of the times the model is given. */
  readonly timeZone: string
  /** Called after each call of a model by its name, with the failure if there was one. */
  readonly called?: (model: string, failure?: unknown) => void
  /** Returns true for a model that failed a moment ago: one that may answer is asked before it. */
  readonly rests?: (model: string) => boolean
  readonly results?: ToolResultLimits
  /** Returns a text without the values of configured secrets (C29). */
  readonly redact?: (text: string) => string
  readonly logger?: Logger
  readonly pictures?: PictureRecord
}

/** The services, all of them given. */
export type Settings = Required<RunAgentServices>

/** The progress of a turn; a failure still reports real numbers. */
export interface Progress {
  messages: readonly ModelMessage[]
  /** Nothing but texts so far. */
  talk: boolean
  /** A model has answered or begun to in this run: from now on no other one is asked. */
  begun: boolean
  /** A request was too long for the model, which has answered the shortened one. */
  shortened: boolean
  /** Messages of earlier turns that were left out of `messages` by it. */
  leftOut: number
  steps: number
  usage: Usage
  /** Tokens that the model read in the first call: the conversation, without what tools have returned since. */
  read: number
  /** Tokens that the model reads at once, where its server has named them. */
  window: number | undefined
  /** The model that was asked last, as it is configured. */
  asked: string
  /** The last answer's model, for a turn that a limit ends. */
  model: string
}

/** A turn that runs. */
export interface RunningAgent {
  readonly settings: Settings
  readonly request: TurnRequest
  readonly signal: AbortSignal
  readonly progress: Progress
}

/** Returns the progress of a turn before this run has done anything. */
export function begun({ messages, spent, agent }: TurnRequest): Progress {
  return {
    messages,
    talk: isTalk(messages),
    begun: false,
    shortened: false,
    leftOut: 0,
    read: 0,
    window: undefined,
    steps: spent.steps,
    usage: spent.usage,
    asked: agent.model,
    model: agent.model,
  }
}

/** Adds an answer to the progress. */
export function take(answer: ModelAnswer, progress: Progress): void {
  progress.begun = true
  progress.steps++
  progress.usage = addUsage(progress.usage, answer.usage)
  if (progress.read === 0) progress.read = tokensRead(answer.usage)
  progress.window = answer.window ?? progress.window
  progress.model = answer.model
}
