import type { OutboundMessage } from '../../core/outbound.ts'
import type { StoreWriter } from '../../store/store.ts'

/** Runs `when` in a transaction, and if it agrees plans the message there, which leaves after the commit. */
export type PostNotice = (message: OutboundMessage, when: (tx: StoreWriter) => Promise<boolean>) => Promise<void>
