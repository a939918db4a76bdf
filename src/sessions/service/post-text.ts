import { type Caller, inNamespace, type Namespace } from '../../core/caller.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Clock } from '../../core/clock.ts'
import type { Dispatch, Identity, Origin } from '../../core/dispatch.ts'
import { ParleyError } from '../../core/errors.ts'
import { type AgentId, type ChannelId, type IdSource, type RunId, runId, type TraceId } from '../../core/ids.ts'
import type { AttachmentRef, Sender } from '../../core/message.ts'
import type { PostAnswer, PostRequest } from '../../core/operate-sessions.ts'
import { foldPlatformId, personAuthor } from '../../core/platform-id.ts'
import type { SessionDraft } from '../../core/session.ts'
import { readContext, type SessionContext } from '../../core/session-context.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { Store } from '../../store/store.ts'
import { isPartedChat } from '../turns/parted-chat.ts'
import type { RunningTurns } from '../turns/running-turns.ts'
import { addressOf } from './address-of.ts'
import { answerOf } from './answer-of.ts'
import { messageDispatch } from './message-dispatch.ts'
import { isOwner } from './session-access.ts'
import { waitForRun } from './wait-for-run.ts'

export interface PostDeps {
  readonly store: Store
  readonly clock: Clock
  readonly channels: Channels
  readonly ids: Pick<IdSource, 'trace'>
  readonly running: Pick<RunningTurns, 'nextEnd'>
  /** Accepts a dispatch; resolves once it is on disk. */
  accept(dispatch: Dispatch): Promise<void>
  /** Returns true if texts can be posted on the channel. */
  posts(channel: ChannelId): boolean
  /** Returns the present identity of a platform id. */
  whoIs(this: void, platformId: string): Identity
  /** Returns true if the main session is everybody's. */
  mainIsShared(this: void): boolean
  /** Returns why an agent may not use a model; undefined if it may. */
  refusesModel(agent: AgentId, model: string): string | undefined
  /** Returns the failure of a session whose agent is gone from the configuration (R10). */
  refusesAgent(session: Pick<SessionDraft, 'agentId' | 'agentProfile'>): ParleyError | undefined
}

/** The waits in seconds: longer than a model takes, shorter than a client forgets. */
const WAIT_SECONDS = { fallback: 120, most: 3_600 }

/** It is shown wherever people are named. */
const SENDER = /^(?!.*:$)[^\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]{1,200}$/u

export interface Posting {
  readonly caller: Caller
  readonly session: SessionDraft
  /** True if the session does not exist yet and begins with this text. */
  readonly begins: boolean
  readonly request: PostRequest
  readonly further?: FurtherPosting
}

/** The rest of a post that another service makes. */
export interface FurtherPosting {
  /** The agent of a session that begins with this text; it goes before the rules. */
  readonly agent?: AgentId
  /** Files that came with it, read already. */
  readonly attachments?: readonly AttachmentRef[]
  /** Aborted when the caller does not wait any more. */
  readonly left?: AbortSignal | undefined
  /** Called before the text is accepted. */
  accepting?(session: SessionDraft, run: string): void
  /** Called instead of accepting where the request came before: its answer is that of the earlier run. */
  repeated?(run: RunId): Promise<void>
  /** Called with its row when the wait is over. */
  ended?(row: InboxRow): void
}

const NOTHING_FURTHER: FurtherPosting = {}

/**
 * Posts a text into a session as the caller's own words and waits for the answer, which goes to the caller, and to the
 * session's chat only on request (S44). Without `answer` it is stored and no model is called (S32). The turn continues
 * if the caller stops waiting. Throws `invalid` or `agent_gone` before anything is stored.
 */
export async function postText(
  deps: PostDeps,
  { caller, session, begins, request, further = NOTHING_FURTHER }: Posting,
): Promise<PostAnswer> {
  const { text, answer = true, deliver = false, waitSeconds = WAIT_SECONDS.fallback } = request
  const { attachments = [] } = further
  checkRequest(request, attachments.length)
  if (deliver && !deps.posts(addressOf(session).channel))
    throw new ParleyError('invalid', `${session.id} has no chat to deliver to.`)
  if (deliver && isPartedChat(session, deps.channels, deps))
    throw new ParleyError(
      'conflict',
      `The chat in which ${session.id} was last spoken to was parted from it; nothing goes there.`,
    )
  const said = authorOf(caller, request.sender, deps)
  // A token that names its node was let in as that node.
  const author: Author = caller.kind === 'token' && session.kind === 'node' ? { ...said, origin: 'node' } : said
  const traceId = deps.ids.trace()
  const run = runId('post', request.once ?? traceId)
  const wait = { run, session, seconds: waitSeconds, further }
  further.accepting?.(session, run)
  if (request.once && (await deps.store.read.inbox.find(run)).length > 0) {
    await further.repeated?.(run)
    return answerTo(deps, wait)
  }
  const gone = answer ? deps.refusesAgent(session) : undefined
  if (gone !== undefined) throw gone
  const context = contextOf(request, begins)
  const model = modelOf(deps, { caller, session, request })
  const { token } = caller.kind === 'person' ? {} : caller
  const dispatch = messageDispatch(deps.channels, {
    to: session,
    by: author.identity,
    token,
    text,
    announce: deliver,
    runId: run,
    traceId,
    receivedAt: deps.clock.now(),
  })
  await deps.accept(withFiles(signed(dispatch, author, { answer, begins, context, model }), attachments))
  return answerTo(deps, wait)
}

function notLetIn(trace: TraceId): string {
  return `The sender is nobody who was let in: name them among the people, or open routing.access.direct. (${trace})`
}

interface AwaitedRun {
  readonly run: RunId
  readonly session: SessionDraft
  readonly seconds: number
  readonly further: FurtherPosting
}

/** Returns the answer of a run that was accepted, by this call or by an earlier one for the same request. */
async function answerTo(deps: PostDeps, wait: AwaitedRun): Promise<PostAnswer> {
  const row = await rowOfRun(deps, wait)
  wait.further.ended?.(row)
  const named = { runId: wait.run, traceId: row.dispatch.traceId, session: wait.session.id }
  if (row.outcome === 'context') return { ...named, status: 'stored' }
  // A caller named the sender itself, and may know the reason.
  if (row.outcome === 'refused: stranger') return { ...named, status: 'error', error: notLetIn(named.traceId) }
  return { ...named, ...((await answerOf(deps.store.read, row)) ?? pending(wait.seconds)) }
}

/** Throws `invalid` for a text or a wait that no session takes. Files need no words. */
export function checkRequest(
  { text, waitSeconds = WAIT_SECONDS.fallback }: Pick<PostRequest, 'text' | 'waitSeconds'>,
  files = 0,
): void {
  if (text.trim() === '' && files === 0)
    throw new ParleyError('invalid', 'There is nothing to send: the text is empty.')
  if (!Number.isFinite(waitSeconds) || waitSeconds < 0 || waitSeconds > WAIT_SECONDS.most)
    throw new ParleyError('invalid', `waitSeconds must be 0 to ${WAIT_SECONDS.most}.`)
}

/** Returns the variables of a session that begins; one that exists keeps those of its start. */
function contextOf({ context }: PostRequest, begins: boolean): SessionContext | undefined {
  if (context === undefined) return undefined
  if (!begins) throw new ParleyError('conflict', 'This session exists already: its context was given at its start.')
  return readContext(context)
}

/**
 * Returns the model that is asked for. Throws `invalid` for one that the session could not be set to, and `forbidden`
 * for anybody but an owner: models have their price.
 */
function modelOf(
  { refusesModel }: PostDeps,
  { caller, session, request: { model } }: Pick<Posting, 'caller' | 'session' | 'request'>,
): string | undefined {
  if (model === undefined) return undefined
  if (!isOwner(caller)) throw new ParleyError('forbidden', 'Only an owner may choose the model of an answer.')
  const refused = refusesModel(session.agentId, model)
  if (refused !== undefined) throw new ParleyError('invalid', refused)
  return model
}

interface Author {
  readonly origin: Origin
  readonly identity: Identity
  readonly sender: Sender
  readonly participant?: string
  /** The namespace of the token that speaks for them. */
  readonly client?: Namespace
}

/**
 * Returns the author: a token speaks for senders of its namespace and for nobody else, other callers for themselves
 * (S42).
 */
function authorOf(caller: Caller, named: string | undefined, { whoIs, channels }: PostDeps): Author {
  switch (caller.kind) {
    case 'operator':
      return {
        origin: 'operator',
        identity: { role: 'owner' },
        sender: { id: 'operator', kind: 'user', displayName: 'operator' },
      }
    case 'person': {
      const { person, role } = caller
      const sender: Sender = {
        id: person ?? 'guest',
        kind: 'user',
        ...(person === undefined ? {} : { displayName: person }),
      }
      if (person === undefined) return { origin: 'api', identity: { role }, sender }
      return { origin: 'api', identity: { person, role }, sender, participant: personAuthor(person) }
    }
    case 'token': {
      const { namespace } = caller
      const id = foldPlatformId(channels, named ?? '')
      if (id !== namespace && !inNamespace(namespace, id))
        throw new ParleyError('invalid', `sender must be ${namespace}:<id>: this token speaks for nobody else.`)
      if (!SENDER.test(id))
        throw new ParleyError(
          'invalid',
          'sender must be one line of 200 characters at most, with an id behind the colon and no mark that turns text round.',
        )
      const sender: Sender = { id: id.slice(id.indexOf(':') + 1), kind: 'user' }
      return { origin: 'api', identity: whoIs(id), sender, participant: id, client: namespace }
    }
  }
}

function signed(
  dispatch: Dispatch,
  { origin, sender, participant, client }: Author,
  {
    answer,
    begins,
    context,
    model,
  }: {
    readonly answer: boolean
    readonly begins: boolean
    readonly context: SessionContext | undefined
    readonly model: string | undefined
  },
): Dispatch {
  const { posted } = dispatch
  const further = {
    ...(participant === undefined ? {} : { participant }),
    ...(client === undefined ? {} : { client }),
    ...(answer ? {} : { append: true as const }),
    ...(begins ? { begins: true as const } : {}),
    ...(context === undefined ? {} : { context }),
    ...(model === undefined ? {} : { model }),
  }
  return {
    ...dispatch,
    origin,
    event: { ...dispatch.event, sender },
    ...(posted ? { posted: { ...posted, ...further } } : {}),
  }
}

function withFiles(dispatch: Dispatch, attachments: readonly AttachmentRef[]): Dispatch {
  const { event } = dispatch
  return attachments.length === 0 || event.kind !== 'message'
    ? dispatch
    : { ...dispatch, event: { ...event, attachments } }
}

async function rowOfRun(
  { store: { read }, clock, running }: PostDeps,
  { run, session, seconds, further }: AwaitedRun,
): Promise<InboxRow> {
  const look = async (): Promise<InboxRow> => {
    const row = (await read.inbox.find(run)).find(({ dispatch }) => dispatch.posted !== undefined)
    if (row) return row
    throw new ParleyError('internal', `the run ${run} is not on record`)
  }
  const signal = further.left ?? new AbortController().signal
  return waitForRun({ clock, running, session: session.id, ms: seconds * 1_000, signal, look })
}

function pending(seconds: number): { readonly status: 'accepted' | 'timeout' } {
  return { status: seconds === 0 ? 'accepted' : 'timeout' }
}
