import { createLiveHub, type LiveHub, type LiveHubDeps } from '../sessions/service/live-events.ts'
import type { Store } from '../store/store.ts'
import type { CommitWatch } from './commit-watch.ts'
import type { DaemonEvents } from './daemon-events.ts'

interface LiveParts extends Pick<LiveHubDeps, 'clock' | 'logger' | 'sessions'> {
  readonly store: Pick<Store, 'read'>
  readonly commits: CommitWatch
  readonly events: Pick<DaemonEvents, 'answerGrew'>
}

/** Makes the live streams, which learn of each commit and of each answer that grows. */
export function makeLive({ store, clock, logger, sessions, commits, events }: LiveParts): LiveHub {
  const live = createLiveHub({ read: store.read, clock, logger: logger.child({ subsystem: 'live' }), sessions })
  commits.on(live.watch)
  events.answerGrew.on(live.grew)
  return live
}
