import type { Channels } from '../../core/channel-traits.ts'
import type { Clock } from '../../core/clock.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { plainName } from '../../core/label.ts'
import { literalExcerpt } from '../../core/literal.ts'
import type { Session } from '../../core/session.ts'
import type { SessionReader } from '../../store/session-port.ts'
import type { Store } from '../../store/store.ts'
import { refuseWhole } from './joined-session.ts'

export interface SessionsCommandDeps {
  readonly channels: Channels
  readonly store: Pick<Store, 'read'>
  readonly clock: Clock
}

/** The most sessions that are listed, and that a number can name. */
export const MOST_LISTED = 20
const LONGEST_SHOWN = 80

/** `/sessions` lists what the conversation has been: its sessions and nobody else's, newest first. */
export function sessionsCommand(deps: SessionsCommandDeps): ChatCommand {
  return {
    name: 'sessions',
    description: 'The earlier conversations of this chat',
    who: 'anyone',
    fromConversation: true,
    run: (call) => sessions(call, deps),
  }
}

async function sessions(call: CommandCall, { channels, store, clock }: SessionsCommandDeps): Promise<string> {
  refuseWhole(channels, call)
  const current = await store.read.sessions.current(call.decision.route.scopeKey)
  if (current === undefined) return 'There is no conversation here yet: nobody has said anything.'
  const listed = await sessionsOf(store.read.sessions, current, MOST_LISTED + 1)
  const now = clock.now()
  const lines = listed.slice(0, MOST_LISTED).map((session, index) => {
    const here = session.id === current.id ? ', in use' : ''
    return `${index + 1}. ${titleOf(session)} (${ago(now - session.lastActivityAt)}${here}) \`${session.id}\``
  })
  const more = listed.length > MOST_LISTED ? ' Older ones are not listed; their ids work as well.' : ''
  const hint = listed.length > 1 ? [`\`/resume <number>\` continues one of them.${more}`] : []
  return [lines.join('\n'), ...hint].join('\n\n')
}

/** Returns the sessions of a conversation that anything was said in, newest first. */
export async function sessionsOf(
  sessions: Pick<SessionReader, 'ofScope'>,
  current: Session,
  limit: number,
): Promise<readonly Session[]> {
  const all = await sessions.ofScope(current, limit)
  return all.filter(({ id, messageCount }) => messageCount > 0 || id === current.id)
}

export const UNTITLED = 'without a title'

/** Returns the title of a session as it may stand in an answer; one of which nobody sees anything is none. */
export function titleOf({ description }: Pick<Session, 'description'>): string {
  return plainName(description, LONGEST_SHOWN) === '' ? UNTITLED : literalExcerpt(description, LONGEST_SHOWN)
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

function ago(ms: number): string {
  for (const [unit, length] of UNITS) {
    const count = Math.floor(ms / length)
    if (count > 0) return `${count} ${unit}${count === 1 ? '' : 's'} ago`
  }
  return 'just now'
}
