import type { Accounts } from '../channels/accounts.ts'
import type { ChannelAdapter, ChannelCursor } from '../channels/adapter.ts'
import type { Config } from '../config/config.ts'
import { type Address, formatAddress } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import type { ChatCommand } from '../core/command.ts'
import type { Decided, Decision, Dispatch, Identity } from '../core/dispatch.ts'
import type { ChannelId, IdSource, PersonId } from '../core/ids.ts'
import { joinsDirectChats } from '../core/joins-people.ts'
import type { Logger } from '../core/logger.ts'
import type { AccountAt, OwnerNotice } from '../core/owner-notice.ts'
import type { Role, Session } from '../core/session.ts'
import type { Tool } from '../core/turn.ts'
import { createDelivery, type DeliveryService } from '../delivery/delivery.ts'
import { DEFAULT_SETTINGS, type DeliverySettings } from '../delivery/settings.ts'
import { Pipeline } from '../pipeline/pipeline.ts'
import { createConverse } from '../pipeline/run-turn.ts'
import type { Routing } from '../routing/compile-routing.ts'
import { decideDispatch } from '../routing/decide-dispatch.ts'
import { personBehind } from '../routing/identify.ts'
import { configuredIds } from '../routing/identity-links.ts'
import { mutedAt } from '../routing/mute.ts'
import { placeSession } from '../routing/place-session.ts'
import type { RouteFacts } from '../routing/route-facts.ts'
import { type SendVerdict, sendAllowed } from '../routing/send-policy.ts'
import { decidedFields } from '../routing/trace.ts'
import { createCommandRunner } from '../sessions/commands/command-runner.ts'
import { createCourtesy, type Say } from '../sessions/commands/courtesy.ts'
import type { ChatMoves } from '../sessions/facts/chat-moves.ts'
import type { ChatWatch } from '../sessions/facts/chat-watch.ts'
import type { Admissions } from '../sessions/people/admissions.ts'
import { createParticipants } from '../sessions/people/participants.ts'
import { chooseAgent } from '../sessions/service/choose-model.ts'
import type { OverrideBook } from '../sessions/service/override-book.ts'
import { sessionRules } from '../sessions/service/session-rules.ts'
import { createSessionService, type LiveSessions, type SessionService } from '../sessions/service/session-service.ts'
import { createPublicTurns, DEFAULT_PUBLIC_TURNS } from '../sessions/turns/public-turns.ts'
import { recordPost } from '../sessions/turns/record-post.ts'
import { recordUndelivered } from '../sessions/turns/record-undelivered.ts'
import { recoverTurns } from '../sessions/turns/recover-turns.ts'
import { createRunningTurns, type RunningTurns } from '../sessions/turns/running-turns.ts'
import { createTurnQueue } from '../sessions/turns/turn-queue.ts'
import { createTranscript } from '../sessions/view/transcript.ts'
import type { Store } from '../store/store.ts'
import { agentOf } from './make-agent.ts'
import { createOldState } from './restoration.ts'
import { createSessionDoors, type SessionDoors } from './session-access.ts'

export interface EngineParts {
  readonly config: Config
  readonly store: Store
  readonly ids: IdSource
  readonly clock: Clock
  /** In [0, 1), for jitter. */
  readonly random: () => number
  readonly logger: Logger
  readonly accounts: Accounts
  readonly routing: Routing
  readonly facts: RouteFacts & { readonly watch: Pick<ChatWatch, 'ended'> }
  readonly moves: ChatMoves
  readonly overrides: OverrideBook
  /** Who is who and who may talk. */
  readonly gate: {
    decided(dispatch: Dispatch, decision: Decision): void
    readonly admissions: Pick<Admissions, 'refused'>
    roleOf(person: PersonId): Promise<Role>
    tellOwners(this: void, where: AccountAt, notice: OwnerNotice): void
  }
  readonly commands: ReadonlyMap<string, ChatCommand>
  /** Tools by group name, beside the built-in groups. */
  readonly tools: Readonly<Record<string, readonly Tool[]>>
  /** Times of the delivery that are not the usual ones. */
  readonly timing: Partial<DeliverySettings>
  adapter(address: Address): ChannelAdapter | undefined
}

/** The stages between the doors. */
export interface Engine extends SessionDoors {
  readonly pipeline: Pipeline
  /** The one door in: resolves once the dispatch is on disk. */
  accept(this: void, dispatch: Dispatch, position?: ChannelCursor): Promise<void>
  readonly delivery: DeliveryService
  readonly running: RunningTurns
  readonly say: Say
  readonly sessions: SessionService
  /** Boot: takes up what a crash or a stop left, before anything new comes in. */
  recover(): Promise<void>
}

const VIEW_LIMITS = { turns: 40, contextMessages: 50, contextCharacters: 24_000 }

export function createEngine(parts: EngineParts): Engine {
  const { store, ids, clock, config, routing, facts, commands, moves, gate } = parts
  const logger = parts.logger.child({ subsystem: 'turns' })
  const oldState = createOldState(store, clock)
  const queue = createTurnQueue(config.session.queue.max)
  const publicTurns = createPublicTurns(config.session.publicTurns ?? DEFAULT_PUBLIC_TURNS)
  const running = createRunningTurns(clock, logger, publicTurns.close)
  const delivery = deliveryOf(parts)
  const say = sayer(store, delivery)
  const runner = createCommandRunner({ store, logger, say, commands, crowded: delivery.crowded })
  const { busy } = config.session.queue
  const joined = (session: Session): boolean =>
    joinsDirectChats(routing.channels, session, routing.sessions.scope === 'global')
  const transcript = createTranscript(store.read.events, VIEW_LIMITS, (session: Session) =>
    joined(session) ? 'group' : session.chatType,
  )
  const participants = createParticipants()
  const agent = chooseAgent({ agents: config.agents, providers: Object.keys(config.models) }, parts.overrides)
  const whoIs = (platformId: string): Identity => personBehind(routing.people, facts, platformId)
  const { sessionTools, visits } = createSessionDoors(parts, { running, agent, accept, whoIs })
  const converse = createConverse({
    ...{ store, clock, queue, transcript, delivery, busy, agent, joined },
    runAgent: agentOf(parts, sessionTools),
    verbose: ({ id }) => parts.overrides.of(id).verboseLevel ?? 'off',
  })
  function decide(received: Dispatch): Decided {
    const decided = oldState.judged(decideDispatch(routing, facts, received))
    gate.decided(decided.dispatch, decided.decision)
    logger.debug('A message was decided', decidedFields(decided.dispatch, decided.decision))
    return decided
  }
  const pipeline = new Pipeline({
    store,
    ids,
    channels: routing.channels,
    clock,
    logger,
    overrides: parts.overrides,
    queue,
    participants,
    running,
    publicTurns,
    delivery,
    decide,
    converse,
    ended: facts.watch.ended,
    transcript,
    commands: runner,
    courtesy: createCourtesy({ clock, logger, say, admissions: gate.admissions, crowded: delivery.crowded }),
    busy,
  })
  async function recover(): Promise<void> {
    await oldState.hold()
    await delivery.recover()
    await recoverTurns({
      ...{ store, clock, ids, logger, queue, publicTurns, say, resume: pipeline.resume, commands: runner },
      draining: () => running.draining,
    })
  }
  function accept(dispatch: Dispatch, position?: ChannelCursor): Promise<void> {
    if (dispatch.event.kind !== 'migration') return pipeline.accept(moves.followed(dispatch), position)
    const { channel, account } = dispatch.event.address
    return moves.accept(dispatch, decide(dispatch).decision, async (tx) => {
      if (position) await tx.channelState.set(channel, account, position.key, position.value)
    })
  }
  const sessions = sessionsOf(parts, { running, participants, transcript, accept, whoIs })
  return { pipeline, accept, delivery, running, say, sessionTools, visits, sessions, recover }
}

function sessionsOf(
  { config, store, clock, ids, overrides, routing, facts, accounts }: EngineParts,
  kept: Pick<LiveSessions, 'running' | 'participants' | 'transcript' | 'accept' | 'whoIs'>,
): SessionService {
  const place: LiveSessions['place'] = (address) =>
    placeSession(routing, facts, { address, traceId: ids.trace(), receivedAt: clock.now() })
  const posts = (channel: ChannelId): boolean => accounts.all.some((account) => account.channel === channel)
  const live = { ...kept, ids, overrides, place, posts }
  const people = {
    channels: routing.channels,
    whoIs: kept.whoIs,
    configuredIds: (person: PersonId) => configuredIds(routing.people, person),
  }
  return createSessionService({
    ...sessionRules(config, store, people),
    ...{ store, clock, live },
    channels: routing.channels,
  })
}

function deliveryOf(parts: EngineParts): DeliveryService {
  const { store, ids, clock, random, logger, accounts, adapter, routing, facts, timing, moves, overrides } = parts
  const { answerParts = DEFAULT_SETTINGS.answerParts } = parts.config.session
  return createDelivery({
    store,
    ids,
    clock,
    random,
    logger: logger.child({ subsystem: 'delivery' }),
    epoch: store.epoch,
    settings: { answerParts, ...timing },
    format: accounts.format,
    limits: accounts.limits,
    streams: accounts.streams,
    adapter,
    sendAllowed: ({ address, session }) =>
      session
        ? (mutedAt(facts, address, clock.now()) ??
          silencedAt(parts, address) ??
          sendAllowed(routing, facts, { address, ...session }))
        : { allowed: true, because: 'it speaks for no session' },
    moved: (from, to) => void moves.learned(from, to),
    undelivered: (tx, row, ending) => recordUndelivered(tx, row, ending, clock.now()),
    unreadable: (to) => {
      const text = `A stored message for ${formatAddress(to)} cannot be read any more: it is not sent. My log names it.`
      parts.gate.tellOwners(to, { about: `unreadable:${formatAddress(to)}`, text })
    },
    announced: (tx, row) => {
      const { address, traceId } = row
      return recordPost(tx, placeSession(routing, facts, { address, traceId, receivedAt: clock.now() }), row, {
        ids,
        channels: routing.channels,
        overrides,
      })
    },
  })
}

/** What `/send off` asked of a chat holds for whatever speaks there, a schedule too (T31). */
function silencedAt({ overrides, routing, facts, ids, clock }: EngineParts, address: Address): SendVerdict | undefined {
  if (!overrides.silences) return undefined
  const { route } = placeSession(routing, facts, { address, traceId: ids.trace(), receivedAt: clock.now() })
  if (overrides.send(route.scopeKey) !== 'deny') return undefined
  return { allowed: false, because: "the override of the chat's session: deny" }
}

function sayer(store: Store, delivery: DeliveryService): Say {
  return async (message, when) => {
    const planned = await store.write(async (tx) => ((await when(tx)) ? delivery.plan(tx, message) : undefined))
    if (planned) delivery.release(planned)
  }
}
