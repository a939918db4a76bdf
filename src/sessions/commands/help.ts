import type { Channels } from '../../core/channel-traits.ts'
import { type ChatCommand, type CommandCall, mayGive } from '../../core/command.ts'
import { cutText } from '../../core/cut-text.ts'
import { ParleyError } from '../../core/errors.ts'

export interface HelpCommandDeps {
  readonly channels: Pick<Channels, 'traits'>
  /** Returns every command of the daemon, from any stage. */
  all(): readonly ChatCommand[]
}

/** Commands by what people want. `more`: those that few need, by name alone. */
interface HelpGroup {
  readonly title: string
  readonly lines: Readonly<Record<string, string>>
  readonly more?: readonly string[]
}

/** A line fits the width of a phone, and what a member may do its height. */
const GROUPS: readonly HelpGroup[] = [
  {
    title: 'Talk',
    lines: {
      new: 'begin a fresh conversation',
      stop: 'stop what I work on',
      retry: 'have me answer once more',
      undo: 'take back the last exchange',
      side: 'ask and leave no trace here',
      answer: 'answer a question of mine',
    },
    more: ['sessions', 'resume', 'title', 'compact'],
  },
  { title: 'Reminders', lines: { remind: 'remind you here' } },
  {
    title: 'Memory and privacy',
    lines: {
      remember: 'keep something in mind',
      memory: 'what I remember here',
      forget: 'forget words, for good',
      whoami: 'who you are to me',
      why: 'why I answered, or not',
    },
    more: ['checkpoint', 'link', 'unlink', 'usage', 'budget'],
  },
  {
    title: 'Owners',
    lines: {
      status: 'how I am doing',
      admit: 'let in who asked',
      deny: 'keep out, or refuse',
      approve: 'allow what I asked about',
      approvals: 'what I asked, and rules',
      mute: 'say nothing here a while',
      model: 'which model answers here',
      maxcost: 'what it may cost here',
    },
    more: ['send', 'think', 'verbose', 'voice', 'outbox'],
  },
]
/** Known by the platform's own button, by the answer itself, or of use only before there is an owner. */
const UNLISTED = ['start', 'help', 'claim']
/** Characters of a line. */
const WIDTH = 40

/** `/help` lists what the sender may ask for, as it is typed there; with the name of a command it says all about it. */
export function helpCommand(deps: HelpCommandDeps): ChatCommand {
  return {
    name: 'help',
    description: 'What I can do',
    args: 'the name of a command',
    who: 'anyone',
    run: async (call) => help(call, deps),
  }
}

function help({ decision, dispatch, args }: CommandCall, { channels, all }: HelpCommandDeps): string {
  const { commandMark: mark = '/' } = channels.traits(dispatch.event.address.channel)
  const known = new Map(all().flatMap((one) => (mayGive(decision.identity, one) ? [[one.name, one] as const] : [])))
  const asked = args.trim().replace(/^[!/]/, '').toLowerCase()
  if (asked !== '') return about(asked, known, mark)
  const named = new Set([...UNLISTED, ...GROUPS.flatMap(({ lines, more = [] }) => [...Object.keys(lines), ...more])])
  // Those of the operator, which have no line of their own here.
  const others = [...known.values()].filter(({ name }) => !named.has(name))
  const lines = Object.fromEntries(others.map(({ name, description }) => [name, description]))
  const groups = [...GROUPS, { title: 'More', lines }].flatMap((group) => listOf(group, known, mark))
  return [...groups, `\`/help remind\` says more of one.`].join('\n\n')
}

function listOf(
  { title, lines, more = [] }: HelpGroup,
  known: ReadonlyMap<string, ChatCommand>,
  mark: string,
): string[] {
  const own = Object.entries(lines).filter(([name]) => known.has(name))
  const rest = more.filter((name) => known.has(name))
  if (own.length + rest.length === 0) return []
  const shown = own.map(([name, line]) => shortened(`${mark}${name}: ${line}`))
  const also = rest.length === 0 ? [] : [rest.map((name) => `${mark}${name}`).join(' ')]
  return [[`**${title}**`, ...shown, ...also].join('\n')]
}

function about(name: string, known: ReadonlyMap<string, ChatCommand>, mark: string): string {
  const command = known.get(name)
  if (command === undefined) throw new ParleyError('not_found', 'There is no such command; `/help` lists them.')
  const { description, args } = command
  return `${mark}${name}: ${description}.${args === undefined ? '' : `\nBehind it: ${args}.`}`
}

function shortened(line: string): string {
  return line.length <= WIDTH ? line : `${cutText(line, WIDTH - 1)}…`
}
