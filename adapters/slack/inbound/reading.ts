import type { ChatType } from '../../../src/core/address.ts'
import type { AccountId } from '../../../src/core/ids.ts'
import type { Titles } from '../../../src/core/message.ts'
import type { Names } from './mrkdwn-text.ts'

/** The bot's own identity, from auth.test. */
export interface OwnBot {
  readonly userId: string
  readonly botId: string
  readonly username: string
  readonly team: string
  /** The organisation of several workspaces (Enterprise Grid) that this workspace belongs to. */
  readonly enterprise?: string
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
  /** The platform was asked and says that the sender is no program, though the message came through an app. */
  readonly senderIsPerson?: boolean
  /** The platform was asked and says that the sender is of our organisation, in the workspace that the message names. */
  readonly senderIsOfOurs?: boolean
  /** The names of whom and what the message names, where they could be looked up. */
  readonly names?: Names
  /** The platform says that nobody of another workspace is in the conversation. */
  readonly internal?: boolean
  /** A thread is read back, of which the bot's own messages are a part. */
  readonly readsOwn?: true
  /** The workspace of whoever wrote the message that the event's message shares, where it could be asked. */
  readonly authorTeam?: string
}
