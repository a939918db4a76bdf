import type { SessionEvent } from '../../core/event.ts'
import type { TurnId } from '../../core/ids.ts'
import type { FilesReadData } from '../../core/message.ts'
import { Spoken } from '../../core/spoken.ts'
import { applyEdit, dropDeleted, type ReceivedMessage, redact, takeMessages, withoutDropped } from '../view/received.ts'

/** A turn that ended with an answer, or with the agent's decision to say nothing. */
export interface CompletedTurn {
  readonly id: TurnId
  readonly received: readonly ReceivedMessage[]
  /** The tools that were asked for, each once, in the order in which they were asked for first (C36). */
  readonly tools: readonly string[]
}

type OpenTurn = CompletedTurn

/**
 * Groups a log into its completed turns, by the same rules as the model's view: what failed, was cancelled or was never
 * answered is in none (C37), and a message belongs to the turn that took it, whatever came between.
 */
export class TurnGroups {
  readonly #completed: CompletedTurn[] = []
  #pending: readonly ReceivedMessage[] = []
  #open: OpenTurn | undefined
  /** The last turn that ended without an answer: it may be resumed. */
  #failed: OpenTurn | undefined

  get completed(): readonly CompletedTurn[] {
    return this.#completed
  }

  add(event: SessionEvent): void {
    switch (event.type) {
      case 'user_message':
        if (!event.data.refused) this.#pending = [...this.#pending, event.data]
        return
      case 'message_edited':
        if (!event.data.refused) this.#pending = applyEdit(this.#pending, event.data)
        return
      case 'message_deleted':
        this.#pending = dropDeleted(this.#pending, event.data)
        this.#rewrite((received) => redact(received, event.data))
        return
      case 'messages_dropped':
        this.#pending = withoutDropped(this.#pending, event.data)
        return
      case 'turn_started': {
        const { taken, left } = takeMessages(this.#pending, event.data)
        this.#pending = left
        this.#open = event.turnId && { id: event.turnId, received: taken, tools: [] }
        return
      }
      case 'turn_steered': {
        if (!this.#open) return
        const { taken, left } = takeMessages(this.#pending, event.data)
        this.#pending = left
        this.#open = { ...this.#open, received: [...this.#open.received, ...taken] }
        return
      }
      case 'thread_read':
        this.#grow(({ received }) => ({ received: [...event.data.messages, ...received] }))
        return
      case 'files_read':
        this.#hear(event.data)
        return
      case 'assistant_step':
        this.#grow(({ tools }) => ({ tools: [...new Set([...tools, ...callsIn(event)])] }))
        return
      case 'turn_completed':
        this.#end(event.data.outcome !== 'failed', event.data.unasked)
        return
      case 'turn_resumed':
        if (this.#failed?.id === event.turnId) this.#open = this.#failed
        return
      case 'turn_cancelled':
      case 'history_taken_over':
        this.#end(false)
        return
      default:
        return
    }
  }

  /** Other files are named: what is in them was written by nobody here. */
  #hear({ files }: FilesReadData): void {
    const spoken = new Spoken()
    spoken.add(files)
    this.#grow(({ received }) => ({ received: received.map((message) => spoken.in(message)) }))
  }

  #grow(change: (open: OpenTurn) => Partial<OpenTurn>): void {
    this.#open = this.#open && { ...this.#open, ...change(this.#open) }
  }

  #rewrite(change: (received: readonly ReceivedMessage[]) => readonly ReceivedMessage[]): void {
    this.#grow(({ received }) => ({ received: change(received) }))
    for (const [index, turn] of this.#completed.entries()) {
      const received = change(turn.received)
      if (received !== turn.received) this.#completed[index] = { ...turn, received }
    }
  }

  /** The messages of a turn for which the agent was not asked are context of the next one. */
  #end(completed: boolean, unasked = false): void {
    const open = this.#open
    this.#open = undefined
    if (!open) return
    this.#failed = completed ? undefined : open
    if (unasked) this.#pending = [...open.received.map((one) => ({ ...one, triggers: false })), ...this.#pending]
    else if (completed) this.#completed.push(open)
  }
}

/** Calls that were forgotten have no names. */
function callsIn({ data, forgotten }: Extract<SessionEvent, { readonly type: 'assistant_step' }>): readonly string[] {
  return forgotten ? [] : data.calls.map(({ tool }) => tool)
}
