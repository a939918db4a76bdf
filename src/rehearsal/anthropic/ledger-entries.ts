import type { WaitOptions } from '../ledger.ts'
import { Ledger } from '../ledger.ts'
import type { Usage } from './reply-message.ts'
import type { MessagesRequest } from './request.ts'

/** A request that passed authentication and validation and was handed to the script. */
export interface AcceptedEntry {
  readonly kind: 'accepted'
  readonly at: number
  readonly turn: number
  readonly request: MessagesRequest
}

/** A request that was refused, by the API's rules or by the script. */
export interface RefusedEntry {
  readonly kind: 'refused'
  readonly at: number
  readonly status: number
  readonly type: string
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

export type MessagesEntry = AcceptedEntry | RefusedEntry | EndedEntry | SkippedEntry

export class MessagesLedger extends Ledger<MessagesEntry> {
  constructor() {
    super(describeEntry)
  }

  /** Returns the accepted requests in order. */
  requests(): MessagesRequest[] {
    return this.all((entry): entry is AcceptedEntry => entry.kind === 'accepted').map(({ request }) => request)
  }

  nextAccepted(options?: WaitOptions & { where?: (request: MessagesRequest) => boolean }): Promise<AcceptedEntry> {
    const where = options?.where
    const match = (entry: MessagesEntry): entry is AcceptedEntry =>
      entry.kind === 'accepted' && (where === undefined || where(entry.request))
    return this.next(match, options)
  }

  nextEnded(options?: WaitOptions): Promise<EndedEntry> {
    return this.next((entry): entry is EndedEntry => entry.kind === 'ended', options)
  }
}

function describeEntry(entry: MessagesEntry): string {
  switch (entry.kind) {
    case 'accepted':
      return `request ${entry.turn} with ${entry.request.messages.length} messages`
    case 'refused':
      return `refused ${entry.status} ${entry.type}: ${entry.message}`
    case 'ended':
      return `answer ${entry.turn} ended: ${entry.how} after ${entry.deltas} deltas`
    case 'skipped':
      return `request met the fault ${entry.fault}`
  }
}
