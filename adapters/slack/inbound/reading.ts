import type { ChatType } from '../../../src/core/address.ts'
import type { AccountId } from '../../../src/core/ids.ts'
import type { Titles } from '../../../src/core/message.ts'

/** The bot's own identity, from auth.test. */
export interface OwnBot {
  readonly userId: string
  readonly botId: string
  readonly username: string
  readonly team: string
}

/** The facts that reading an event needs besides the event. */
export interface InboundContext {
  readonly account: AccountId
  readonly bot: OwnBot
  /** Names that make a command of `!name`: anything else that begins so is text. */
  readonly commands: ReadonlySet<string>
  /** The chat type of the conversation, for events that leave it out. */
  readonly chatType: ChatType
  /** The name of the channel, where it is known. */
  readonly titles?: Titles
  /** The sender's name, where it could be looked up. */
  readonly senderName?: string
  /** The platform says that nobody of another workspace is in the conversation. */
  readonly internal?: boolean
  /** The workspace of whoever wrote the message that the event's message shares, where it could be asked. */
  readonly authorTeam?: string
}
