import type { ChannelAdapter } from '../channels/adapter.ts'
import type { DeletesMessages, EditsMessages } from '../channels/capabilities.ts'
import { failpoint } from '../core/failpoint.ts'
import { deliveryKey, type TurnId } from '../core/ids.ts'
import type { DeliveryReceipt, OutboundMessage, RenderedPart } from '../core/outbound.ts'
import type { DeliveryChange, Store } from '../store/store.ts'
import type { Calls } from './calls.ts'
import { newRow, type RowDeps } from './new-row.ts'

/** The turn whose reply grows, and all its message will need. */
export type LiveTurn = Omit<OutboundMessage, 'source' | 'class' | 'text'> & { readonly turnId: TurnId }

export interface MessageDeps extends RowDeps {
  readonly store: Store
  readonly calls: Calls
}

/** An adapter that could also take back what it shows. */
export type Editor = ChannelAdapter & EditsMessages & DeletesMessages

/** The one message a growing reply is shown in. */
export interface GrowingMessage {
  /** What it shows now, as markup. */
  readonly rendered: string | undefined
  /** Looks for the message of a run that crashed. False: its fate is unknown, and nothing may be shown. */
  takeUp(): Promise<boolean>
  /** Sends the message or edits it. Rejects only when the store does. */
  show(editor: Editor, part: RenderedPart): Promise<DeliveryReceipt>
  /** The row is the final answer's now: calls are aborted, in flight or to come, and a late receipt is not recorded. */
  abandon(): void
}

export function createGrowingMessage(deps: MessageDeps, turn: LiveTurn): GrowingMessage {
  const { store, clock, calls } = deps
  const { address, replyTo } = turn
  let abandoned = false
  let current: AbortController | undefined
  let shown: { readonly messageId: string; readonly rendered: string } | undefined

  function call(send: (signal: AbortSignal) => Promise<DeliveryReceipt>): Promise<DeliveryReceipt> {
    return calls.make((control) => {
      current = control
      if (abandoned) control.abort()
      return send(control.signal)
    })
  }

  function edit(editor: Editor, part: RenderedPart, messageId: string): Promise<DeliveryReceipt> {
    return call((signal) => editor.edit({ address, messageId }, part, signal))
  }

  /** An outbox row committed `sending` before the first byte. */
  async function open(editor: Editor, part: RenderedPart): Promise<DeliveryReceipt> {
    const startedAt = clock.now()
    const row = newRow(deps, { ...turn, source: turn.turnId, class: 'reply' }, { part, partNo: 0, startedAt })
    await store.write((tx) => tx.outbox.add([row]))
    failpoint('CP11-sending-committed')
    const common = { address, rendered: part, key: deliveryKey(row.id) }
    const message = replyTo === undefined ? common : { ...common, replyTo }
    const receipt = await call((signal) => editor.send(message, signal))
    if (abandoned) return receipt
    const change = { ...changeOf(receipt), at: clock.now() }
    await store.write((tx) => tx.outbox.settle(row.id, change))
    return receipt
  }

  return {
    get rendered() {
      return shown?.rendered
    },
    async takeUp() {
      const [row] = await store.read.outbox.ofSource(turn.turnId)
      if (!row) return true
      if (row.state !== 'sent' || row.messageId === undefined) return false
      shown = { messageId: row.messageId, rendered: row.part.text }
      return true
    },
    async show(editor, part) {
      const receipt = shown ? await edit(editor, part, shown.messageId) : await open(editor, part)
      if (receipt.kind === 'sent') shown = { messageId: receipt.messageId, rendered: part.text }
      return receipt
    },
    abandon() {
      abandoned = true
      current?.abort()
    },
  }
}

function changeOf(receipt: DeliveryReceipt): Omit<DeliveryChange, 'at'> {
  switch (receipt.kind) {
    case 'sent':
      return { state: 'sent', messageId: receipt.messageId }
    case 'unknown':
      return { state: 'uncertain', reason: receipt.reason }
    case 'not_sent':
      return { state: 'waiting', reason: receipt.reason }
    case 'rejected':
      return { state: receipt.retryAfterMs === undefined ? 'rejected' : 'waiting', reason: receipt.reason }
  }
}
