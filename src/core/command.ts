import type { Decision, Dispatch, Identity } from './dispatch.ts'
import type { InboxId, PersonId } from './ids.ts'
import { nearMatch } from './near-match.ts'

/** A control command people type in a chat. `sessions/commands/index.ts` has all of them. */
export interface ChatCommand {
  /** Lower case, without slash. */
  readonly name: string
  /** One line for `/help` and the platform's own menu. */
  readonly description: string
  /** The arguments, for menus and `/help`: `how long (30m, 2h, 1d), or off`. Absent: the command has none. */
  readonly args?: string
  /** `owner` commands say nothing to anybody else. */
  readonly who: 'anyone' | 'owner'
  /** People for whom an owner's command is too; it decides itself what they may do with it. */
  readonly also?: readonly PersonId[]
  /** The answer is for who asked alone: where the platform cannot show it so, it goes to their direct chat. */
  readonly private?: true
  /** It may change who its sender is: its answer is for them whoever they are by then, as no other command's is. */
  readonly changesSender?: true
  /** The answer is made of the conversation: nobody gets it once that is not theirs any more. */
  readonly fromConversation?: true
  /** Also known to people we do not know, such as `/start`. */
  readonly open?: boolean
  /** It is in menus only while nobody owns the bot. */
  readonly unowned?: true
  /**
   * Without an argument, somebody we do not know asks with it to be let in, as with any message, once there is an
   * owner.
   */
  readonly asks?: boolean
  /**
   * Does it and returns the answer as Markdown, or null to say nothing. May run again after a crash, hence must be safe
   * to repeat. Throws `ParleyError`; its message is shown.
   */
  run(call: CommandCall): Promise<string | null>
}

export interface CommandCall {
  readonly inboxId: InboxId
  readonly dispatch: Dispatch
  readonly decision: Extract<Decision, { kind: 'control' }>
  readonly args: string
}

/** Returns true if somebody may give a command. */
export function mayGive({ role, person }: Identity, { who, also = [] }: Pick<ChatCommand, 'who' | 'also'>): boolean {
  return who === 'anyone' || role === 'owner' || (person !== undefined && also.includes(person))
}

/** Returns the command that a mistyped name most likely meant. */
export function nearCommand(name: string, commands: ReadonlyMap<string, ChatCommand>): ChatCommand | undefined {
  return commands.get(nearMatch(name, [...commands.keys()]) ?? '')
}
