import { Argument, Command, CommanderError } from 'commander'
import { EXIT } from '../core/errors.ts'
import type { Shell } from './commands/completions.ts'
import { withRemedy } from './other-words.ts'
import type { CliPorts } from './ports.ts'
import { addApprovals } from './program-approvals.ts'
import { addArchives } from './program-archives.ts'
import { addBackups } from './program-backups.ts'
import { addDoctor } from './program-doctor.ts'
import { addForgetting } from './program-forgetting.ts'
import { addInit } from './program-init.ts'
import { addInstall } from './program-install.ts'
import { addMcp } from './program-mcp.ts'
import { addMemory } from './program-memory.ts'
import { addOutbox } from './program-outbox.ts'
import { JSON_OPTION, nonBlank, wholeNumber } from './program-parts.ts'
import { addSend, addSessions } from './program-sessions.ts'
import { addStore } from './program-store.ts'
import { addTokens } from './program-tokens.ts'
import type { ReadOptions } from './show.ts'

/** Parses a command line and runs its command, whose code is loaded only then. Rejects with the command's error. */
export async function parseCommand(argv: readonly string[], ports: CliPorts): Promise<number> {
  let exitCode: number = EXIT.ok
  const program = createProgram(ports, (code) => {
    exitCode = code
  })
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return exitCode
  } catch (error) {
    // The parser has written its own message. It also treats help that was not asked for as an error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    throw error
  }
}

type Ended = (exitCode: number) => void

const afterHelp = (variables: readonly string[]): string => `
Exit codes: 0 done, 1 failed (status: no daemon runs) or not done without --yes,
2 wrong usage, 3 (status) a channel is down, 65 a migration or an import failed
and changed nothing, or a backup is damaged, 74 a disk is full or does not take
writes, 75 the store is in use by another daemon, 78 the configuration or the
installation is wrong.

Without a file, the variables of one of these lines are enough to start:
${variables.map((line) => `  ${line}`).join('\n')}`

function createProgram(ports: CliPorts, ended: Ended): Command {
  const program = new Command('parley')
    .description(
      'An LLM agent in the chats people already use: it speaks when it should, loses nothing, and can say why.',
    )
    .version(ports.version, '-V, --version', 'print the version')
    .option('-c, --config <file>', 'configuration file (else $PARLEY_CONFIG, else parley.yaml in the config folder)')
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', afterHelp(ports.variables))
    .exitOverride()
    .configureOutput({
      writeOut: (text) => ports.stdout.write(text),
      writeErr: (text) => ports.stderr.write(text),
      outputError: (text, write) => write(withRemedy(text)),
      getOutHelpWidth: () => ports.stdout.columns ?? 80,
      getErrHelpWidth: () => ports.stderr.columns ?? 80,
    })
  addInit(program, ports, ended)
  addRunning(program, ports, ended)
  addReading(program, ports, ended)
  addDoctor(program, ports, ended)
  addSessions(program, ports, ended)
  addSend(program, ports, ended)
  addForgetting(program, ports, ended)
  addTokens(program, ports, ended)
  addSchedules(program, ports, ended)
  addPeople(program, ports, ended)
  addAccess(program, ports, ended)
  addApprovals(program, ports, ended)
  addOutbox(program, ports, ended)
  addMemory(program, ports, ended)
  addMcp(program, ports, ended)
  addConfig(program, ports, ended)
  addArchives(program, ports, ended)
  addStore(program, ports, ended)
  addInstall(program, ports, ended)
  addCompletions(program, ports, ended)
  addBackups(program, ports, ended)
  return program
}

function addRunning(program: Command, ports: CliPorts, ended: Ended): void {
  program
    .command('start')
    .description('run the daemon in the foreground until Ctrl-C')
    .action(async (_options, command: Command) => {
      const { start } = await import('./commands/start.ts')
      ended(await start(ports, command.optsWithGlobals<ReadOptions>().config))
    })
  program
    .command('demo')
    .description('run the daemon against a rehearsal server: no token, no key, no network')
    .option('--once', 'play the tour, check each step, and exit 0 or 1')
    .action(async ({ once = false }: { once?: boolean }) => ended(await ports.runDemo({ once })))
}

function addCompletions(program: Command, ports: CliPorts, ended: Ended): void {
  program
    .command('completions')
    .description('print what completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .addHelpText(
      'after',
      '\nIn ~/.bashrc or ~/.zshrc (after compinit): source <(parley completions bash)\n' +
        'fish: parley completions fish > ~/.config/fish/completions/parley.fish',
    )
    .action(async (shell: Shell) => {
      const { printCompletions } = await import('./commands/completions.ts')
      ended(printCompletions(program, shell, ports))
    })
}

function addReading(program: Command, ports: CliPorts, ended: Ended): void {
  program
    .command('status')
    .description('show channels, owner, models, queue and outbox')
    .option(...JSON_OPTION)
    .addHelpText('after', '\nExit codes: 0 all is well, 1 no daemon runs, 3 a channel is down.')
    .action(async (_options, command: Command) => {
      const { status } = await import('./commands/status.ts')
      ended(await status(ports, command.optsWithGlobals()))
    })
  program
    .command('why')
    .description('explain why a message was or was not answered')
    .argument(
      '<message>',
      'a link to it, or its inbox id, trace id, or the message id of the platform; "last", or the title or key of a chat, for the last one there',
      nonBlank,
    )
    .option('--trace', 'show each stage that looked at it, and what was sent')
    .option(...JSON_OPTION)
    .action(async (message: string, _options, command: Command) => {
      const { why } = await import('./commands/why.ts')
      ended(await why(ports, message, command.optsWithGlobals()))
    })
}

function addSchedules(program: Command, ports: CliPorts, ended: Ended): void {
  const schedule = program.command('schedule').description('look at what the agent does by itself, and run it')
  schedule
    .command('list')
    .description('list schedules, when each runs next, and what came of the last slot')
    .option(...JSON_OPTION)
    .action(async (_options, command: Command) => {
      const { listSchedules } = await import('./commands/schedule.ts')
      ended(await listSchedules(ports, command.optsWithGlobals()))
    })
  schedule
    .command('add')
    .description('say a text at a time to come, or again and again')
    .argument('<place>', 'where: its title in "sessions list", or its key', nonBlank)
    .argument('<words...>', 'the times and the text: every monday at 8 put the bins out')
    .option('--task', 'ask the agent to do it, instead of saying it')
    .option('--zone <name>', 'read the times in this zone, such as Europe/Berlin (default: that of this machine)')
    .option(...JSON_OPTION)
    .action(async (to: string, words: readonly string[], _options, command: Command) => {
      const { addSchedule } = await import('./commands/schedule.ts')
      ended(await addSchedule(ports, { ...command.optsWithGlobals(), to, words: words.join(' ') }))
    })
  schedule
    .command('next')
    .description('show the next times of a schedule, in the zone of this machine')
    .argument('<id>', 'its id', nonBlank)
    .argument('[n]', 'how many, 1 to 100', wholeNumber(1, 100), 5)
    .option(...JSON_OPTION)
    .action(async (id: string, count: number, _options, command: Command) => {
      const { nextSlots } = await import('./commands/schedule.ts')
      ended(await nextSlots(ports, { ...command.optsWithGlobals<ReadOptions>(), id, count }))
    })
  schedule
    .command('run')
    .description('run a schedule now, beside its times')
    .argument('<id>', 'its id', nonBlank)
    .option(...JSON_OPTION)
    .action(async (id: string, _options, command: Command) => {
      const { runSchedule } = await import('./commands/schedule.ts')
      ended(await runSchedule(ports, id, command.optsWithGlobals()))
    })
  for (const [change, description] of [
    ['pause', 'leave the times of a schedule out from now on'],
    ['resume', 'run a paused schedule again, from now on'],
    ['remove', 'remove a schedule that was made in a chat'],
  ] as const) {
    schedule
      .command(change)
      .description(description)
      .argument('<id>', 'its id', nonBlank)
      .option(...JSON_OPTION)
      .action(async (id: string, _options, command: Command) => {
        const { changeSchedule } = await import('./commands/schedule.ts')
        ended(await changeSchedule(ports, id, { ...command.optsWithGlobals<ReadOptions>(), change }))
      })
  }
}

function addPeople(program: Command, ports: CliPorts, ended: Ended): void {
  const people = program.command('people').description('look at who is who, and join and part ids')
  people
    .command('list')
    .description('list people with their roles and ids, and who was joined and parted')
    .option(...JSON_OPTION)
    .action(async (_options, command: Command) => {
      const { listPeople } = await import('./commands/people.ts')
      ended(await listPeople(ports, command.optsWithGlobals()))
    })
  people
    .command('link')
    .description('join an id to a person, as /link does in chat')
    .argument('<person>', 'whose it is', nonBlank)
    .argument('<id>', '<channel>:<id>, or <channel>:<team>/<id> where ids belong to a workspace', nonBlank)
    .option(...JSON_OPTION)
    .action(async (person: string, id: string, _options, command: Command) => {
      const { linkPerson } = await import('./commands/people.ts')
      ended(await linkPerson(ports, { ...command.optsWithGlobals<ReadOptions>(), person, id }))
    })
  people
    .command('unlink')
    .description('part an id that was joined')
    .argument('<id>', 'as "people list" shows it', nonBlank)
    .option(...JSON_OPTION)
    .action(async (id: string, _options, command: Command) => {
      const { unlinkPerson } = await import('./commands/people.ts')
      ended(await unlinkPerson(ports, id, command.optsWithGlobals()))
    })
}

function addAccess(program: Command, ports: CliPorts, ended: Ended): void {
  const access = program.command('access').description('look at who asked to be let in, and decide')
  access
    .command('list')
    .description('list people and places that asked, and what was decided')
    .option(...JSON_OPTION)
    .action(async (_options, command: Command) => {
      const { listAdmissions } = await import('./commands/access.ts')
      ended(await listAdmissions(ports, command.optsWithGlobals()))
    })
  for (const [verdict, description] of [
    ['admit', 'let somebody or some place in; what was said within a day is handled'],
    ['deny', 'keep somebody or some place out, or take an admission back'],
  ] as const) {
    access
      .command(verdict)
      .description(description)
      .argument('<name>', 'the code or the id, as "access list" shows them', nonBlank)
      .option(...JSON_OPTION)
      .action(async (name: string, _options, command: Command) => {
        const { decideAdmission } = await import('./commands/access.ts')
        ended(await decideAdmission(ports, { ...command.optsWithGlobals<ReadOptions>(), name, verdict }))
      })
  }
}

function addConfig(program: Command, ports: CliPorts, ended: Ended): void {
  const config = program.command('config').description('check and explain the configuration')
  config
    .command('check')
    .description('read the configuration as "start" would and report mistakes')
    .option(...JSON_OPTION)
    .action(async (_options, command: Command) => {
      const { checkConfig } = await import('./commands/config.ts')
      ended(await checkConfig(ports, command.optsWithGlobals()))
    })
  config
    .command('reload')
    .description('have the running daemon take over people, access, dispatch and send policy; what got wider is named')
    .option(...JSON_OPTION)
    .action(async (_options, command: Command) => {
      const { reloadConfig } = await import('./commands/config.ts')
      ended(await reloadConfig(ports, command.optsWithGlobals()))
    })
  config
    .command('schema')
    .description('print the JSON schema of the configuration file')
    .option('--markdown', 'as a page with one line for each setting')
    .action(async (options: { markdown?: boolean }) => {
      const { printSchema } = await import('./commands/config.ts')
      ended(await printSchema(ports, options))
    })
  config
    .command('explain')
    .description('say what the configuration means, line by line')
    .option(...JSON_OPTION)
    .action(async (_options, command: Command) => {
      const { explainConfig } = await import('./commands/config.ts')
      ended(await explainConfig(ports, command.optsWithGlobals()))
    })
}
