import type { WaitOptions } from '../ledger.ts'
import { Ledger } from '../ledger.ts'
import type { SpeechRequest, TranscriptionRequest } from './audio.ts'
import type { Usage } from './reply-completion.ts'
import type { ChatRequest } from './request.ts'

/** A request that passed authentication and validation and was handed to the script. */
export interface AcceptedEntry {
  readonly kind: 'accepted'
  readonly at: number
  readonly turn: number
  readonly request: ChatRequest
  /** The names of the headers it came with. */
  readonly headers: readonly string[]
}

/** A request that was refused, by the API's rules or by the script. */
export interface RefusedEntry {
  readonly kind: 'refused'
  readonly at: number
  readonly status: number
  readonly code: string | null
  readonly message: string
}

/** The end of the answer to an accepted request; `gone` means that the client hung up first. */
export interface EndedEntry {
  readonly kind: 'ended'
  readonly at: number
  readonly turn: number
  readonly how: 'complete' | 'error' | 'stalled' | 'cut' | 'gone'
  /** The number of deltas that were written. */
  readonly deltas: number
  /** The tokens the answer reports; absent where no answer was made. */
  readonly usage?: Usage
}

/** A request that a fault ended before the server looked at it. */
export interface SkippedEntry {
  readonly kind: 'skipped'
  readonly at: number
  readonly fault: string
}

/** A recording that was transcribed. */
export interface HeardEntry {
  readonly kind: 'heard'
  readonly at: number
  readonly request: TranscriptionRequest
}

/** A text that was spoken. */
export interface SpokeEntry {
  readonly kind: 'spoke'
  readonly at: number
  readonly request: SpeechRequest
}

export type ChatEntry = AcceptedEntry | RefusedEntry | EndedEntry | SkippedEntry | HeardEntry | SpokeEntry

export class ChatLedger extends Ledger<ChatEntry> {
  constructor() {
    super(describeEntry)
  }

  /** Returns the accepted requests in order. */
  requests(): ChatRequest[] {
    return this.all((entry): entry is AcceptedEntry => entry.kind === 'accepted').map(({ request }) => request)
  }

  nextAccepted(options?: WaitOptions & { where?: (request: ChatRequest) => boolean }): Promise<AcceptedEntry> {
    const where = options?.where
    const match = (entry: ChatEntry): entry is AcceptedEntry =>
      entry.kind === 'accepted' && (where === undefined || where(entry.request))
    return this.next(match, options)
  }

  nextEnded(options?: WaitOptions): Promise<EndedEntry> {
    return this.next((entry): entry is EndedEntry => entry.kind === 'ended', options)
  }
}

function describeEntry(entry: ChatEntry): string {
  switch (entry.kind) {
    case 'accepted':
      return `request ${entry.turn} with ${entry.request.messages.length} messages`
    case 'refused':
      return `refused ${entry.status} ${entry.code}: ${entry.message}`
    case 'ended':
      return `answer ${entry.turn} ended: ${entry.how} after ${entry.deltas} deltas`
    case 'skipped':
      return `request met the fault ${entry.fault}`
    case 'heard':
      return `heard ${entry.request.fileName} with ${entry.request.model}`
    case 'spoke':
      return `spoke ${entry.request.input.length} characters with ${entry.request.model}`
  }
}
