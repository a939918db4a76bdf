import type { AccountId } from '../../../src/core/ids.ts'
import { type Fields, fieldsOf, isFields, listOf, optionalFields, optionalText, textOf } from '../../shared/fields.ts'
import { type Pressed, readPress } from '../../shared/press.ts'
import { dropped, type InboundReading, readSafely } from '../../shared/reading.ts'
import { withoutNulls } from '../../shared/without-nulls.ts'
import { idOf, readChannel, timeOfSnowflake, titlesOf, toAddress } from '../address.ts'
import { readSender } from './read-event.ts'

const APPLICATION_COMMAND = 2
const CHAT_INPUT = 1
const MESSAGE_COMPONENT = 3

/** The ids with which an interaction is acknowledged and answered. */
export interface InteractionIds {
  readonly id: string
  readonly token: string
  readonly applicationId: string
}

/** The reason for which the press of a button is dropped that is none of ours. */
export const FOREIGN_BUTTON = 'interaction:foreign_button'

/**
 * A slash command, or the press of a button, to the command it is. Pure and total, as the reading of messages. What it
 * stands in comes with it, so that nothing has to be asked before it is acknowledged.
 */
export function readInteraction(
  interaction: unknown,
  { account, botId }: { readonly account: AccountId; readonly botId: string },
): InboundReading {
  return readSafely('interaction', () => {
    const fields = fieldsOf(withoutNulls(interaction))
    const given = readGiven(fields)
    if ('why' in given) return given
    const ids = interactionIds(fields)
    const member = optionalFields(fields.member)
    const sender = readSender(fieldsOf(member?.user ?? fields.user), { nick: member?.nick })
    const place = isFields(fields.channel) ? readChannel(fields.channel, fields.guild_id) : undefined
    const address = place && toAddress(account, place, sender.id)
    if (!place || !address) return dropped('interaction:unknown_channel')
    return {
      kind: 'event',
      event: {
        ...given,
        eventKey: `${botId}:interaction:${ids.id}`,
        address,
        sender,
        ...titlesOf(place, undefined),
        sentAt: timeOfSnowflake(ids.id),
        messageId: ids.id,
        answerBy: handleOf(ids),
      },
    }
  })
}

type Dropped = Extract<InboundReading, { kind: 'dropped' }>

/** Returns the command that was given, by the menu or by a button. */
function readGiven({ type, data: given }: Fields): Pressed | Dropped {
  if (type !== APPLICATION_COMMAND && type !== MESSAGE_COMPONENT) return dropped('interaction:other')
  const data = fieldsOf(given)
  if (type === MESSAGE_COMPONENT) return readPress(textOf(data.custom_id)) ?? dropped(FOREIGN_BUTTON)
  if (data.type !== CHAT_INPUT) return dropped('interaction:other_command')
  const name = textOf(data.name).toLowerCase()
  const args = argsOf(data)
  const text = args === '' ? `/${name}` : `/${name} ${args}`
  return { kind: 'command', text, mentioned: true, mentionsOthers: false, attachments: [], name, args }
}

/** @throws Malformed */
export function interactionIds(interaction: Fields): InteractionIds {
  const { id, token, application_id: application } = interaction
  return { id: idOf(id), token: textOf(token), applicationId: idOf(application) }
}

/** Returns the value of `answerBy`: the path under which this interaction accepts answers for a quarter of an hour. */
export function handleOf({ applicationId, token }: InteractionIds): string {
  return `${applicationId}/${encodeURIComponent(token)}`
}

/** Our commands have one option, a text. */
function argsOf({ options }: Fields): string {
  const values = listOf(options).map((option) => optionalText(fieldsOf(option).value) ?? '')
  return values.join(' ').trim()
}
