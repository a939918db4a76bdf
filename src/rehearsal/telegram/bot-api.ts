import type { BotState } from './bot-state.ts'
import type { FloodControl } from './flood.ts'
import type { TextRules } from './formatted-text.ts'
import type { TelegramLedger } from './ledger-entries.ts'
import type { TelegramWorld } from './world.ts'

/** The parts that a method uses: one bot account in the world. */
export interface BotApi {
  readonly world: TelegramWorld
  readonly bot: BotState
  readonly ledger: TelegramLedger
  readonly flood: FloodControl | null
  readonly textRules: Omit<TextRules, 'tooLong'>
}
