import type { ChannelAdapter } from '../channels/adapter.ts'
import type { DeletesMessages, EditsMessages, MessageTarget } from '../channels/capabilities.ts'
import { failpoint } from '../core/failpoint.ts'
import type { TurnId } from '../core/ids.ts'
import type { MediaStore } from '../core/media.ts'
import type { DeliveryReceipt, OutboundMessage, RenderedPart } from '../core/outbound.ts'
import type { Store } from '../store/store.ts'
import { afterCall } from './after-call.ts'
import type { Calls } from './calls.ts'
import { newRow, type RowDeps } from './new-row.ts'
import { sentIn, settlement } from './record.ts'
import { transmit } from './transmit.ts'

/** The turn whose reply grows, and all that its message needs. */
export type LiveTurn = Omit<OutboundMessage, 'source' | 'class' | 'text'> & { readonly turnId: TurnId }

export interface MessageDeps extends RowDeps {
  readonly store: Store
  readonly calls: Calls
  readonly media: Pick<MediaStore, 'read'>
  random(): number
}

/** An adapter that can also delete what it shows. */
export type Editor = ChannelAdapter & EditsMessages & DeletesMessages

/** The one message in which a growing reply is shown. */
export interface GrowingMessage {
  /** True once a part of the reply stands in the chat. */
  readonly stands: boolean
  /** Returns true if the message shows this part already. */
  shows(part: RenderedPart): boolean
  /**
   * Looks for the message of a run that crashed. Returns false if there is one: its text is not known, and it would
   * shrink before it grows, so nothing is shown in it before the whole answer.
   */
  resume(): Promise<boolean>
  /** Sends the message or edits it. Rejects only when the store does. */
  show(editor: Editor, part: RenderedPart): Promise<DeliveryReceipt>
  /** Gives the row to the final answer: calls in flight or to come are aborted, and a late receipt is not recorded. */
  abandon(): void
}

export function createGrowingMessage(deps: MessageDeps, turn: LiveTurn): GrowingMessage {
  const { store, clock, calls } = deps
  const { address } = turn
  let abandoned = false
  let current: AbortController | undefined
  let message: MessageTarget | undefined

  function call(send: (signal: AbortSignal) => Promise<DeliveryReceipt>): Promise<DeliveryReceipt> {
    return calls.make((control) => {
      current = control
      if (abandoned) control.abort()
      return send(control.signal)
    })
  }

  async function edit(editor: Editor, part: RenderedPart, target: MessageTarget): Promise<DeliveryReceipt> {
    const begunAt = clock.elapsed()
    calls.shown(target)
    const receipt = await call((signal) => editor.edit(target, part, signal))
    if (receipt.kind === 'sent') calls.wrote(address, begunAt)
    return receipt
  }

  /** Commits an outbox row as `sending` before the first byte. */
  async function open(editor: Editor, part: RenderedPart): Promise<DeliveryReceipt> {
    const envelope = { ...turn, source: turn.turnId, class: 'reply' } as const
    const row = newRow(deps, envelope, { part, partNo: 0, startedAt: clock.now() })
    await store.write((tx) => tx.outbox.add([row]))
    failpoint('CP11-sending-committed')
    const startedAt = clock.elapsed()
    const receipt = await call((signal) => transmit(editor, row, { address, signal, media: deps.media }))
    if (receipt.kind === 'sent') calls.wrote(address, startedAt)
    if (abandoned) return receipt
    const item = { kind: 'sending', row, startedAt, expiresAt: Number.POSITIVE_INFINITY, as: 'first' } as const
    const facts = { elapsed: clock.elapsed(), settings: deps.settings, random: deps.random(), moved: true }
    const { change, sentTo } = afterCall(item, receipt, facts)
    if (change.kind === 'settle') {
      const where = sentTo ? { address: sentTo } : sentIn(address, row, change.messageId)
      const settled = { ...settlement(change, clock.now()), ...where }
      await store.write((tx) => tx.outbox.settle(row.id, settled))
    }
    return receipt
  }

  return {
    get stands() {
      return message !== undefined
    },
    shows: (part) => message !== undefined && calls.shows(message, part),
    async resume() {
      const [row] = await store.read.outbox.ofSource(turn.turnId)
      if (!row) return true
      if (row.state === 'sent' && row.messageId !== undefined) message = { address, messageId: row.messageId }
      return false
    },
    async show(editor, part) {
      const receipt = message ? await edit(editor, part, message) : await open(editor, part)
      if (receipt.kind !== 'sent') return receipt
      message = { address, messageId: receipt.messageId }
      // The final answer may have been edited in before this late receipt.
      if (!abandoned) calls.shown(message, part)
      return receipt
    },
    abandon() {
      abandoned = true
      current?.abort()
    },
  }
}
