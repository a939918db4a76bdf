import { randomBytes } from 'node:crypto'
import { type Accounts, type ConfiguredAccount, loadAccounts, pluginOf } from '../channels/accounts.ts'
import { type AdapterServices, ChannelDown, type ChannelPlugin, type ChannelState } from '../channels/adapter.ts'
import { ChannelHub, type HubAccount } from '../channels/hub.ts'
import { Inlet } from '../channels/inlet.ts'
import { createMenus } from '../channels/menus.ts'
import type { Config } from '../config/config.ts'
import { createChannels } from '../core/channel-traits.ts'
import type { ChatMove } from '../core/chat-move.ts'
import { type Clock, systemClock, within } from '../core/clock.ts'
import type { ChatCommand } from '../core/command.ts'
import { type AccountId, type ChannelId, createIdSource, toAccountId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { ConfigOperator } from '../core/operate-config.ts'
import type { OperatorService } from '../core/operator.ts'
import type { ConfiguredSchedule } from '../core/schedule.ts'
import type { Tool } from '../core/turn.ts'
import type { DeliverySettings } from '../delivery/settings.ts'
import { startLocalApi } from '../http/server.ts'
import { formerNames } from '../routing/former-names.ts'
import { createScheduleService, type ScheduleService, type ServiceDeps } from '../schedule/schedule-service.ts'
import { sessionCommands } from '../sessions/commands/index.ts'
import { movedSchedule } from '../sessions/facts/move-chat.ts'
import { ageingTime, startCleaning } from '../sessions/service/age-out.ts'
import { openSqliteStore } from '../store/engines/sqlite.ts'
import type { Store } from '../store/store.ts'
import { createGate, type Gate } from './directory.ts'
import { channelStatuses, createOperator } from './operator.ts'
import { createLiveRouting, createReload, type LiveRouting } from './reload.ts'
import { createRestoration, restorationTeller } from './restoration.ts'
import { createEngine, type Engine } from './stages.ts'
import { createStop } from './stop.ts'
import { createWhy } from './why.ts'

export interface DaemonOptions {
  readonly config: Config
  readonly logger: Logger
  readonly version: string
  readonly plugins: Readonly<Record<string, ChannelPlugin<never>>>
  /** Where the daemon answers the CLI of this machine. */
  readonly socketPath: string
  /** Reads the configuration again, as the start did. */
  readonly reload?: () => Promise<Config>
  /** Tools by group name, beside the built-in groups: a test build's. */
  readonly tools?: Readonly<Record<string, readonly Tool[]>>
  /** The system's by default. */
  readonly clock?: Clock
  /** Waits of the delivery, the usual ones by default: a test build's, which cannot move the clock of a process. */
  readonly delivery?: Partial<DeliverySettings>
}

export interface Daemon {
  readonly operator: OperatorService
  /** Resolves when every channel has come up or failed once. */
  settled(): Promise<void>
  /** A write was committed in time just now: what a watchdog may be told. */
  healthy(): Promise<boolean>
  /**
   * Resolves when it has stopped. Rejects with `store_broken` when the disk did not confirm a write: nothing can be
   * promised or acknowledged any more, and the process has to end (F-F03).
   */
  readonly stopped: Promise<void>
  /**
   * Takes nothing more in, lets running turns end, then lets go of everything, all within 25 s; at once after the disk
   * has failed. Idempotent.
   */
  stop(): Promise<void>
}

const COMMIT_WITHIN_MS = 5_000
const random = Math.random

/**
 * Opens the store, wires the stages, takes up what a crash left, and opens the channels, in this order. Rejects with
 * `store_locked` or `config`; a channel that cannot come up is no reason not to start.
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { config, logger, clock = systemClock } = options
  const policies = createLiveRouting(config.routing, (warning) => logger.warn('A setting is doubtful', { warning }))
  const disk = new AbortController()
  const store = await openSqliteStore({
    path: config.store.path,
    clock,
    caseSensitive: policies.routing.channels.caseSensitive,
    logger: logger.child({ subsystem: 'store' }),
    onBroken(err) {
      logger.error('The disk failed; the daemon ends at once', { err })
      disk.abort(err)
    },
  })
  try {
    return await open(options, policies, store, disk.signal)
  } catch (error) {
    await store.close()
    throw error
  }
}

async function open(options: DaemonOptions, policies: LiveRouting, store: Store, broken: AbortSignal): Promise<Daemon> {
  const { config, logger, version, plugins, socketPath, tools = {}, clock = systemClock, delivery = {} } = options
  const ids = createIdSource({ now: clock.now, randomBytes })
  const today = await ageingTime({ store, clock })
  const { routing } = policies
  const accounts = await loadAccounts(config.channels, plugins)
  const commands = new Map<string, ChatCommand>()
  const gate = await createGate({
    ...{ store, clock, ids, logger, routing, policies },
    say: (message, when) => engine.say(message, when),
    peopleChanged: () => menus.again(),
    accept: (dispatch) => engine.accept(dispatch),
    reaches: ({ channel, account }) => accounts.all.some((one) => one.channel === channel && one.account === account),
    command: (name) => commands.get(name),
  })
  const { access, facts, moves, overrides } = gate
  const hub = new ChannelHub({ clock, logger: logger.child({ subsystem: 'channels' }) })
  const adapter = hub.adapter.bind(hub)
  const world = { store, ids, clock, random, logger }
  const engine: Engine = createEngine({
    ...world,
    ...{ config, accounts, routing, facts, moves, overrides, gate, commands, tools, adapter },
    timing: delivery,
  })
  const { accept, running, sessions } = engine
  const inlet = new Inlet({ ...gate, clock, ids, accept, state: stateIn(store) })
  const live = { hub, inlet, access, watch: facts.watch, startedAt: clock.now(), traits: routing.channels.traits }
  const why = createWhy({ read: store.read, lookups: plugins, channels: () => channelStatuses(live) })
  const schedules = schedulesOf(options, gate, { store, ids, clock, accept })
  const outbox = createRestoration({ store, sendHeld: engine.delivery.resumeHeld })
  const answering = { store, version, models: modelsOf(config), sessions, why, live, outbox, ...gate.operator }
  const operator = createOperator({
    ...answering,
    schedules: schedules.operator,
    config: reloadOf(options, policies, gate),
  })
  const parts = { ...gate, store, channels: routing.channels, clock, ids, running, sessions, operator, why }
  const own = sessionCommands({ ...parts, all: () => [...commands.values()] })
  for (const command of own) commands.set(command.name, command)
  // Made before anything can change who is known: a stored command does so while it is recovered.
  const menus = createMenus({ logger, commands: own, owners: gate.owners })

  const api = await startLocalApi({ socketPath, service: operator, logger: logger.child({ subsystem: 'api' }) })
  await engine.recover()
  await gate.admissions.recover()
  await schedules.start(currentSchedules(config, moves.all, logger))
  const tellRestored = await restorationTeller(outbox, gate.tellOwners)
  hub.start(accountsToStart(options, accounts, inlet), (channel, account, adapter) => {
    engine.delivery.ready(channel, account)
    tellRestored(channel, account)
    menus.register(adapter, { channel, account })
  })
  const cleaning = { store, clock, today, logger, keepDays: config.store.keepRefusedDays }
  startCleaning({ ...cleaning, stopping: () => running.draining })
  const doors = { engine, inlet, schedules, hub, api, store }
  return {
    operator,
    settled: () => hub.settled(),
    healthy: () => commitsInTime(store, clock),
    ...createStop(doors, { clock, logger, broken }),
  }
}

/** The configured schedules, where the chats they name are now. */
function currentSchedules(config: Config, moves: readonly ChatMove[], logger: Logger): readonly ConfiguredSchedule[] {
  for (const warning of formerNames(config, moves)) logger.warn('A setting is doubtful', { warning })
  return config.schedules.map((schedule) => ({
    ...schedule,
    definition: moves.reduce(movedSchedule, schedule.definition),
  }))
}

function modelsOf({ agents }: Config): readonly string[] {
  return agents.map(({ model }) => model)
}

/** The configured accounts, each with its adapter made when it is first brought up; those without a secret stay down. */
function accountsToStart(options: DaemonOptions, accounts: Accounts, inlet: Inlet): HubAccount[] {
  const { config, logger, plugins, clock = systemClock } = options
  const services = (channel: ChannelId): AdapterServices => ({
    clock,
    random,
    logger: logger.child({ subsystem: channel }),
  })
  const up = accounts.all.map((account) => ({
    ...account,
    create: () => createAdapter(account, plugins, services(account.channel)),
  }))
  return [...up, ...config.down.map(downAccount)].map((entry) => ({
    ...entry,
    sink: () => inlet.sink(entry.channel, entry.account),
  }))
}

function createAdapter(
  { channel, name, settings }: ConfiguredAccount,
  plugins: DaemonOptions['plugins'],
  services: AdapterServices,
) {
  // The channel's own schema parsed these settings; only the channel knows their type.
  return pluginOf(plugins, channel).create({ account: name, config: settings as never, services })
}

/** An account whose secret is missing: listed as down with its reason, however often it is tried. */
function downAccount({ channel, account, reason }: Config['down'][number]) {
  const create = () => Promise.reject(new ChannelDown(reason, { permanent: true }))
  return { channel, account: toAccountId(account), create }
}

function stateIn({ read, write }: Store) {
  return (channel: ChannelId, account: AccountId): ChannelState => ({
    get: (key) => read.channelState.get(channel, account, key),
    set: (key, value) => write((tx) => tx.channelState.set(channel, account, key, value)),
    delete: (key) => write((tx) => tx.channelState.delete(channel, account, key)),
  })
}

function reloadOf(
  { config: running, reload, logger }: DaemonOptions,
  live: LiveRouting,
  { policyChanged, access }: Gate,
): ConfigOperator {
  const parts = { live, running, policyChanged, logger: logger.child({ subsystem: 'config' }) }
  return createReload({ ...parts, claimed: () => access.claimed, ...(reload ? { load: reload } : {}) })
}

function schedulesOf(
  { config, logger }: DaemonOptions,
  { roleOf }: Gate,
  parts: Pick<ServiceDeps, 'store' | 'ids' | 'clock' | 'accept'>,
): ScheduleService {
  return createScheduleService({
    ...parts,
    logger: logger.child({ subsystem: 'schedules' }),
    agents: config.agents.map(({ id }) => id),
    caseSensitive: createChannels(config.routing.traits).caseSensitive,
    roleOf,
  })
}

/** A platform that is out does not make the daemon ill; a store that cannot write does. */
async function commitsInTime(store: Store, clock: Clock): Promise<boolean> {
  return within(
    clock,
    COMMIT_WITHIN_MS,
    store.write((tx) => tx.notices.once('watchdog', clock.now(), 0)),
  )
}
