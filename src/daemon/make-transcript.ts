import { formatShortTime } from '../agent/local-time.ts'
import type { SessionConfig } from '../config/config.ts'
import type { Clock } from '../core/clock.ts'
import { joinsDirectChats } from '../core/joins-people.ts'
import { machineZone } from '../core/machine-zone.ts'
import type { SessionIdentity } from '../core/session.ts'
import type { RunningTurns } from '../sessions/turns/running-turns.ts'
import { channelLogs } from '../sessions/view/channel-words.ts'
import { createTranscript, type Transcript } from '../sessions/view/transcript.ts'
import type { Store } from '../store/store.ts'
import type { CurrentRouting } from './reload.ts'

/** The bounds of the text that a model is shown of a session beside its turns. */
export const VIEW_LIMITS = { contextMessages: 50, contextCharacters: 24_000 }

const MOST_MESSAGES = 98

/**
 * Returns how many turns are shown (C14). A fifth of them is left out at a time, so that most requests begin with the
 * same bytes as the one before.
 */
function turnLimits(messages: number): { readonly turns: number; readonly dropTurns: number } {
  const most = Math.floor(messages / 2)
  const dropTurns = Math.max(1, Math.round(most / 5))
  return { turns: most - dropTurns + 1, dropTurns }
}

/** Returns the function that says whether several people speak in a session that began in a direct chat. */
export function joinedBy(policies: CurrentRouting): (session: SessionIdentity) => boolean {
  const { channels } = policies.routing()
  return (session) => joinsDirectChats(channels, session, policies.routing().sessions.scope === 'global')
}

interface TranscriptParts {
  readonly store: Pick<Store, 'read'>
  readonly clock: Clock
  readonly running: Pick<RunningTurns, 'has'>
  readonly config: { readonly session: Pick<SessionConfig, 'maxMessages'> }
}

/** Returns the reader of session logs as model views. */
export function makeTranscript(
  { store, clock, running, config }: TranscriptParts,
  joined: (session: SessionIdentity) => boolean,
): Transcript {
  return createTranscript(
    store.read.events,
    {
      ...{ ...VIEW_LIMITS, ...turnLimits(config.session.maxMessages ?? MOST_MESSAGES) },
      timeOf: (at) => formatShortTime(at, machineZone()),
    },
    {
      chatTypeOf: (session: SessionIdentity) => (joined(session) ? 'group' : session.chatType),
      leaving: (session) => store.read.forgetting.leaving(session, 'ended'),
      channelLogs: (shownIn) => channelLogs(store.read, shownIn),
      clock,
      runs: running.has,
    },
  )
}
