import type { InboundContext } from '../../../adapters/telegram/inbound/reading.ts'
import { toAccountId } from '../../../src/core/ids.ts'

/** The bot of the recorded updates. */
export const context: InboundContext = {
  account: toAccountId('default'),
  bot: { id: '7000001', username: 'parley_bot' },
  topics: { get: () => undefined },
  posts: { has: () => false },
  receivedAt: 1_795_000_123_456,
}
