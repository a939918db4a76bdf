import { invalidField, unknownApplication } from './api-error.ts'
import { isRecord } from './read-body.ts'
import type { RestApi, RestCall } from './rest-api.ts'
import type { ApiCommand } from './world-state.ts'

const MOST_COMMANDS = 100
const MOST_OPTIONS = 25
const NAME = /^[-_'\p{L}\p{N}]{1,32}$/u

/** The flag of a switch that is on, of a bot in less than a hundred guilds. */
const MESSAGE_CONTENT_LIMITED = 1 << 19

export function myApplication({ world, application }: RestApi): object {
  const { messageContent, isPublic, requiresCodeGrant } = application()
  return {
    id: world.bot.id,
    name: world.bot.username,
    description: '',
    flags: messageContent ? MESSAGE_CONTENT_LIMITED : 0,
    bot_public: isPublic,
    bot_require_code_grant: requiresCodeGrant,
  }
}

/** Returns the global commands as they were given, with what the platform adds. */
export function listCommands({ world }: RestApi, { ids }: RestCall): readonly object[] {
  if (ids[0] !== world.bot.id) throw unknownApplication()
  const added = { application_id: world.bot.id, default_member_permissions: null, nsfw: false }
  return [...world.commands.values()].map(({ id, shown }) => ({ ...shown, ...added, id, version: id }))
}

/** Replaces the list of global commands; a command of the same name keeps its id. */
export function overwriteCommands({ world }: RestApi, { ids, body }: RestCall): readonly ApiCommand[] {
  if (ids[0] !== world.bot.id) throw unknownApplication()
  const given: unknown = body
  if (!Array.isArray(given)) throw invalidField('_', 'LIST_TYPE_CONVERT', 'Only iterables may be used in a ListType')
  if (given.length > MOST_COMMANDS) {
    throw invalidField('_', 'BASE_TYPE_MAX_LENGTH', `Must be ${MOST_COMMANDS} or fewer in length.`)
  }
  const commands = given.map((command, index) => readCommand(command, String(index)))
  const names = commands.map(({ name }) => name)
  if (new Set(names).size < names.length) {
    throw invalidField('name', 'APPLICATION_COMMANDS_DUPLICATE_NAME', 'Application command names must be unique')
  }
  const kept = new Map([...world.commands.values()].map(({ name, id }) => [name, id]))
  world.commands.clear()
  for (const command of commands) {
    const id = kept.get(command.name) ?? world.ids.next()
    world.commands.set(command.name, { ...command, id })
  }
  return [...world.commands.values()]
}

function readCommand(command: unknown, at: string): ApiCommand {
  if (!isRecord(command)) throw invalidField(at, 'MODEL_TYPE_CONVERT', 'Only dictionaries may be used in a ModelType')
  const { type = 1, options = [], contexts } = command
  if (type !== 1) throw new Error(`a command of type ${String(type)} is not rehearsed`)
  const name = readName(command, at)
  if (!Array.isArray(options) || options.length > MOST_OPTIONS) {
    throw invalidField(`${at}.options`, 'BASE_TYPE_MAX_LENGTH', `Must be ${MOST_OPTIONS} or fewer in length.`)
  }
  if (contexts !== undefined && !(Array.isArray(contexts) && contexts.every((one) => [0, 1, 2].includes(one)))) {
    throw invalidField(`${at}.contexts`, 'ENUM_TYPE_COERCE', 'Value is not a valid enum value.')
  }
  const read = options.map((option: unknown, index) => {
    const where = `${at}.options.${index}`
    if (!isRecord(option) || option.type !== 3)
      throw invalidField(where, 'ENUM_TYPE_COERCE', 'Only texts are rehearsed.')
    return { name: readName(option, where), required: option.required === true }
  })
  const shown = { ...command, ...(options.length === 0 ? {} : { options: options.map(asShown) }) }
  return { id: '', name, options: read, contexts: contexts === undefined ? [0, 1, 2] : contexts.map(Number), shown }
}

/** The platform leaves out what is false. */
function asShown({ required, ...option }: Record<string, unknown>): Record<string, unknown> {
  return required === true ? { ...option, required } : option
}

/** Reads a name in lower case and a description of 1 to 100 characters. */
function readName({ name, description }: Record<string, unknown>, at: string): string {
  if (typeof name !== 'string' || !NAME.test(name) || name !== name.toLowerCase()) {
    throw invalidField(`${at}.name`, 'APPLICATION_COMMAND_INVALID_NAME', 'Command name is invalid')
  }
  if (typeof description !== 'string' || description.length < 1 || description.length > 100) {
    throw invalidField(`${at}.description`, 'BASE_TYPE_BAD_LENGTH', 'Must be between 1 and 100 in length.')
  }
  return name
}
