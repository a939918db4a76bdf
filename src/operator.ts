import type { ChannelHub, ChannelReport } from './channels/hub.ts'
import type { Inlet } from './channels/inlet.ts'
import { formatAddress } from './core/address.ts'
import { ParleyError } from './core/errors.ts'
import type { ChannelStatus, OperatorService, SessionDetail, SessionSummary, StatusReport } from './core/operator.ts'
import type { Session } from './core/session.ts'
import type { Access } from './sessions/access.ts'
import { eventText } from './sessions/event-text.ts'
import type { RunningTurns } from './sessions/running-turns.ts'
import type { Store } from './store/store.ts'
import type { WhyService } from './why.ts'

/** What the answers are read from. Without a daemon there is only the store. */
export interface OperatorSources {
  readonly store: Store
  readonly version: string
  readonly models: readonly string[]
  readonly schedules: OperatorService['schedules']
  readonly people: OperatorService['people']
  readonly why: WhyService
  readonly live?: LiveSources
}

export interface LiveSources {
  readonly hub: ChannelHub
  readonly inlet: Inlet
  readonly running: RunningTurns
  readonly access: Access
  readonly startedAt: number
}

const SHOWN_EVENTS = 50
const SHOWN_UNCERTAIN = 20

export function createOperator(sources: OperatorSources): OperatorService {
  const { read } = sources.store
  return {
    status: () => status(sources),
    why: sources.why.why,
    unseen: sources.why.unseen,
    sessions: {
      async list(query) {
        const { sessions, total } = await read.sessions.list(query)
        return { sessions: sessions.map((session) => summary(session, sources.live?.running)), total }
      },
      async show(name) {
        const session = await read.sessions.resolve(name)
        if (!session) throw new ParleyError('not_found', `There is no session ${name}.`)
        return detail(session, sources)
      },
    },
    schedules: sources.schedules,
    people: sources.people,
  }
}

async function status({ store: { read }, version, models, live }: OperatorSources): Promise<StatusReport> {
  const channels = live ? channelStatuses(live) : []
  const counts = await read.outbox.counts()
  const uncertain = await read.outbox.recent(['uncertain', 'resent', 'given_up'], SHOWN_UNCERTAIN)
  const { total } = await read.sessions.list({ limit: 1, offset: 0, inactive: true })
  return {
    version,
    ...(live ? { startedAt: live.startedAt } : {}),
    channels,
    ownerKnown: live ? live.access.ownerKnown : (await read.people.all()).some(({ role }) => role === 'owner'),
    claimLinks: live?.access.claimCode ? claimLinks(channels, live.access.claimCode) : [],
    models,
    sessions: total,
    runningTurns: (await read.turns.running()).length,
    waiting: await read.inbox.waitingCount(),
    outbox: counts,
    uncertain: uncertain.map(({ id, address, state, reason, traceId }) => ({
      id,
      address: formatAddress(address),
      state,
      traceId,
      ...(reason === undefined ? {} : { reason }),
    })),
  }
}

/** Every account as it is now. */
export function channelStatuses({ hub, inlet }: Pick<LiveSources, 'hub' | 'inlet'>): readonly ChannelStatus[] {
  return hub.reports().map((report) => channelStatus(report, inlet))
}

function channelStatus(
  { channel, account, status, detail, lastProofAt, lastTrouble, identity, hints }: ChannelReport,
  inlet: Inlet,
): ChannelStatus {
  return {
    channel,
    account,
    status,
    hints: hints ?? [],
    unknown: inlet.unknown(channel, account),
    ...(detail === undefined ? {} : { detail }),
    ...(identity === undefined ? {} : { username: identity.username }),
    ...(lastProofAt === undefined ? {} : { lastProofAt }),
    ...(lastTrouble === undefined ? {} : { lastTrouble }),
  }
}

/** Telegram opens a chat with the code filled in; elsewhere the command is typed. */
function claimLinks(channels: readonly ChannelStatus[], code: string): string[] {
  return channels.flatMap(({ channel, username }) =>
    channel === 'telegram' && username ? [`https://t.me/${username}?start=${code}`] : [],
  )
}

function summary(session: Session, running: RunningTurns | undefined): SessionSummary {
  return {
    id: session.id,
    key: session.displayKey,
    kind: session.kind,
    status: session.inactiveAt !== undefined ? 'inactive' : running?.has(session.id) ? 'running' : 'idle',
    agent: session.agentId,
    createdAt: session.createdAt,
    updatedAt: session.lastActivityAt,
    messages: session.messageCount,
    turns: session.turnCount,
    description: session.description,
    preview: session.preview,
  }
}

async function detail(session: Session, { store: { read }, live }: OperatorSources): Promise<SessionDetail> {
  const events = await read.events.latest(session.id, SHOWN_EVENTS)
  const { scopeKey, scope, source, metadata } = session
  return {
    ...summary(session, live?.running),
    scopeKey,
    scope,
    source,
    metadata,
    events: events.map((event) => ({
      seq: event.seq,
      at: event.at,
      type: event.type,
      text: eventText(event),
      ...(event.turnId === undefined ? {} : { turn: event.turnId }),
    })),
  }
}
