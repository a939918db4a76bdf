import type { AccountId } from '../../../src/core/ids.ts'
import { type Fields, fieldsOf, isFields, listOf, optionalFields, textOf } from '../../shared/fields.ts'
import { dropped, type InboundReading, readSafely } from '../../shared/reading.ts'
import { withoutNulls } from '../../shared/without-nulls.ts'
import { idOf, readChannel, timeOfSnowflake, titlesOf, toAddress } from '../address.ts'
import { readSender } from './read-event.ts'

const APPLICATION_COMMAND = 2
const CHAT_INPUT = 1

/** The ids with which an interaction is acknowledged and answered. */
export interface InteractionIds {
  readonly id: string
  readonly token: string
  readonly applicationId: string
}

/**
 * A slash command to the command it is. Pure and total, as the reading of messages. What it stands in comes with it, so
 * that nothing has to be asked before it is acknowledged.
 */
export function readInteraction(
  interaction: unknown,
  { account, botId }: { readonly account: AccountId; readonly botId: string },
): InboundReading {
  return readSafely('interaction', () => {
    const fields = fieldsOf(withoutNulls(interaction))
    if (fields.type !== APPLICATION_COMMAND) return dropped('interaction:other')
    const data = fieldsOf(fields.data)
    if (data.type !== CHAT_INPUT) return dropped('interaction:other_command')
    const ids = interactionIds(fields)
    const sender = readSender(fieldsOf(optionalFields(fields.member)?.user ?? fields.user))
    const place = isFields(fields.channel) ? readChannel(fields.channel, fields.guild_id) : undefined
    const address = place && toAddress(account, place, sender.id)
    if (!place || !address) return dropped('interaction:unknown_channel')
    const name = textOf(data.name).toLowerCase()
    const args = argsOf(data)
    return {
      kind: 'event',
      event: {
        kind: 'command',
        eventKey: `${botId}:interaction:${ids.id}`,
        address,
        sender,
        ...titlesOf(place, undefined),
        sentAt: timeOfSnowflake(ids.id),
        messageId: ids.id,
        text: args === '' ? `/${name}` : `/${name} ${args}`,
        mentioned: true,
        mentionsOthers: false,
        attachments: [],
        name,
        args,
        answerBy: handleOf(ids),
      },
    }
  })
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
  const values = listOf(options ?? undefined).map((option) => String(fieldsOf(option).value ?? ''))
  return values.join(' ').trim()
}
