import type { InboundContext } from '../../../adapters/slack/inbound/reading.ts'
import { toAccountId } from '../../../src/core/ids.ts'

export const context: InboundContext = {
  account: toAccountId('default'),
  bot: { userId: 'U0BOT', botId: 'B01', username: 'parley', team: 'T01' },
  commands: new Set(['status', 'new']),
  chatType: 'channel',
  internal: true,
}
