import type { AgentProfile } from '../core/agent-profile.ts'
import type { Content } from '../core/content.ts'
import { NO_USAGE } from '../core/model.ts'
import type { GrownText } from '../core/operate-events.ts'
import { isFree } from '../core/prices.ts'
import { isOwnChannel, isScheduled, type SessionIdentity, type VerboseLevel } from '../core/session.ts'
import { promptFolder, promptPlace } from '../core/titles.ts'
import type { TurnRequest } from '../core/turn.ts'
import type { LiveReply } from '../delivery/live-reply.ts'
import type { StartedTurn } from '../sessions/turns/started-turn.ts'
import { type ModelView, requestMessages } from '../sessions/view/model-view.ts'
import type { Transcript } from '../sessions/view/transcript.ts'
import type { Store } from '../store/store.ts'
import type { AskPersonDeps } from './ask-person.ts'
import type { CheckFirstDeps } from './check-first.ts'
import { type JoinDeps, joinWaiting } from './join-waiting.ts'

export interface RequestDeps extends JoinDeps, Pick<CheckFirstDeps, 'charge'>, Pick<AskPersonDeps, 'approvals'> {
  readonly store: Store
  readonly transcript: Transcript
  readonly busy: 'queue' | 'steer' | 'interrupt'
  /** Returns the agent as it is now, with the model that was asked for: a change counts from the next turn. */
  agent(session: SessionIdentity, model?: string): AgentProfile
  /**
   * Returns true if several people speak in the session, so that its model is shown who says what, though it began in a
   * direct chat.
   */
  joined(session: SessionIdentity): boolean
  /** Returns what the bot is called where the session is; undefined as long as that is not known. */
  ownName(session: SessionIdentity): string | undefined
  /** Called whenever the answer has grown, with its whole text, raw. */
  answerGrew(this: void, text: GrownText): void
  /** Returns how much of the tool steps the chat sees; undefined where nobody has set it. */
  verbose(session: SessionIdentity): VerboseLevel | undefined
}

interface Asking {
  readonly view: ModelView
  readonly live: LiveReply
  readonly signal: AbortSignal
}

/** Returns the request to the agent: the view of its session, and what the turn itself has done before a crash. */
export async function requestOf(
  deps: RequestDeps,
  turn: StartedTurn,
  { view, live, signal }: Asking,
): Promise<TurnRequest> {
  const { session, reply } = turn
  const agent = deps.agent(session, turn.asked?.model)
  const joined = deps.joined(session) || undefined
  const { messages, open, earlier } = requestMessages(view, joined ? 'group' : session.chatType)
  const paying = { charge: isFreeOfCharge(agent) ? undefined : await deps.charge(turn) }
  return {
    turnId: turn.id,
    sessionId: session.id,
    traceId: turn.traceId,
    agent,
    get charge() {
      return paying.charge
    },
    chatType: joined ? reply.address.chatType : session.chatType,
    joined,
    ...(isOwnChannel(session) ? await startOf(deps, session) : { place: placeOf(deps, session, joined) }),
    scheduled: isScheduled(session) || undefined,
    elsewhere: isOwnChannel(session) ? undefined : reply.elsewhere,
    messages,
    earlier,
    open,
    given: await givenCalls(deps, turn, view),
    gate: deps.approvals.gate(turn),
    spent: view.running?.spent ?? { steps: 0, usage: NO_USAGE },
    show(text) {
      live.push(text)
      deps.answerGrew({ session: session.id, turn: turn.id, text })
    },
    working: showsWork(turn, deps.verbose(session)) ? live.working : undefined,
    steer: deps.busy === 'steer' ? () => joinWaiting(deps, turn, { signal, paying }) : nothingSaid,
  }
}

/** Returns true for an agent without a model that costs anything: nobody needs to be charged for its turns. */
function isFreeOfCharge({ model, fallback = [] }: AgentProfile): boolean {
  return isFree(model) && fallback.every(isFree)
}

/** Returns what the model is shown of the start of a client's session: its variables, and the user's working folder. */
async function startOf(
  { store }: RequestDeps,
  session: SessionIdentity,
): Promise<Pick<TurnRequest, 'context' | 'place'>> {
  const [first] = await store.read.events.since(session.id, 0, 1)
  if (first?.type !== 'session_started') return {}
  return { context: first.data.context, place: promptFolder(first.data.workplace) }
}

function placeOf({ ownName }: RequestDeps, session: SessionIdentity, joined: true | undefined): string | undefined {
  return joined || isScheduled(session) ? undefined : promptPlace(session, ownName(session))
}

/** Returns the calls that were allowed too late for their own turn, unless this one has made them before a crash. */
async function givenCalls({ approvals }: RequestDeps, { asked }: StartedTurn, { running }: ModelView) {
  const codes = running?.steps.length ? undefined : asked?.approvals
  return codes && approvals.callsOf(codes)
}

/**
 * Returns true if the chat sees what the agent does while it uses tools: where it was set so, and in direct chats
 * unless it was turned off. A run of a schedule surprises nobody with a message that is not there yet.
 */
function showsWork({ session, reply }: StartedTurn, level: VerboseLevel | undefined): boolean {
  if (isScheduled(session)) return false
  return level === undefined ? reply.address.chatType === 'direct' : level !== 'off'
}

const nothingSaid = async (): Promise<readonly Content[]> => []
