import type { Mention } from '../../../src/core/message.ts'
import { type Fields, isFields, present, textOf } from '../../shared/fields.ts'
import { toIdText } from '../address.ts'
import { type Entity, readable, readEntities, userName } from './entities.ts'
import { flattened } from './rich-message.ts'

/** The bot's own identity, from getMe. */
export interface BotFacts {
  /** The id as text. */
  readonly id: string
  /** Without the `@`. */
  readonly username: string
}

interface Mentions {
  readonly bot: boolean
  readonly others: boolean
  /** The others, by name. */
  readonly named: readonly Mention[]
}

/** `other`: a command that names another bot; it is not for us and never becomes a message. */
type CommandReading =
  | { readonly kind: 'none' }
  | { readonly kind: 'other' }
  | { readonly kind: 'command'; readonly name: string; readonly args: string; readonly addressed: boolean }

/** Mentions by the platform's own entities, never by searching the text: a name in a code block mentions nobody. */
export function findMentions(text: string, entities: readonly Entity[], bot: BotFacts): Mentions {
  let mentionsBot = false
  let mentionsOthers = false
  const named: Mention[] = []
  for (const entity of entities) {
    const target = mentionedName(text, entity)
    if (target === undefined && entity.type !== 'text_mention') continue
    if (isBot(text, entity, bot)) {
      mentionsBot = true
      continue
    }
    mentionsOthers = true
    if (entity.type !== 'bot_command') named.push(mentionOf(text, entity))
  }
  return { bot: mentionsBot, others: mentionsOthers, named }
}

function isBot(text: string, entity: Entity, bot: BotFacts): boolean {
  if (entity.type === 'text_mention') return toIdText(entity.user?.id) === bot.id
  return mentionedName(text, entity) === `@${bot.username.toLowerCase()}`
}

function mentionOf(text: string, entity: Entity): Mention {
  const { user } = entity
  const account = user === undefined ? covered(text, entity).slice(1) : user.username
  return {
    kind: 'person',
    ...present('name', user === undefined ? undefined : userName(user) || undefined),
    ...present('username', typeof account === 'string' && account !== '' ? account : undefined),
  }
}

/**
 * A command is one at the very start of the message, or right behind a mention of this bot there, and only for us or
 * for every bot.
 */
export function readCommand(text: string, entities: readonly Entity[], bot: BotFacts): CommandReading {
  const called = entities.find(({ offset, type }) => offset === 0 && (type === 'mention' || type === 'text_mention'))
  const start = called !== undefined && isBot(text, called, bot) ? called.length : 0
  const entity = entities.find(({ type, offset }) => type === 'bot_command' && offset >= start)
  if (entity === undefined || !isOnlySeparator(text, start, entity.offset)) return { kind: 'none' }
  const [name = '', target] = covered(text, entity).slice(1).toLowerCase().split('@')
  if (target !== undefined && target !== bot.username.toLowerCase()) return { kind: start === 0 ? 'other' : 'none' }
  if (name === '') return { kind: 'none' }
  const args = text.slice(entity.offset + entity.length).trim()
  return { kind: 'command', name, args, addressed: target !== undefined || start > 0 }
}

/** Returns true where a command begins the text, or where nothing but a short gap is between it and the bot's name. */
function isOnlySeparator(text: string, start: number, end: number): boolean {
  return start === 0 ? end === 0 : end - start <= LONGEST_GAP && /^[\s,:]*$/.test(text.slice(start, end))
}

const LONGEST_GAP = 10

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

/**
 * The raw text of a message with the entities that belong to it: of the caption where there is a file. The blocks of a
 * rich message hold its words; a text beside them stands in for them in clients that cannot show blocks.
 */
export function readText(message: Fields): { readonly text: string; readonly entities: readonly Entity[] } {
  const rich = isFields(message.rich_message) ? flattened(message.rich_message) : undefined
  if (rich !== undefined && rich.text !== '') return rich
  const own = message.text !== undefined
  const text = message[own ? 'text' : 'caption']
  return {
    text: text === undefined ? '' : textOf(text),
    entities: readEntities(message[own ? 'entities' : 'caption_entities']),
  }
}

/** Returns the text or caption of a message as people read it; empty where there is none. */
export function readWords(message: Fields): string {
  const { text, entities } = readText(message)
  return readable(text, entities)
}
