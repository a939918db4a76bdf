import type { InboundCommand } from '../../src/core/message.ts'

/** `/name arguments`, as our own buttons carry it. */
const COMMAND = /^\/([a-z]{1,32})(?: (\S.{0,40}))?$/

/** The fields of a command that its words decide. */
export type Pressed = Pick<
  InboundCommand,
  'kind' | 'text' | 'name' | 'args' | 'mentioned' | 'mentionsOthers' | 'attachments'
>

/** The answer to the press of a button that is not ours. */
export const NOTHING_ANY_MORE = 'This button does nothing any more.'

/**
 * Reads what a button carries: a press is the command of whoever presses, as if they had typed it, so that nobody gains
 * anything by a press that no button offered. Undefined for a button that is not ours, such as that of another program
 * the bot served before.
 */
export function readPress(data: string): Pressed | undefined {
  const [, name, args = ''] = COMMAND.exec(data) ?? []
  if (name === undefined) return undefined
  return { kind: 'command', text: data, name, args, mentioned: true, mentionsOthers: false, attachments: [] }
}
