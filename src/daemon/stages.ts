import type { ToolGroup } from '../agent/tools/catalogue.ts'
import type { Approvals } from '../approvals/approval-service.ts'
import type { Accounts } from '../channels/accounts.ts'
import type { ChannelAdapter, ChannelCursor } from '../channels/adapter.ts'
import type { Config } from '../config/config.ts'
import type { Address } from '../core/address.ts'
import type { Audio } from '../core/audio.ts'
import type { CloseCards } from '../core/card.ts'
import type { Clock } from '../core/clock.ts'
import type { ChatCommand } from '../core/command.ts'
import type { Decided, Decision, Dispatch } from '../core/dispatch.ts'
import type { IdSource, SessionId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { Measures } from '../core/measures.ts'
import type { DeliveryService } from '../delivery/delivery.ts'
import { saveGate } from '../hooks/save-gate.ts'
import type { OwnMediaStore } from '../media/media-store.ts'
import { scalePictures } from '../media/scale-pictures.ts'
import { Pipeline } from '../pipeline/pipeline.ts'
import { createRunTurn } from '../pipeline/run-turn.ts'
import type { Questions } from '../questions/question-service.ts'
import { decideDispatch } from '../routing/decide-dispatch.ts'
import { decidedFields } from '../routing/trace.ts'
import { createCommandRunner } from '../sessions/commands/command-runner.ts'
import type { Admissions } from '../sessions/people/admissions.ts'
import type { OwnerChats } from '../sessions/people/owner-chats.ts'
import type { PostNotice } from '../sessions/people/post-notice.ts'
import { adoptAgents } from '../sessions/service/adopt-agent.ts'
import type { ChatDesk } from '../sessions/service/chat-desk.ts'
import { chooseAgent } from '../sessions/service/choose-model.ts'
import { type Compaction, createCompaction } from '../sessions/service/compaction.ts'
import { modelRules } from '../sessions/service/session-rules.ts'
import { type AskAside, createAskAside } from '../sessions/service/side-question.ts'
import { type AnswerAgain, createAnswerAgain } from '../sessions/turns/ask-again.ts'
import type { Parting } from '../sessions/turns/parted.ts'
import { createPublicTurns, DEFAULT_PUBLIC_TURNS } from '../sessions/turns/public-turns.ts'
import { recoverTurns } from '../sessions/turns/recover-turns.ts'
import { createRunningTurns, type RunningTurns } from '../sessions/turns/running-turns.ts'
import type { StartedTurn } from '../sessions/turns/started-turn.ts'
import { createSystemNotices, type SystemNotices } from '../sessions/turns/system-notices.ts'
import { createTurnQueue } from '../sessions/turns/turn-queue.ts'
import type { Store } from '../store/store.ts'
import { agentTools, groupNames } from './agent-tools.ts'
import type { DaemonEvents } from './daemon-events.ts'
import type { Entrance } from './entrance.ts'
import { healthOf, noticeOfUnreadable } from './health-and-notices.ts'
import type { Lookups } from './lookups.ts'
import { makeAgent } from './make-agent.ts'
import { type MakeApprovalsDeps, makeApprovals } from './make-approvals.ts'
import type { Budgets } from './make-budgets.ts'
import { makeChat } from './make-chat.ts'
import { judgeSpeaker, planWith } from './make-delivery.ts'
import { describedByOthers } from './make-mcp.ts'
import { type Memory, makeLongTerm, makeMemory } from './make-memory.ts'
import { createSessionAccess, type SessionAccess } from './make-session-access.ts'
import { makeSessions, type OwnSessions } from './make-sessions.ts'
import { joinedBy, makeTranscript, VIEW_LIMITS } from './make-transcript.ts'
import type { OwnNet } from './make-web.ts'
import type { ModelHealth, ServerWatch } from './model-health.ts'
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
    asMeant(this: void, dispatch: Dispatch): Dispatch
    decided(dispatch: Dispatch, decision: Decision): void
    overheard(this: void, payload: unknown): void
    readonly admissions: Pick<Admissions, 'refused'>
    readonly ownerChats: Pick<OwnerChats, 'nearest'>
  }
  readonly commands: ReadonlyMap<string, ChatCommand>
  /** The tools by group name, besides the built-in groups. */
  readonly tools: Readonly<Record<string, ToolGroup>>
  readonly media: OwnMediaStore
  readonly audio: Audio
  readonly budgets: Budgets | undefined
  readonly measures: Measures
  readonly net: OwnNet
  readonly delivery: DeliveryService
  adapter(this: void, address: Pick<Address, 'channel' | 'account'>): ChannelAdapter | undefined
  readonly say: PostNotice
  readonly closeCards: CloseCards
  readonly questions: Questions
  readonly entrance: Entrance
  readonly events: Pick<DaemonEvents, 'ownerNotice' | 'answerGrew'>
}

/** The stages between the entrance and the exit. */
export interface Stages extends SessionAccess, OwnSessions, ServerWatch, Pick<Compaction, 'compact'> {
  readonly running: RunningTurns
  readonly modelHealth: ModelHealth
  readonly askAside: AskAside
  readonly answerAgain: AnswerAgain
  readonly chat: ChatDesk
  readonly approvals: Approvals
  readonly memory: Memory
  /** Called when events of a session were emptied: its view is read again. */
  dropView(this: void, session: SessionId): void
  /** Resumes what a crash or a stop interrupted; called at the start, before anything new is accepted. */
  recover(): Promise<void>
  /** Continues answers that came late and have begun nothing, for a reason that may have gone. */
  handIn(this: void): Promise<void>
}

/** Connects the stages, and opens the entrance to them. */
export function createStages(parts: StagesDeps): Stages {
  const { config, store, ids, clock, policies, lookups, people, commands, delivery, say, entrance, questions } = parts
  const [{ busy, max }, { channels }, { crowded }] = [config.session.queue, policies.routing(), delivery]
  const logger = parts.logger.child({ subsystem: 'turns' })
  const [oldState, queue] = [createOldState(store, clock), createTurnQueue(max)]
  const publicTurns = createPublicTurns(config.session.publicTurns ?? DEFAULT_PUBLIC_TURNS)
  const approvals = makeApprovals(parts)
  const waits = (session: SessionId): boolean => approvals.waits(session) || questions.waits(session)
  const running = createRunningTurns(clock, logger, { draining: publicTurns.close, waits })
  const [modelHealth, joined] = [healthOf(parts), joinedBy(policies)]
  const transcript = makeTranscript({ ...parts, running }, joined)
  const agent = chooseAgent({ ...modelRules(config), toolGroups: groupNames(parts) }, lookups.overrides)
  const access = createSessionAccess({ ...parts, running, agent })
  const notices = createSystemNotices({ ...parts, ...lookups, ...people, logger, plan: planWith(delivery), crowded })
  const parting = partingOf(parts, notices)
  const claims = { queue, parting, adopts: adoptAgents(config.agents, describedByOthers(config, agent)) }
  const speaks = (place: Parameters<typeof judgeSpeaker>[1]): boolean => judgeSpeaker(parts, place).allowed
  const runner = createCommandRunner({ store, logger, say, commands, parting, running, crowded })
  const [longTerm, media] = [makeLongTerm(parts, access.reach), scalePictures({ ...parts, logger })]
  const equipment = { ...parts, ...modelHealth, media, tools: agentTools(parts, access, longTerm) }
  const { runAgent, summarize, precheck, introspect, spentBeside, servers } = makeAgent(equipment, access.sessionTools)
  const compaction = createCompaction({ store, clock, logger, transcript, running, summarize, agent })
  const memory = makeMemory(parts, { introspect, running, transcript, agent, longTerm })
  const ports = turnPorts({ ...parts, logger, pictures: media, agent, most: VIEW_LIMITS.contextMessages })
  const shared = { ...claims, store, ids, clock, transcript, delivery, busy }
  const runTurn = createRunTurn({ ...shared, ...ports, agent, joined, runAgent, precheck, approvals })
  const decide = decider(parts, oldState, logger)
  const pipeline = new Pipeline({
    ...{ ...claims, store, ids, channels, clock, logger, running, publicTurns, delivery, runTurn },
    measures: parts.measures,
    ...{ transcript, busy, overrides: lookups.overrides, heard: memory.checkpoints.heard, pieces: ports.pieces },
    decide: inPresentChats(saveGate(decide, parts.hooks, lookups.moves.formerChat), decide, lookups.moves),
    ended(turn, result) {
      lookups.facts.watch.ended(turn, result)
      compaction.ended(turn, result)
      memory.checkpoints.ended(turn.session)
      closeCardsOf(turn, running, [approvals, questions])
    },
    spoken: questions.spoken,
    unreadable: noticeOfUnreadable(parts, logger),
    commands: runner,
    systemNotices: notices,
  })
  async function recover(): Promise<void> {
    await oldState.hold()
    await delivery.recover()
    await recoverTurns({
      ...{ ...claims, store, clock, ids, logger, publicTurns, say, commands: runner, resume: pipeline.resume },
      draining: () => running.draining,
    })
    for (const asked of [approvals, questions]) await asked.recover()
    memory.checkpoints.recover()
  }
  async function handIn(): Promise<void> {
    for (const asked of [approvals, questions]) await asked.handIn()
  }
  entrance.open(acceptBy(lookups.moves, { pipeline, decide }))
  const own = makeSessions(parts, { running, transcript, approvals: { waits }, memory: memory.desk })
  return {
    ...{ ...access, running, modelHealth, servers, approvals, memory, recover, handIn, compact: compaction.compact },
    dropView: transcript.drop,
    answerAgain: createAnswerAgain({ ...claims, ids, clock, running, publicTurns, speaks, resume: pipeline.resume }),
    askAside: createAskAside({
      ...{ ...shared, logger, running, runAgent, agent, joined, speaks, spentBeside, typing: delivery.typing },
    }),
    chat: makeChat({ ...parts, ...own, ...shared, running, runAgent, agent, spentBeside, pictures: media, pipeline }),
    ...own,
  }
}

/**
 * Returns the entrance: what is said in a chat that has a new id is said in its conversation, and what comes while one
 * is recorded waits until it is known.
 */
function acceptBy(
  moves: Lookups['moves'],
  { pipeline, decide }: { readonly pipeline: Pipeline; readonly decide: ReturnType<typeof decider> },
): (dispatch: Dispatch, position?: ChannelCursor) => Promise<void> {
  return (dispatch, position) => {
    const accept = (): Promise<void> => pipeline.accept(moves.followed(dispatch), position)
    if (dispatch.event.kind !== 'migration') return moves.underWay?.then(accept) ?? accept()
    const { channel, account } = dispatch.event.address
    return moves.accept(dispatch, decide(dispatch).decision, async (tx) => {
      if (position) await tx.channelState.set(channel, account, position.key, position.value)
    })
  }
}

/** Returns the decision about a dispatch, of which the log has a line. */
function decider(
  { policies, lookups, people }: StagesDeps,
  oldState: Pick<ReturnType<typeof createOldState>, 'judged'>,
  logger: Logger,
): (received: Dispatch) => Decided {
  return (received) => {
    const decided = oldState.judged(decideDispatch(policies.routing(), lookups.facts, people.asMeant(received)))
    people.decided(decided.dispatch, decided.decision)
    logger.debug('A message was decided', decidedFields(decided.dispatch, decided.decision))
    return decided
  }
}

/** Returns `gate` such that what a hook held is decided anew where its chat has got a new id meanwhile. */
function inPresentChats(
  gate: ReturnType<typeof saveGate>,
  decide: ReturnType<typeof decider>,
  moves: Lookups['moves'],
): ReturnType<typeof saveGate> {
  const settle = async (held: Promise<Decided>): Promise<Decided> => {
    const decided = await held
    await moves.underWay
    const dispatch = moves.followed(decided.dispatch)
    return dispatch === decided.dispatch ? decided : decide(dispatch)
  }
  return (received) => {
    const decided = gate(received)
    return decided instanceof Promise ? settle(decided) : decided
  }
}

/** Closes the cards of what a turn has asked once its end is on record. */
function closeCardsOf(
  { id, session }: StartedTurn,
  running: Pick<RunningTurns, 'nextEnd'>,
  asking: readonly Pick<Questions, 'hasAsked' | 'turnEnded'>[],
): void {
  for (const one of asking) if (one.hasAsked(id)) void running.nextEnd(session.id).then(() => one.turnEnded(id))
}

function partingOf({ policies, lookups: { whoIs } }: StagesDeps, notices: SystemNotices): Parting {
  return { channels: policies.routing().channels, whoIs, parted: notices.parted }
}
