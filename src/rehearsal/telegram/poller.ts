import { ApiError } from './api-error.ts'
import type { QueuedUpdate, TakeUpdates, UpdateQueue } from './update-queue.ts'

export interface PollRequest extends TakeUpdates {
  timeoutSeconds: number
}

interface HeldPoll {
  readonly request: PollRequest
  readonly timer: NodeJS.Timeout
  settle(outcome: QueuedUpdate[] | ApiError): void
}

/** One getUpdates consumer at a time: a second poll ends the first with 409, an update or the timeout answers it. */
export class Poller {
  /** False if a poll without updates is answered at once, whatever `timeout` it asks for, as by some servers. */
  holds = true
  /**
   * Returns true for polls that are answered as if no update waited, as by a server that has lost a client's position.
   */
  isDeafTo: (request: PollRequest) => boolean = () => false
  readonly #queue: UpdateQueue
  #held: HeldPoll | undefined

  constructor(queue: UpdateQueue) {
    this.#queue = queue
  }

  /**
   * Polls. `gone` aborts when the caller hung up: then nothing is handed out, and its updates stay for the next poll.
   */
  poll(request: PollRequest, gone: AbortSignal, onHeld: () => void): Promise<QueuedUpdate[]> {
    if (gone.aborted) return Promise.resolve([])
    this.#end(conflict('terminated by other getUpdates request; make sure that only one bot instance is running'))
    const batch = this.isDeafTo(request) ? [] : this.#queue.take(request)
    if (batch.length > 0 || request.timeoutSeconds <= 0 || !this.holds) return Promise.resolve(batch)
    return this.#hold(request, gone, onHeld)
  }

  /** Answers the held poll if there is something for it now. */
  wake(): void {
    const request = this.#held?.request
    if (request !== undefined && this.#queue.pending > 0 && !this.isDeafTo(request))
      this.#end(this.#queue.take(request))
  }

  /** Ends the held poll because a webhook was set. */
  replaceByWebhook(): void {
    this.#end(conflict('terminated by setWebhook request'))
  }

  close(): void {
    this.#end([])
  }

  #hold(request: PollRequest, gone: AbortSignal, onHeld: () => void): Promise<QueuedUpdate[]> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        if (this.#held === held) this.#end([])
      }
      const held: HeldPoll = {
        request,
        timer: setTimeout(leave, request.timeoutSeconds * 1000),
        settle: (outcome) => {
          gone.removeEventListener('abort', leave)
          if (outcome instanceof ApiError) reject(outcome)
          else resolve(outcome)
        },
      }
      gone.addEventListener('abort', leave)
      this.#held = held
      onHeld()
    })
  }

  #end(outcome: QueuedUpdate[] | ApiError): void {
    const held = this.#held
    if (held === undefined) return
    this.#held = undefined
    clearTimeout(held.timer)
    held.settle(outcome)
  }
}

function conflict(why: string): ApiError {
  return new ApiError(409, `Conflict: ${why}`)
}
