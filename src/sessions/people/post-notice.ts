import type { OutboundMessage } from '../../core/outbound.ts'
import type { StoreWriter } from '../../store/store.ts'

/** Plans a message in a transaction, which leaves after its commit. */
export type PlanNotice = (tx: StoreWriter, message: OutboundMessage) => Promise<void>

/** Runs `when` in a transaction, and if it agrees plans the message there, which leaves after the commit. */
export type PostNotice = (message: OutboundMessage, when: (tx: StoreWriter) => Promise<boolean>) => Promise<void>
