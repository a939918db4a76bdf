import { type Command, InvalidArgumentError, Option } from 'commander'
import { ParleyError } from '../core/errors.ts'
import { INHERIT, SESSION_SETTINGS, SETTING_NAMES, type SettingName } from '../core/session-settings.ts'
import type { NotifyOptions } from './commands/notify.ts'
import type { RelocateOptions } from './commands/relocate.ts'
import type { SendOptions } from './commands/send.ts'
import type { HistoryOptions, ListOptions, StartOptions } from './commands/sessions.ts'
import type { CliPorts } from './ports.ts'
import { givenText, JSON_OPTION, NO_TEXT, nonBlank, TEXT, wholeNumber } from './program-parts.ts'
import type { ReadOptions } from './show.ts'

const NAME = ['<name>', 'its title in "sessions list", or its id, key, scope key or alias', nonBlank] as const

/** Adds `parley sessions …`. */
export function addSessions(program: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  const sessions = program
    .command('sessions')
    .description('look at conversations; patch, rename, move, fork and delete them')
  addReading(sessions, ports, ended)
  addStart(sessions, ports, ended)
  sessions
    .command('rename')
    .description('give a session a name of its own')
    .argument(...NAME)
    .argument('<title>', 'one line, 80 characters at most', nonBlank)
    .option(...JSON_OPTION)
    .action(async (name: string, title: string, _options, command: Command) => {
      const { renameSession } = await import('./commands/sessions.ts')
      ended(await renameSession(ports, name, { ...command.optsWithGlobals<ReadOptions>(), title }))
    })
  addPatch(sessions, ports, ended)
  addBoundaries(sessions, ports, ended)
  addRelocations(sessions, ports, ended)
  sessions
    .command('delete')
    .description('delete an idle direct session with all it holds')
    .argument(...NAME)
    .option(...JSON_OPTION)
    .action(async (name: string, _options, command: Command) => {
      const { deleteSession } = await import('./commands/sessions.ts')
      ended(await deleteSession(ports, name, command.optsWithGlobals()))
    })
}

/** Adds `parley send`, which asks the agent, and `parley notify`, which does not. */
export function addSend(program: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  program
    .command('send')
    .description('ask the agent in a session and print its answer; "cli:<name>" is a conversation of your own')
    .argument(...NAME)
    .argument(...TEXT, nonBlank)
    .option('--no-answer', 'only put it on record: no model is called')
    .option('--deliver', "send the answer to the session's chat too")
    .option('--context <name=value...>', 'variables for the prompt of a session that begins: {{ctx.name}}')
    .option('--model <model>', 'the model that answers this message')
    .option('--wait <seconds>', 'how long to wait for the answer, 0 to 3600', wholeNumber(0, 3600), 120)
    .option(...JSON_OPTION)
    .addHelpText('after', AFTER_SEND)
    .action(async (name: string, given: string | undefined, _options, command: Command) => {
      const text = await givenText(given ?? command.error(NO_TEXT), ports.stdin)
      if (text === '') throw new ParleyError('invalid', 'There is nothing to say: standard input is empty.')
      const { send } = await import('./commands/send.ts')
      ended(await send(ports, name, { ...command.optsWithGlobals<Omit<SendOptions, 'text'>>(), text }))
    })
  program
    .command('notify')
    .description('say a text in a chat as it is, without the agent: "Backup done"')
    .argument('<place>', 'where: a title of "sessions list", or an address as /whoami says it there', nonBlank)
    .argument(...TEXT)
    .option('--silent', 'without a sound, where the platform has that (others make their usual one)')
    .option(
      '--file <path>',
      'send a file too, 14 MB all together; may be repeated',
      (path: string, all: string[] = []) => [...all, path],
    )
    .option('--id <name>', 'say it once, however often it is asked for by this name')
    .option('--wait <seconds>', 'how long to wait until it is there, 0 to 3600', wholeNumber(0, 3600), 30)
    .option(...JSON_OPTION)
    .addHelpText('after', AFTER_NOTIFY)
    .action(async (place: string, given: string | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<Omit<NotifyOptions, 'text'>>()
      if (given === undefined && options.file === undefined) command.error(NO_TEXT)
      const text = given === undefined ? undefined : await givenText(given, ports.stdin)
      const { notify } = await import('./commands/notify.ts')
      ended(await notify(ports, place, { ...options, text }))
    })
}

const AFTER_NOTIFY = `
The agent knows afterwards that a script said it, and answers nobody by it;
"parley send" asks the agent something instead.

Exit codes: 0 it is there, 1 it was refused or may be lost, 2 wrong usage,
75 it is queued and leaves by itself: do not send it again.`

const AFTER_SEND = `
"parley notify" says a text in a chat as it is, without asking the agent.`

/** Adds `sessions start`. */
function addStart(sessions: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  sessions
    .command('start')
    .description('begin a session of a program; it keeps its agent as it is now')
    .argument('[name]', 'api:<name>, cli:<name> or web:<name>; without it "api:" and a UUID', nonBlank)
    .option('--agent <id>', 'which agent answers')
    .option('--model <model>', 'which model, else that of the workspace or of the agent')
    .option('--tools <group...>', 'some of the tool groups of the agent, else all')
    .option('--workspace <name>', 'the group of sessions it belongs to')
    .option('--context <name=value...>', 'variables for the prompt: {{ctx.name}}')
    .option(...JSON_OPTION)
    .action(async (name: string | undefined, _options, command: Command) => {
      const { startSession } = await import('./commands/sessions.ts')
      ended(await startSession(ports, name, command.optsWithGlobals<StartOptions>()))
    })
}

/** Adds `sessions patch`, with an option for each setting. */
function addPatch(sessions: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  const options = SETTING_NAMES.map((name) => ({ name, option: settingOption(name) }))
  const patch = sessions
    .command('patch')
    .description('set how a session behaves; "inherit" follows the configuration again')
    .argument(...NAME)
  for (const { option } of options) patch.addOption(option)
  patch.option(...JSON_OPTION).action(async (name: string, _options, command: Command) => {
    const { patchSession } = await import('./commands/sessions.ts')
    const given = command.optsWithGlobals<ReadOptions & Readonly<Record<string, unknown>>>()
    const changes = options.map(({ name, option }) => {
      const value = given[option.attributeName()]
      return [name, value === INHERIT[0] ? null : value] as const
    })
    if (changes.every(([, value]) => value === undefined))
      command.error(`error: nothing to change; give ${options.map(({ option }) => option.long).join(', ')}`)
    ended(await patchSession(ports, name, { ...given, changes: Object.fromEntries(changes) }))
  })
}

/** Returns the option of a setting, which gives its value or `inherit`; the parser of an option may not give null. */
function settingOption(name: SettingName): Option {
  const { flag, value } = SESSION_SETTINGS[name]
  const { takes, choices } = value
  const [inherit] = INHERIT
  const option = new Option(`--${flag.name} <${flag.value}>`, flag.description)
  if (choices) option.choices([...choices.map(String), inherit])
  else option.description += `: ${takes} or ${inherit}`
  return option.argParser((text: string) => {
    const read = text === inherit ? inherit : value.typed(text)
    if (read !== undefined) return read
    throw new InvalidArgumentError(
      choices ? `Allowed choices are ${takes}, ${inherit}.` : `It must be ${takes} or ${inherit}.`,
    )
  })
}

function addBoundaries(sessions: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  sessions
    .command('truncate')
    .description('show the model only the newest turns of a session; the log keeps all, and a later one may show more')
    .argument(...NAME)
    .argument('<turns>', 'how many', wholeNumber(0, 1_000))
    .option(...JSON_OPTION)
    .action(async (name: string, turns: number, _options, command: Command) => {
      const { truncateSession } = await import('./commands/sessions.ts')
      ended(await truncateSession(ports, name, { ...command.optsWithGlobals<ReadOptions>(), turns }))
    })
  sessions
    .command('compact')
    .description('make final what the model is no longer shown of a session; the log keeps all')
    .argument(...NAME)
    .option(...JSON_OPTION)
    .action(async (name: string, _options, command: Command) => {
      const { compactSession } = await import('./commands/sessions.ts')
      ended(await compactSession(ports, name, command.optsWithGlobals()))
    })
}

function addRelocations(sessions: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  for (const [kind, description] of [
    ['move', 'continue a session in another conversation; the one that it leaves begins afresh'],
    ['fork', 'continue a session in another conversation too, each for itself from then on'],
  ] as const) {
    sessions
      .command(kind)
      .description(description)
      .argument(...NAME)
      .argument(
        '<conversation>',
        '<channel>:<direct|group|channel>:<chat>[/<topic>], or the title or key of a session there',
        nonBlank,
      )
      .option('--yes', 'do it although more people may read it there')
      .option(...JSON_OPTION)
      .action(async (name: string, to: string, _options, command: Command) => {
        const { relocateSession } = await import('./commands/relocate.ts')
        ended(await relocateSession(ports, name, { ...command.optsWithGlobals<RelocateOptions>(), kind, to }))
      })
  }
}

function addReading(sessions: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  sessions
    .command('list')
    .description('list sessions, newest activity first')
    .option('--all', 'also the inactive ones')
    .option('--limit <n>', 'how many, 1 to 200', wholeNumber(1, 200), 50)
    .option('--offset <n>', 'how many to skip', wholeNumber(0, Number.MAX_SAFE_INTEGER), 0)
    .option(...JSON_OPTION)
    .action(async (_options, command: Command) => {
      const { listSessions } = await import('./commands/sessions.ts')
      ended(await listSessions(ports, command.optsWithGlobals<ListOptions>()))
    })
  sessions
    .command('show')
    .description('show a session and its newest events')
    .argument(...NAME)
    .option(...JSON_OPTION)
    .action(async (name: string, _options, command: Command) => {
      const { showSession } = await import('./commands/sessions.ts')
      ended(await showSession(ports, name, command.optsWithGlobals()))
    })
  sessions
    .command('history')
    .description('page through the events of a session, newest page first')
    .argument(...NAME)
    .option('--limit <n>', 'how many, 1 to 200', wholeNumber(1, 200), 50)
    .option('--before <n>', 'only events before this number', wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .option(...JSON_OPTION)
    .action(async (name: string, _options, command: Command) => {
      const { showHistory } = await import('./commands/sessions.ts')
      ended(await showHistory(ports, name, command.optsWithGlobals<HistoryOptions>()))
    })
}
