import { formatShortTime } from '../agent/local-time.ts'
import { BUILT_IN_GROUPS, type ToolGroup } from '../agent/tools/catalogue.ts'
import { sendMessage } from '../agent/tools/send-message.ts'
import { task } from '../agent/tools/task.ts'
import type { Approvals } from '../approvals/approval-service.ts'
import type { Accounts } from '../channels/accounts.ts'
import type { ChannelAdapter, ChannelCursor } from '../channels/adapter.ts'
import type { Config } from '../config/config.ts'
import type { Address } from '../core/address.ts'
import type { CloseCards } from '../core/card.ts'
import type { Clock } from '../core/clock.ts'
import type { ChatCommand } from '../core/command.ts'
import type { Decided, Decision, Dispatch } from '../core/dispatch.ts'
import type { IdSource, PersonId } from '../core/ids.ts'
import { joinsDirectChats } from '../core/joins-people.ts'
import type { Logger } from '../core/logger.ts'
import type { MediaStore } from '../core/media.ts'
import type { SessionIdentity } from '../core/session.ts'
import type { DeliveryService } from '../delivery/delivery.ts'
import { saveGate } from '../hooks/save-gate.ts'
import { Pipeline } from '../pipeline/pipeline.ts'
import { createRunTurn } from '../pipeline/run-turn.ts'
import { decideDispatch } from '../routing/decide-dispatch.ts'
import { configuredIds } from '../routing/identity-links.ts'
import { placeSession } from '../routing/place-session.ts'
import { decidedFields } from '../routing/trace.ts'
import { createCommandRunner } from '../sessions/commands/command-runner.ts'
import type { Admissions } from '../sessions/people/admissions.ts'
import type { OwnerChats } from '../sessions/people/owner-chats.ts'
import type { PostNotice } from '../sessions/people/post-notice.ts'
import { adoptAgents } from '../sessions/service/adopt-agent.ts'
import { chooseAgent } from '../sessions/service/choose-model.ts'
import { type Compaction, createCompaction } from '../sessions/service/compaction.ts'
import { modelRules, sessionRules } from '../sessions/service/session-rules.ts'
import { createSessionService, type DaemonSessions, type SessionService } from '../sessions/service/session-service.ts'
import { type AskAside, createAskAside } from '../sessions/service/side-question.ts'
import { type AnswerAgain, createAnswerAgain } from '../sessions/turns/ask-again.ts'
import type { Parting } from '../sessions/turns/parted.ts'
import { createPublicTurns, DEFAULT_PUBLIC_TURNS } from '../sessions/turns/public-turns.ts'
import { recoverTurns } from '../sessions/turns/recover-turns.ts'
import { createRunningTurns, type RunningTurns } from '../sessions/turns/running-turns.ts'
import { createSystemNotices, type SystemNotices } from '../sessions/turns/system-notices.ts'
import { createTurnQueue } from '../sessions/turns/turn-queue.ts'
import { createTranscript, type Transcript } from '../sessions/view/transcript.ts'
import type { Store } from '../store/store.ts'
import type { DaemonEvents } from './daemon-events.ts'
import type { Entrance } from './entrance.ts'
import { healthOf, noticeOfUnreadable } from './health-and-notices.ts'
import type { Lookups } from './lookups.ts'
import { makeAgent } from './make-agent.ts'
import { type MakeApprovalsDeps, makeApprovals } from './make-approvals.ts'
import { judgeSpeaker } from './make-delivery.ts'
import { describedByOthers } from './make-mcp.ts'
import { createSessionAccess, type SessionAccess } from './make-session-access.ts'
import type { OwnNet } from './make-web.ts'
import type { ModelHealth } from './model-health.ts'
import type { CurrentRouting } from './reload.ts'
import { createOldState } from './restoration.ts'
import { turnPorts } from './turn-ports.ts'

export interface StagesDeps extends Pick<MakeApprovalsDeps, 'hooks'> {
  readonly config: Config
  readonly store: Store
  readonly ids: IdSource
  readonly clock: Clock
  /** Returns a number in [0, 1), for jitter. */
  random(this: void): number
  /** Returns a text without the values of configured secrets. */
  redact(this: void, text: string): string
  readonly logger: Logger
  readonly accounts: Accounts
  readonly policies: CurrentRouting
  readonly lookups: Lookups
  readonly people: {
    decided(dispatch: Dispatch, decision: Decision): void
    overheard(this: void, payload: unknown): void
    readonly admissions: Pick<Admissions, 'refused'>
    readonly ownerChats: Pick<OwnerChats, 'nearest'>
  }
  readonly commands: ReadonlyMap<string, ChatCommand>
  /** The tools by group name, besides the built-in groups. */
  readonly tools: Readonly<Record<string, ToolGroup>>
  readonly media: MediaStore
  readonly net: OwnNet
  readonly delivery: DeliveryService
  adapter(this: void, address: Address): ChannelAdapter | undefined
  readonly say: PostNotice
  readonly closeCards: CloseCards
  readonly entrance: Entrance
  readonly events: Pick<DaemonEvents, 'ownerNotice'>
}

/** The stages between the entrance and the exit. */
export interface Stages extends SessionAccess, Pick<Compaction, 'compact'> {
  readonly running: RunningTurns
  readonly sessions: SessionService
  readonly modelHealth: ModelHealth
  readonly askAside: AskAside
  readonly answerAgain: AnswerAgain
  readonly approvals: Approvals
  /** Resumes what a crash or a stop interrupted; called at the start, before anything new is accepted. */
  recover(): Promise<void>
}

const VIEW_LIMITS = { turns: 40, dropTurns: 10, contextMessages: 50, contextCharacters: 24_000 }

/** Returns times as they stand with messages. Asking for the zone takes 13 ms, which no start should wait for. */
function homeTime(): (at: number) => string {
  let zone: string | undefined
  return (at) => {
    zone ??= Intl.DateTimeFormat().resolvedOptions().timeZone
    return formatShortTime(at, zone)
  }
}

function groupsOf({ tools }: Pick<StagesDeps, 'tools'>): readonly string[] {
  return [...BUILT_IN_GROUPS, 'message', 'task', ...Object.keys(tools)]
}

/** Connects the stages, and opens the entrance to them. */
export function createStages(parts: StagesDeps): Stages {
  const { config, store, ids, clock, policies, lookups, people, commands, delivery, say, entrance } = parts
  const { busy, max } = config.session.queue
  const { channels } = policies.routing()
  const logger = parts.logger.child({ subsystem: 'turns' })
  const oldState = createOldState(store, clock)
  const queue = createTurnQueue(max)
  const publicTurns = createPublicTurns(config.session.publicTurns ?? DEFAULT_PUBLIC_TURNS)
  const approvals = makeApprovals(parts)
  const running = createRunningTurns(clock, logger, { draining: publicTurns.close, waits: approvals.waits })
  const modelHealth = healthOf(parts)
  const joined = (session: SessionIdentity): boolean =>
    joinsDirectChats(channels, session, policies.routing().sessions.scope === 'global')
  const transcript = makeTranscript(parts, joined)
  const agent = chooseAgent({ ...modelRules(config), toolGroups: groupsOf(parts) }, lookups.overrides)
  const access = createSessionAccess({ ...parts, running, agent })
  const systemNotices = createSystemNotices({ clock, logger, say, ...people, crowded: delivery.crowded })
  const parting = partingOf(parts, systemNotices)
  const claims = { queue, parting, adopts: adoptAgents(config.agents, describedByOthers(config, agent)) }
  const speaks = (place: Parameters<typeof judgeSpeaker>[1]): boolean => judgeSpeaker(parts, place).allowed
  const runner = createCommandRunner({ store, logger, say, commands, parting, crowded: delivery.crowded })
  const tools = { message: [sendMessage(access.posts)], task: [task(access.tasks)], ...parts.tools }
  const { runAgent, summarize, precheck } = makeAgent({ ...parts, ...modelHealth, tools }, access.sessionTools)
  const compaction = createCompaction({ store, clock, logger, transcript, running, summarize, agent })
  const runTurn = createRunTurn({
    ...{ ...claims, store, ids, clock, transcript, delivery, busy, agent, joined, runAgent, precheck, approvals },
    ...turnPorts({ ...parts, logger, most: VIEW_LIMITS.contextMessages }),
  })
  function decide(received: Dispatch): Decided {
    const decided = oldState.judged(decideDispatch(policies.routing(), lookups.facts, received))
    people.decided(decided.dispatch, decided.decision)
    logger.debug('A message was decided', decidedFields(decided.dispatch, decided.decision))
    return decided
  }
  const pipeline = new Pipeline({
    ...{ ...claims, store, ids, channels, clock, logger, running, publicTurns, delivery, runTurn },
    ...{ transcript, busy, overrides: lookups.overrides, decide: saveGate(decide, parts.hooks) },
    ended(turn, result) {
      lookups.facts.watch.ended(turn, result)
      compaction.ended(turn, result)
      if (approvals.hasAsked(turn.id)) void running.nextEnd(turn.session.id).then(() => approvals.turnEnded(turn.id))
    },
    unreadable: noticeOfUnreadable(parts, logger),
    commands: runner,
    systemNotices,
  })
  function accept(dispatch: Dispatch, position?: ChannelCursor): Promise<void> {
    if (dispatch.event.kind !== 'migration') return pipeline.accept(lookups.moves.followed(dispatch), position)
    const { channel, account } = dispatch.event.address
    return lookups.moves.accept(dispatch, decide(dispatch).decision, async (tx) => {
      if (position) await tx.channelState.set(channel, account, position.key, position.value)
    })
  }
  async function recover(): Promise<void> {
    await oldState.hold()
    await delivery.recover()
    await recoverTurns({
      ...{ ...claims, store, clock, ids, logger, publicTurns, say, commands: runner, resume: pipeline.resume },
      draining: () => running.draining,
    })
    await approvals.recover()
  }
  entrance.open(accept)
  return {
    ...{ ...access, running, modelHealth, approvals, recover, compact: compaction.compact },
    answerAgain: createAnswerAgain({ ...claims, ids, clock, running, publicTurns, speaks, resume: pipeline.resume }),
    askAside: createAskAside({
      ...{ ids, logger, transcript, running, runAgent, agent, joined, speaks, typing: delivery.typing },
    }),
    sessions: sessionsOf(parts, { running, transcript, approvals }),
  }
}

function makeTranscript({ store, clock }: StagesDeps, joined: (session: SessionIdentity) => boolean): Transcript {
  return createTranscript(
    store.read.events,
    { ...VIEW_LIMITS, timeOf: homeTime() },
    { chatTypeOf: (session: SessionIdentity) => (joined(session) ? 'group' : session.chatType), now: clock.now },
  )
}

function partingOf({ policies, lookups: { whoIs } }: StagesDeps, notices: SystemNotices): Parting {
  const { channels } = policies.routing()
  return { channels, whoIs, parted: ({ id, dispatch, decision }) => notices.parted(id, dispatch, decision) }
}

function sessionsOf(
  { config, store, clock, ids, policies, lookups, accounts, entrance }: StagesDeps,
  kept: Pick<DaemonSessions, 'running' | 'transcript' | 'approvals'>,
): SessionService {
  const { whoIs, overrides, facts } = lookups
  const { channels } = policies.routing()
  return createSessionService({
    ...sessionRules(config, store, {
      ...{ channels, whoIs, mainIsShared: () => policies.routing().sessions.scope === 'global' },
      configuredIds: (person: PersonId) => configuredIds(policies.routing().people, person),
    }),
    ...{ store, clock, channels },
    daemon: {
      ...{ ...kept, ids, overrides, whoIs, accept: entrance.accept },
      models: modelRules(config),
      place: (address, agent) =>
        placeSession(policies.routing(), facts, {
          ...{ address, traceId: ids.trace(), receivedAt: clock.now() },
          ...(agent === undefined ? {} : { agent }),
        }),
      posts: (channel) => accounts.all.some((account) => account.channel === channel),
    },
  })
}
