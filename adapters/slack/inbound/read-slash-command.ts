import type { Address } from '../../../src/core/address.ts'
import type { AccountId } from '../../../src/core/ids.ts'
import { presentTitles } from '../../../src/core/titles.ts'
import { type Fields, isFields, optionalText, present, textOf } from '../../shared/fields.ts'
import { type InboundReading, readSafely } from '../../shared/reading.ts'
import { idOf, toAddress } from '../address.ts'
import type { OwnBot } from './reading.ts'

export interface SlashContext {
  readonly account: AccountId
  readonly bot: OwnBot
  /** Names of our commands. */
  readonly commands: ReadonlySet<string>
  /** The platform does not say when it was typed: when it came, ms since the epoch. */
  readonly receivedAt: number
  /** The platform was asked and says that whoever has done it is of our organisation. */
  readonly senderIsOfOurs?: boolean
}

/** Nobody but who typed the command has seen it, and nobody else sees the answer. */
export const ANSWERED_TO_ONE = 'ephemeral'

/** A slash command comes as a form, whichever way it comes. */
export function isSlashCommand(body: unknown): body is Fields {
  return isFields(body) && typeof body.command === 'string'
}

/**
 * A slash command to the command it is. What the app declares in its manifest decides: `/new` is itself if there is a
 * command of that name; any other, such as `/parley new`, names it in its text. What names none asks for help. Pure and
 * total, as the reading of events.
 */
export function readSlashCommand(body: Fields, context: SlashContext): InboundReading {
  return readSafely('slash_command', () => readFields(body, context))
}

function readFields(
  body: Fields,
  { account, bot, commands, receivedAt, senderIsOfOurs }: SlashContext,
): InboundReading {
  const typed = textOf(body.command)
  const rest = (optionalText(body.text) ?? '').trim()
  const sender = idOf(body.user_id)
  const id = textOf(body.trigger_id)
  const chat = chatOf(body.channel_id, optionalText(body.channel_name))
  const displayName = optionalText(body.user_name)
  return {
    kind: 'event',
    event: {
      kind: 'command',
      eventKey: `${bot.team}/${bot.userId}:slash:${id}`,
      address: toAddress(account, { ...chat, team: bot.team, topic: undefined }),
      sender: {
        id: sender,
        kind: 'user',
        ...present('team', senderIsOfOurs ? bot.team : optionalText(body.team_id)),
        ...(displayName ? { displayName } : {}),
      },
      ...presentTitles({ chat: channelNameOf(body), topic: undefined, topicBegan: undefined }),
      sentAt: receivedAt,
      messageId: id,
      text: rest === '' ? typed : `${typed} ${rest}`,
      mentioned: true,
      mentionsOthers: false,
      attachments: [],
      ...nameOf(typed.replace(/^\//, '').toLowerCase(), rest, commands),
      answerBy: ANSWERED_TO_ONE,
    },
  }
}

function nameOf(
  declared: string,
  rest: string,
  commands: ReadonlySet<string>,
): { readonly name: string; readonly args: string } {
  if (commands.has(declared)) return { name: declared, args: rest }
  const [word = '', args = ''] = /^(\S+)\s*([\s\S]*)$/.exec(rest)?.slice(1) ?? []
  const name = word.replace(/^[!/]/, '').toLowerCase()
  return commands.has(name) ? { name, args } : { name: 'help', args: '' }
}

/** Returns the name of the channel a command was typed in; the platform hides that of a private one. */
export function channelNameOf({ channel_name: name }: Fields): string | undefined {
  const isName = typeof name === 'string' && name !== 'privategroup' && name !== 'directmessage'
  return isName && !isGroupName(name) ? name : undefined
}

/**
 * Returns the conversation of a command or a press. A direct chat is known by its id alone, for anybody may give its
 * name to a channel; the name that the platform makes of people's is that of a group of them.
 */
export function chatOf(id: unknown, name: string | undefined): Pick<Address, 'chatType' | 'chat'> {
  const chat = idOf(id)
  if (chat.startsWith('D')) return { chatType: 'direct', chat }
  return { chatType: isGroupName(name) ? 'group' : 'channel', chat }
}

function isGroupName(name: string | undefined): boolean {
  return name?.startsWith('mpdm-') === true
}
