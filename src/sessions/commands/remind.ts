import type { ChatSchedule, ChatSchedules, ScheduleAsker, ScheduleWish } from '../../core/chat-schedules.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { ParleyError } from '../../core/errors.ts'

export interface RemindDeps {
  readonly schedules: Pick<ChatSchedules, 'create' | 'list' | 'cancel'>
  /** Returns the sender as a maker of schedules; undefined for somebody nobody let in by name. */
  remindAsker(call: CommandCall): ScheduleAsker | undefined
  /** Splits the time from the text of a reminder, as the sender has written both. */
  readReminder(text: string, asker: ScheduleAsker): Promise<ScheduleWish | undefined>
}

const FORMS =
  'Say it as in `/remind 20m stretch`, `/remind tomorrow at 9 call mum`, `/remind every 2h drink`, or `/remind every monday and thursday at 8 bins`.'

/** `/remind` keeps a reminder for this chat, said without a model; `list` and `cancel` are its other words. */
export function remindCommand(deps: RemindDeps): ChatCommand {
  return {
    name: 'remind',
    description: 'Remind you here; list shows what is due, cancel <id> ends it',
    args: 'when and of what, or list, or cancel and an id',
    who: 'anyone',
    run: (call) => remind(deps, call),
  }
}

async function remind(deps: RemindDeps, call: CommandCall): Promise<string> {
  const { schedules, remindAsker, readReminder } = deps
  const asker = remindAsker(call)
  if (asker === undefined)
    throw new ParleyError('forbidden', 'I keep reminders only for people my owner has let in by name.')
  if (/^(?:list)?$/i.test(call.args)) return listed(await schedules.list(asker))
  const [, id] = /^cancel\s+(\S+)$/i.exec(call.args) ?? []
  if (id !== undefined) {
    const cancelled = await schedules.cancel(id, asker, call.inboxId)
    return cancelled === undefined ? `Cancelled: \`${id.replace(/`/g, '')}\`.` : `Cancelled: ${inWords(cancelled)}`
  }
  if (/^cancel$/i.test(call.args))
    throw new ParleyError('invalid', 'Say `/remind cancel <id>`; `/remind list` shows the ids.')
  const wish = await readReminder(call.args, asker)
  if (wish === undefined) throw new ParleyError('invalid', FORMS)
  const { id: made, when } = await schedules.create(wish, asker, call.inboxId)
  return `I remind you here: ${when}. \`/remind cancel ${made}\` ends it.`
}

function listed(all: readonly ChatSchedule[]): string {
  if (all.length === 0) return `There is no reminder here. ${FORMS}`
  return all.map((one) => `- ${inWords(one)} (\`/remind cancel ${one.id}\`)`).join('\n')
}

const SHOWN = 120

function inWords({ text, when, task, creator }: ChatSchedule): string {
  const line = text.replace(/\s+/g, ' ')
  const short = line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line
  // One that the command line has made is by nobody in a chat.
  return `${when}: ${short}${task ? ', a task' : ''}${creator === '' ? '' : `, by ${creator}`}`
}
