import type { ChatType } from '../../../src/core/address.ts'
import type { AccountId } from '../../../src/core/ids.ts'

/** Who we are, from auth.test. */
export interface BotFacts {
  readonly userId: string
  readonly botId: string
  readonly username: string
  readonly team: string
}

/** What reading an event needs to know besides the event. */
export interface InboundContext {
  readonly account: AccountId
  readonly bot: BotFacts
  /** Names that make a command of `!name`: anything else that begins so is text. */
  readonly commands: ReadonlySet<string>
  /** Of the event's conversation, for the events that do not say it. */
  readonly chatType: ChatType
  /** What the sender is called, where it could be asked. */
  readonly senderName?: string
  /** The workspace of whoever wrote the message that the event's message shares, where it could be asked. */
  readonly authorTeam?: string
}
