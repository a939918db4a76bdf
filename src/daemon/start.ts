import { randomBytes } from 'node:crypto'
import { scheduleTools } from '../agent/tools/schedule-tools.ts'
import { operateApprovals } from '../approvals/operate-approvals.ts'
import { AccountSinks } from '../channels/account-sinks.ts'
import { loadAccounts, reachesIn } from '../channels/accounts.ts'
import type { ChannelPlugin } from '../channels/adapter.ts'
import { ChannelHub, type HubDeps } from '../channels/hub.ts'
import { createMenus } from '../channels/menus.ts'
import type { Config } from '../config/config.ts'
import { namedApprovers } from '../core/approval.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import type { ChatCommand } from '../core/command.ts'
import { createIdSource } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { Measures } from '../core/measures.ts'
import type { ConfigOperator } from '../core/operate-config.ts'
import type { ServedOperator } from '../core/operator.ts'
import type { Tool } from '../core/turn.ts'
import type { DeliverySettings } from '../delivery/settings.ts'
import type { Hooks } from '../hooks/hooks.ts'
import { hookWatch } from '../hooks/store-watch.ts'
import type { OwnMediaStore } from '../media/media-store.ts'
import { UnnamedFiles } from '../media/media-store.ts'
import { loadOwnTools, withOwnCommands } from '../own/load-own-tools.ts'
import { unseenRules } from '../routing/unseen-rules.ts'
import { sessionCommands } from '../sessions/commands/index.ts'
import type { Access } from '../sessions/people/access.ts'
import { loadAgeingTime, startCleaning } from '../sessions/service/age-out.ts'
import { openSqliteStore } from '../store/engines/sqlite.ts'
import type { Store } from '../store/store.ts'
import { accountsToStart, stateIn } from './accounts-to-start.ts'
import { startBackups } from './backup-schedule.ts'
import { type CommitWatch, createCommitWatch } from './commit-watch.ts'
import { commitsInTime } from './commits-in-time.ts'
import { createEvents, type DaemonEvents } from './daemon-events.ts'
import { createEntrance } from './entrance.ts'
import { loadLookups } from './lookups.ts'
import { startApi } from './make-api.ts'
import { makeBudgets, paidAudio } from './make-budgets.ts'
import { makeCloseCards, makeDelivery, makeNotify, makeSay } from './make-delivery.ts'
import { makeForgetting } from './make-forgetting.ts'
import { makeHooks } from './make-hooks.ts'
import { makeLive } from './make-live.ts'
import { endLeftovers, makeMcp } from './make-mcp.ts'
import { makeMedia, sweepFiles } from './make-media.ts'
import { makeForPrograms } from './make-programs.ts'
import { makeQuestions } from './make-questions.ts'
import { currentSchedules, makeSchedules } from './make-schedules.ts'
import { makeAudio, type OwnNet } from './make-web.ts'
import { tellOldStores, type UsualPlaces } from './old-stores.ts'
import { channelStatuses, configured, createOperator, type OperatorSources } from './operator.ts'
import { createPeople, type People } from './people.ts'
import { type CurrentRouting, createCurrentRouting, createReload, type ReloadDeps } from './reload.ts'
import { createRestoration, restorationTeller } from './restoration.ts'
import { createStages, type Stages } from './stages.ts'
import { createStop, watchProgram } from './stop.ts'
import { storeKeyOf } from './store-key.ts'
import { tellOfBudgets } from './tell-of-budgets.ts'
import { textRedactor } from './text-redactor.ts'
import { removeLeftTrials } from './trial-folder.ts'
import { watchHost } from './watch-host.ts'
import { createWhy } from './why.ts'

export interface DaemonOptions {
  readonly config: Config
  readonly logger: Logger
  readonly version: string
  readonly plugins: Readonly<Record<string, ChannelPlugin<never>>>
  /** The path of the socket on which the daemon answers the CLI of this machine. */
  readonly socketPath: string
  /** Reads the configuration again, as the start did. */
  readonly reload?: () => Promise<Config>
  /** The tools by group name, besides the built-in groups, for a test build. */
  readonly tools?: Readonly<Record<string, readonly Tool[]>>
  /** The clock, by default the system's. */
  readonly clock?: Clock
  /** The waits of the delivery, for a test build that cannot move the clock of a process; the defaults otherwise. */
  readonly delivery?: Partial<DeliverySettings>
  /** The places in which conversations of older programs are looked for; absent: nowhere. */
  readonly oldStores?: UsualPlaces
  /** A net of its own for the tools that reach the web, for a test build. */
  readonly net?: OwnNet
}

export interface Daemon {
  readonly operator: ServedOperator
  /** Resolves when every channel is connected or has failed once. */
  settled(): Promise<void>
  /** Resolves with true if a write was committed in time just now, for a watchdog. */
  healthy(): Promise<boolean>
  /**
   * Resolves when the daemon has stopped. Rejects with `store_broken` when the disk did not confirm a write: nothing
   * can be promised or acknowledged any more, and the process has to end (F-F03).
   */
  readonly stopped: Promise<void>
  /**
   * Accepts nothing more, lets running turns end, then releases everything, all within 25 s; at once after the disk has
   * failed. Idempotent.
   */
  stop(): Promise<void>
}

const random = Math.random

/**
 * Opens the store, makes the stages, resumes what a crash interrupted, and opens the channels, in this order. Rejects
 * with `store_locked` or `config`; a channel that cannot connect does not prevent the start.
 */
export async function startDaemon(given: DaemonOptions): Promise<Daemon> {
  const program = watchProgram(given.logger)
  const options = { ...given, logger: program.logger }
  const { config, logger, clock = systemClock } = options
  const policies = createCurrentRouting(config.routing, (warning) => logger.warn('A setting is doubtful', { warning }))
  const disk = new AbortController()
  const [hooks, unnamed, events] = [makeHooks({ config, clock, logger }), new UnnamedFiles(clock), createEvents()]
  const [commits, notified] = [createCommitWatch(), hookWatch(hooks)]
  if (notified) commits.on(notified)
  const store = await openSqliteStore({
    ...{ path: config.store.path, key: storeKeyOf(config), clock },
    caseSensitive: policies.routing().channels.caseSensitive,
    logger: logger.child({ subsystem: 'store' }),
    watch: commits.watch,
    named: unnamed.named,
    onBroken(err) {
      logger.error('The disk failed; the daemon ends at once', { err })
      disk.abort(err)
    },
  })
  const media = makeMedia({ config, clock, store, unnamed })
  try {
    await endLeftovers(config, { clock, logger })
    const daemon = await open(options, { policies, store, hooks, media, commits, events, broken: disk.signal })
    startBackups({ config, clock, logger, notify: events.ownerNotice.emit })
    if (options.oldStores) await tellOldStores(options.oldStores, logger)
    // By the clock that has written the times of files.
    removeLeftTrials(systemClock)
    return program.watchedBy(daemon)
  } catch (error) {
    await store.close()
    throw error
  }
}

interface Opened {
  readonly policies: CurrentRouting
  readonly store: Store
  readonly hooks: Hooks
  readonly media: OwnMediaStore
  readonly commits: CommitWatch
  readonly events: DaemonEvents
  /** Aborted once the disk has failed. */
  readonly broken: AbortSignal
}

async function open(options: DaemonOptions, opened: Opened): Promise<Daemon> {
  const { policies, store, hooks, media, commits, events, broken } = opened
  const { config, logger, version, plugins, socketPath } = options
  const { clock = systemClock, delivery: timing = {}, net = {} } = options
  const ids = createIdSource({ now: clock.now, randomBytes })
  const world = { measures: new Measures(), store, media, ids, clock, random, logger, config, policies, events }
  const [redact, { channels }] = [textRedactor(config), policies.routing()]
  const [entrance, commands] = [createEntrance(redact), new Map<string, ChatCommand>()]
  const [accounts, lookups] = [await loadAccounts(config.channels, plugins), await loadLookups({ ...world, commands })]
  const budgets = await makeBudgets({ ...world, lookups, channels })
  const [hub, audio] = [makeHub(world), paidAudio(makeAudio({ ...world, net }), { ...world, budgets })]
  const adapter = hub.adapter.bind(hub)
  const delivery = makeDelivery({ ...world, audio, accounts, lookups, timing, adapter })
  const [say, closeCards] = [makeSay(store, delivery), makeCloseCards({ store, clock, logger }, delivery)]
  const people = await createPeople({ ...world, lookups, entrance, say, closeCards, reaches: reachesIn(accounts) })
  tellOfBudgets(budgets, { ...world, ...people, say, where: accounts.all[0] })
  const questions = makeQuestions({ ...world, delivery, closeCards, lookups, entrance })
  const exit = { delivery, adapter, say, closeCards, questions, hooks, audio, budgets }
  const schedules = makeSchedules({ ...world, lookups, entrance })
  const [mcp, extra] = [makeMcp({ ...world, version, questions }), await loadOwnTools(config, { clock, redact })]
  const tools = { schedule: scheduleTools(schedules.fromChats), ...mcp.groups, ...extra.groups, ...options.tools }
  const stages = createStages({ ...world, ...exit, accounts, lookups, people, commands, tools, net, entrance, redact })
  const [{ running, modelHealth, servers }, { access, facts, moves }] = [stages, lookups]
  const [ageingTime, live] = [await loadAgeingTime(world), makeLive({ ...world, commits, ...stages })]
  const forgets = makeForgetting({ ...world, lookups, delivery, schedules, stages, ageingTime, accounts, ...people })
  const sinks = new AccountSinks({ ...people, clock, ids, accept: entrance.accept, state: stateIn(store) })
  const status = { startedAt: clock.now(), traits: channels.traits, budgets: budgets?.desk }
  const parts = { hub, sinks, access, modelHealth, watch: facts.watch, ageLimits: forgets.ageLimits }
  const daemon = { ...parts, ...status, ...makeForPrograms({ ...world, hub, stages, live, mcp }) }
  const why = createWhy({ read: store.read, lookups: plugins, channels: () => channelStatuses(daemon) })
  const [outbox, notify] = [createRestoration({ store, delivery }), makeNotify(world, delivery)]
  const sources: OperatorSources = {
    ...{ store, clock, version, ...configured(config), servers, ...ownOf(stages), why, notify, ...people.operator },
    ...{ daemon, schedules: schedules.operator, approvals: operateApprovals({ store, clock, desk: stages.approvals }) },
    ...{ outbox, forgetting: forgets.operate(why.readLink), config: reloadOf(options, { policies, access, people }) },
  }
  const operator = createOperator(sources)
  const known = sessionCommands({
    ...{ ...lookups, ...people, ...stages, ...schedules, schedules: schedules.fromChats, questions },
    ...{ store, channels, clock, ids, operator, why, unsay: delivery.takeBack, budgets, ...forgets },
    ...{ all: () => [...commands.values()], approvers: namedApprovers(config.toolPolicy ?? []) },
  })
  for (const command of withOwnCommands(known, extra.commands)) commands.set(command.name, command)
  const stopping = () => running.draining
  const menus = createMenus({ logger, commands: [...commands.values()], access, owners: people.owners, stopping })
  events.peopleChanged.on(menus.again)

  // Before anything new is accepted: a turn that was interrupted goes ahead of what is posted now.
  const beginSchedules = () => schedules.start(currentSchedules(config, moves.all, logger))
  const recover = inOrder([stages.recover, forgets.forgetting.recover, people.admissions.recover, beginSchedules])
  const api = await startApi({ ...world, socketPath, sources, tokens: people.tokens, live, chat: stages.chat, recover })
  const notifyRestored = await restorationTeller(outbox, people.notifyOwners)
  hub.start(accountsToStart({ ...world, plugins, accounts, sinks }), (channel, account, adapter) => {
    delivery.ready(channel, account)
    notifyRestored(channel, account)
    menus.register(adapter, { channel, account })
  })
  mcp.start(config.agents.flatMap((agent) => agent.tools))
  const cleaning = { ...world, ageingTime, sweepMedia: sweepFiles(world), keepDays: config.store.keepRefusedDays }
  const again = [stages.handIn, forgets.forgetting.recover, watchHost({ ...world, ...people, where: accounts.all[0] })]
  startCleaning({ ...cleaning, again, retain: forgets.retain, stopping })
  return {
    operator,
    settled: () => hub.settled(),
    healthy: () => commitsInTime(store, clock),
    ...createStop({ running, delivery, sinks, schedules, hub, api, live, mcp, hooks, store }, { ...world, broken }),
  }
}

const inOrder = (steps: readonly (() => Promise<void>)[]) => (): Promise<void> =>
  steps.reduce((before, step) => before.then(step), Promise.resolve())

function makeHub({
  clock,
  logger,
  policies,
}: Pick<HubDeps, 'clock' | 'logger'> & { policies: CurrentRouting }): ChannelHub {
  return new ChannelHub({
    clock,
    logger: logger.child({ subsystem: 'channels' }),
    unseenRules: (channel, account) => unseenRules(policies.policy.access.groups, { channel, account }),
  })
}

const ownOf = ({ sessions, operations, archives }: Stages) => ({ sessions, operations, archives })

function reloadOf(
  { config: running, reload, logger }: DaemonOptions,
  { policies, access, people }: Pick<ReloadDeps, 'policies'> & { readonly access: Access; readonly people: People },
): ConfigOperator {
  const { policyChanged } = people
  const parts = { policies, running, policyChanged, logger: logger.child({ subsystem: 'config' }) }
  return createReload({ ...parts, claimed: () => access.claimed, ...(reload ? { load: reload } : {}) })
}
