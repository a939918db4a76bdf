import { countOf, type Fields, fieldsOf, listOf, optionalFields, textOf } from '../../shared/fields.ts'
import { idOf } from '../address.ts'

/** The bot's own identity, from getMe. */
export interface BotFacts {
  /** The id as text. */
  readonly id: string
  /** Without the `@`. */
  readonly username: string
}

/** A marked stretch of a text; offsets count UTF-16 units, as JavaScript does. */
interface Entity {
  readonly type: string
  readonly offset: number
  readonly length: number
  readonly userId?: string
}

interface Mentions {
  readonly bot: boolean
  readonly others: boolean
}

/** `other`: a command that names another bot; it is not for us and never becomes a message. */
type CommandReading =
  | { readonly kind: 'none' }
  | { readonly kind: 'other' }
  | { readonly kind: 'command'; readonly name: string; readonly args: string; readonly addressed: boolean }

export function readEntities(value: unknown): readonly Entity[] {
  return listOf(value).map((raw) => {
    const entity = fieldsOf(raw)
    const user = optionalFields(entity.user)
    return {
      type: textOf(entity.type),
      offset: countOf(entity.offset),
      length: countOf(entity.length),
      ...(user === undefined ? {} : { userId: idOf(user.id) }),
    }
  })
}

/** Mentions by the platform's own entities, never by searching the text: a name in a code block mentions nobody. */
export function findMentions(text: string, entities: readonly Entity[], bot: BotFacts): Mentions {
  const own = `@${bot.username.toLowerCase()}`
  let mentionsBot = false
  let mentionsOthers = false
  for (const entity of entities) {
    const target = mentionedName(text, entity)
    if (target === undefined && entity.type !== 'text_mention') continue
    if (target === own || (entity.type === 'text_mention' && entity.userId === bot.id)) mentionsBot = true
    else mentionsOthers = true
  }
  return { bot: mentionsBot, others: mentionsOthers }
}

/** A command is one only at the very start of the message, and only for us or for every bot. */
export function readCommand(text: string, entities: readonly Entity[], bot: BotFacts): CommandReading {
  const entity = entities.find(({ type, offset }) => type === 'bot_command' && offset === 0)
  if (entity === undefined) return { kind: 'none' }
  const [name = '', target] = covered(text, entity).slice(1).toLowerCase().split('@')
  if (target !== undefined && target !== bot.username.toLowerCase()) return { kind: 'other' }
  if (name === '') return { kind: 'none' }
  return { kind: 'command', name, args: text.slice(entity.length).trim(), addressed: target !== undefined }
}

/** `@name` of a mention or of `/command@name`, in lower case. */
function mentionedName(text: string, entity: Entity): string | undefined {
  if (entity.type === 'mention') return covered(text, entity).toLowerCase()
  if (entity.type !== 'bot_command') return undefined
  const command = covered(text, entity)
  const at = command.indexOf('@')
  return at < 0 ? undefined : command.slice(at).toLowerCase()
}

/** Longer than a command with the name of a bot, which are the longest stretches that are looked at. */
const LONGEST = 100

/** A server may mark the same long stretch many times over; of none is more read than a name may have. */
function covered(text: string, { offset, length }: Entity): string {
  return text.slice(offset, offset + Math.min(length, LONGEST))
}

/** The text of a message with the entities that belong to it: of the caption where there is a file. */
export function readText(message: Fields): { readonly text: string; readonly entities: readonly Entity[] } {
  const own = message.text !== undefined
  const text = message[own ? 'text' : 'caption']
  return {
    text: text === undefined ? '' : textOf(text),
    entities: readEntities(message[own ? 'entities' : 'caption_entities']),
  }
}
