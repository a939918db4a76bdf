import { readLastBackup } from '../backup/last-backup.ts'
import type { AccountSinks } from '../channels/account-sinks.ts'
import type { ChannelHub, ChannelReport } from '../channels/hub.ts'
import type { Config } from '../config/config.ts'
import { type Address, formatAddress, parseAddress } from '../core/address.ts'
import type { Caller } from '../core/caller.ts'
import type { Channels } from '../core/channel-traits.ts'
import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import type { SessionId } from '../core/ids.ts'
import type { BudgetDesk } from '../core/operate-budgets.ts'
import type { RetentionLimit } from '../core/operate-forgetting.ts'
import type { ChannelStatus } from '../core/operate-parts.ts'
import type { ClaimWay, LastMessage, OperatorService, ServedOperator, StatusReport } from '../core/operator.ts'
import { isDecided } from '../core/outbound.ts'
import { dayBegan } from '../core/spending.ts'
import { tokenDoer } from '../core/token.ts'
import { operateMemory } from '../memory/operate-memory.ts'
import { newestMessage } from '../sessions/commands/find-messages.ts'
import type { ChatWatch } from '../sessions/lookups/chat-watch.ts'
import type { Access } from '../sessions/people/access.ts'
import type { SessionArchives } from '../sessions/service/archives.ts'
import type { Notify } from '../sessions/service/notify.ts'
import { placeTitle } from '../sessions/service/place-title.ts'
import { operationsWithoutDaemon, type SessionOperations } from '../sessions/service/session-operations.ts'
import type { SessionService } from '../sessions/service/session-service.ts'
import type { Store, StoreReader } from '../store/store.ts'
import { listedDelivery } from './delivery-report.ts'
import type { ForPrograms } from './make-programs.ts'
import type { ModelHealth, ServerWatch } from './model-health.ts'
import { ownModels } from './model-servers.ts'
import { operateParts } from './operate-parts.ts'
import type { WhyService } from './why.ts'

/** The sources of the answers. Without a daemon there is only the store. */
export interface OperatorSources extends ServerWatch {
  readonly store: Store
  readonly clock: Clock
  readonly version: string
  readonly models: readonly string[]
  readonly sessions: SessionService
  /** Absent where the store was opened without a daemon. */
  readonly operations?: SessionOperations
  readonly archives: SessionArchives
  readonly schedules: OperatorService['schedules']
  readonly notify: Notify
  readonly tokens: OperatorService['tokens']
  readonly people: OperatorService['people']
  readonly admissions: OperatorService['admissions']
  readonly approvals: OperatorService['approvals']
  readonly config: OperatorService['config']
  readonly outbox: OperatorService['outbox']
  readonly forgetting: OperatorService['forgetting']
  readonly why: WhyService
  /** The state folder, which has the record of the last backup. */
  readonly dataDir: string
  /** True if the configuration names an owner; used only where no daemon runs. */
  readonly ownerNamed?: boolean
  /** The zone of the budgets; used only where no daemon runs. */
  readonly timezone?: string | undefined
  readonly daemon?: DaemonSources
}

export interface DaemonSources extends ForPrograms {
  readonly hub: ChannelHub
  readonly sinks: AccountSinks
  readonly access: Access
  readonly watch: Pick<ChatWatch, 'botsHeld'>
  readonly modelHealth: Pick<ModelHealth, 'troubles'>
  readonly budgets: Pick<BudgetDesk<never>, 'all' | 'spent' | 'timezone'> | undefined
  /** Returns the age limits of conversations. */
  ageLimits(this: void): Promise<readonly RetentionLimit[]>
  readonly startedAt: number
  readonly traits: Channels['traits']
}

/** Returns the sources that are in the configuration. */
export function configured(config: Config): Pick<OperatorSources, 'models' | 'dataDir'> {
  return { models: ownModels(config), dataDir: config.dataDir }
}

const SHOWN_UNCERTAIN = 20
/** The file mode of the local socket authorises the caller. */
const OPERATOR: Caller = { kind: 'operator' }

/**
 * Returns the answers for whoever asks. For anybody but the operator and owners the sessions that they may not see are
 * not there; of the rest the scopes of their token keep them away.
 */
export function createOperator(sources: OperatorSources, caller = OPERATOR): ServedOperator {
  const { sessions, archives, operations = operationsWithoutDaemon } = sources
  return {
    status: () => status(sources),
    why: sources.why.why,
    unseen: sources.why.unseen,
    sessions: {
      list: (query) => sessions.list(caller, query),
      show: (name) => sessions.get(caller, name),
      history: (name, page) => sessions.history(caller, name, page),
      patch: (name, changes) => sessions.patch(caller, name, changes),
      setHistory: (name, boundary) => sessions.setHistory(caller, name, boundary),
      rename: (name, title) => sessions.rename(caller, name, title),
      post: (name, request, left) => sessions.post(caller, name, request, { left }),
      start: (request) => sessions.start(caller, request),
      delete: (name) => sessions.delete(caller, name),
      create: (request) => operations.create(caller, request),
      cancel: (name) => operations.cancel(caller, name),
      checkpoint: (name) => operations.checkpoint(caller, name),
    },
    archives: {
      page: (name, query) => archives.page(caller, name, query),
      file: (name, media) => archives.file(caller, name, media),
      download: (name, format) => archives.download(caller, name, format),
      exported: (name, record) => archives.exported(caller, name, record),
      relocate: (name, request) => archives.relocate(caller, name, request),
    },
    tokens: {
      ...sources.tokens,
      create: (request) => sources.tokens.create(request, tokenOf(caller)),
      revoke: (id) => sources.tokens.revoke(id, tokenOf(caller)),
    },
    schedules: titledSchedules(sources),
    notifications: { send: (wanted, left) => sources.notify(caller, wanted, left) },
    people: sources.people,
    admissions: {
      ...sources.admissions,
      decide: (name, verdict) => sources.admissions.decide(name, verdict, doerOf(caller)),
    },
    approvals: {
      ...sources.approvals,
      decide: (code, verdict) => sources.approvals.decide(code, verdict, doerOf(caller)),
    },
    config: sources.config,
    outbox: sources.outbox,
    forgetting: sources.forgetting,
    memory: operateMemory(sources),
    hooks: { receive: async (call) => running(sources).inboundHooks.receive(caller, call) },
    health: {
      ready: async () => running(sources).health.ready(),
      metrics: async () => running(sources).health.metrics(),
    },
    parts: operateParts({
      ...{ store: sources.store, daemon: () => running(sources) },
      channels: () => channelStatuses(running(sources)),
    }),
    nodes: { post: async (id, post, left) => running(sources).nodes.post(caller, id, post, left) },
  }
}

/** Returns who is on record for a decision; undefined for the operator at the machine. */
function doerOf(caller: Caller): string | undefined {
  const token = tokenOf(caller)
  return token === undefined ? undefined : tokenDoer(token)
}

function tokenOf(caller: Caller): string | undefined {
  return caller.kind === 'operator' ? caller.token : undefined
}

function running({ daemon }: OperatorSources): DaemonSources {
  if (daemon) return daemon
  throw new ParleyError('unavailable', 'No daemon is running; start it: parley start.')
}

async function status({
  store: { read },
  version,
  models,
  servers,
  ownerNamed,
  timezone,
  daemon,
  clock,
  dataDir,
}: OperatorSources): Promise<StatusReport> {
  const backup = readLastBackup(dataDir)
  const channels = daemon ? channelStatuses(daemon) : []
  const counts = await read.outbox.counts()
  const doubtful = await read.outbox.recent(['uncertain', 'resent', 'given_up'], SHOWN_UNCERTAIN)
  const uncertain = doubtful.filter((delivery) => !isDecided(delivery))
  const ended = await read.outbox.recent(['rejected', 'expired'], SHOWN_UNCERTAIN)
  const undelivered = ended.filter((delivery) => !isDecided(delivery))
  const restored = await read.restorations.latest()
  const waits = restored?.state === 'held' || restored?.state === 'found'
  return {
    version,
    ...(waits ? { restored: { ...restored, held: await read.restorations.held() } } : {}),
    ...(daemon ? { startedAt: daemon.startedAt } : {}),
    channels,
    ownerKnown: daemon
      ? daemon.access.ownerKnown
      : ownerNamed || (await read.people.all()).some(({ role }) => role === 'owner'),
    claims: daemon?.access.claimCode ? claimWays(channels, daemon.traits, daemon.access.claimCode) : [],
    models,
    modelServers: servers(),
    ...(daemon ? { toolServers: daemon.toolServers().filter(({ agents }) => agents.length > 0) } : {}),
    ...(await budgetsOf(daemon)),
    ...(await limitsOf(daemon)),
    botsHeld: daemon?.watch.botsHeld() ?? [],
    sessions: await read.lists.stored(),
    runningTurns: (await read.turns.running()).length,
    waiting: await read.inbox.waitingCount(),
    spentToday: await read.turns.spentSince(dayBegan(clock.now(), daemon?.budgets?.timezone ?? timezone)),
    ...(await lastMessages(read)),
    ...(backup === undefined ? {} : { backup }),
    outbox: counts,
    uncertain: await Promise.all(uncertain.map((delivery) => listedDelivery(delivery, read))),
    undelivered: await Promise.all(undelivered.map((delivery) => listedDelivery(delivery, read))),
  }
}

async function lastMessages(read: StoreReader): Promise<Pick<StatusReport, 'lastIn' | 'lastOut'>> {
  const received = await newestMessage(read)
  const [sent] = await read.outbox.recent(['sent'], 1)
  const last = async (at: number, address: Address, session?: SessionId): Promise<LastMessage> => ({
    at,
    address: formatAddress(address),
    ...(await placeTitle(read, address, session)),
  })
  return {
    ...(received && {
      lastIn: await last(received.dispatch.receivedAt, received.dispatch.event.address, received.sessionId),
    }),
    ...(sent?.startedAt && { lastOut: await last(sent.startedAt, sent.address, sent.sessionId) }),
  }
}

const SHOWN_BUDGETS = 20

async function budgetsOf(daemon: DaemonSources | undefined): Promise<Pick<StatusReport, 'budgets'>> {
  const budgets = (await daemon?.budgets?.spent(SHOWN_BUDGETS)) ?? []
  return budgets.length === 0 ? {} : { budgets }
}

async function limitsOf(daemon: DaemonSources | undefined): Promise<Pick<StatusReport, 'retention'>> {
  const retention = (await daemon?.ageLimits()) ?? []
  return retention.length === 0 ? {} : { retention }
}

function titledSchedules({ schedules, store: { read } }: OperatorSources): OperatorService['schedules'] {
  return {
    ...schedules,
    async list() {
      const all = await schedules.list()
      return Promise.all(
        all.map(async (one) => {
          const { title } = await placeTitle(read, parseAddress(one.deliverTo))
          return title === undefined ? one : { ...one, deliverTitle: title }
        }),
      )
    },
  }
}

/** Returns every account as it is now. */
export function channelStatuses({ hub, sinks }: Pick<DaemonSources, 'hub' | 'sinks'>): readonly ChannelStatus[] {
  return hub.reports().map((report) => channelStatus(report, sinks))
}

function channelStatus(
  { channel, account, status, detail, receives, lastProofAt, lastTrouble, identity, hints }: ChannelReport,
  sinks: AccountSinks,
): ChannelStatus {
  return {
    channel,
    account,
    status,
    hints: hints ?? [],
    unknown: sinks.unknown(channel, account),
    ...(detail === undefined ? {} : { detail }),
    ...(identity === undefined ? {} : { username: identity.username }),
    ...(receives === undefined ? {} : { receives }),
    ...(lastProofAt === undefined ? {} : { lastProofAt }),
    ...(lastTrouble === undefined ? {} : { lastTrouble }),
  }
}

function claimWays(channels: readonly ChannelStatus[], traits: Channels['traits'], code: string): ClaimWay[] {
  return channels.flatMap(({ channel, account, username }) => {
    if (username === undefined || username === '') return []
    const { claimLink, claimMark = '/' } = traits(channel)
    const link = claimLink?.replace('<username>', () => username).replace('<code>', () => code)
    const command = `${claimMark}claim ${code}`
    return [{ channel, account, username, command, ...(link === undefined ? {} : { link }) }]
  })
}
