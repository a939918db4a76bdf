import { formatAddress } from '../../core/address.ts'
import { type Caller, type Namespace, parseNamespace } from '../../core/caller.ts'
import { type Channels, OWN_CHANNELS } from '../../core/channel-traits.ts'
import type { Clock } from '../../core/clock.ts'
import type { Identity } from '../../core/dispatch.ts'
import { type ErrorCode, errorCode, ParleyError } from '../../core/errors.ts'
import type { AgentId, SessionId, TurnId } from '../../core/ids.ts'
import type { RequestId } from '../../core/keyed-request.ts'
import { NO_USAGE } from '../../core/model.ts'
import {
  ChatRefused,
  type CompletionAnswer,
  type CompletionMessage,
  type CompletionWatch,
} from '../../core/operate-chat.ts'
import { foldPlatformId } from '../../core/platform-id.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { StoreReader } from '../../store/store.ts'
import type { ResumeFailed } from '../turns/ask-again.ts'
import { type ChatFilePorts, readChatFiles } from './chat-files.ts'
import { GrowingAnswer } from './growing-answer.ts'
import type { GrownTexts } from './grown-texts.ts'
import { ownAddress } from './own-address.ts'
import { newestFirst } from './read-messages.ts'
import type { SessionService } from './session-service.ts'

export interface KeptChatDeps {
  readonly channels: Channels
  readonly sessions: Pick<SessionService, 'get' | 'post'>
  readonly read: Pick<StoreReader, 'inbox' | 'turns' | 'sessions' | 'events'>
  readonly clock: Clock
  readonly grown: Pick<GrownTexts, 'follow'>
  readonly files: ChatFilePorts
  readonly resumeFailed: ResumeFailed
  /** Returns the present identity of a platform id. */
  whoIs(this: void, platformId: string): Identity
}

/** The one for whom a client asks. */
export interface ChatSpeaker {
  readonly caller: Caller
  /** Their platform id, or that of the client; undefined for an owner, who speaks for themselves. */
  readonly sender: string | undefined
}

export interface KeptChat extends ChatSpeaker {
  readonly agent: AgentId
  readonly session: string
  readonly messages: readonly CompletionMessage[]
  readonly once?: RequestId | undefined
}

/**
 * Returns whoever a request is of: the person whose id `<namespace>:<user>` is, else the token's person, or its owner.
 * Such a person asks with a person's reach also where the token is an owner's.
 */
export function speakerOf(
  { whoIs, channels }: Pick<KeptChatDeps, 'whoIs' | 'channels'>,
  caller: Caller,
  user: string | undefined,
): ChatSpeaker {
  const namespace = namespaceOf(caller)
  const id = user === undefined ? namespace : foldPlatformId(channels, `${namespace}:${user}`)
  const isPerson = id !== namespace && whoIs(id).person !== undefined
  if (caller.kind === 'token') return { caller, sender: isPerson ? id : namespace }
  if (!isPerson) return { caller, sender: undefined }
  const { token } = caller.kind === 'operator' ? caller : {}
  return { caller: { kind: 'token', namespace, ...(token === undefined ? {} : { token }) }, sender: id }
}

const OWNERS = parseNamespace('api') as Namespace

function namespaceOf(caller: Caller): Namespace {
  return caller.kind === 'token' ? caller.namespace : OWNERS
}

/** The longest wait of a post. */
const WAIT_SECONDS = 3_600
/** The pause between two looks whether a turn has taken the message by now. */
const LOOK_AGAIN_MS = 200

/**
 * Answers in a session that a client has named: what stands behind the last answer is one message to it, and everything
 * before is ignored, since the session's own log is the truth.
 */
export async function answerKept(
  deps: KeptChatDeps,
  chat: KeptChat,
  watch: CompletionWatch,
): Promise<CompletionAnswer> {
  const { sessions, files, clock, resumeFailed } = deps
  const { caller, agent, sender } = chat
  const name = sessionOf(chat)
  const conversation = formatAddress(ownAddress(caller, name))
  const news = chat.messages.slice(chat.messages.findLastIndex(({ role }) => role === 'assistant') + 1)
  const text = wordsOf(news)
  if (text === '' && news.every((message) => message.files.length === 0)) throw nothingSaid()
  await checkAgent(deps, { caller, agent }, name)
  const from = { person: sender ?? 'operator', conversation, signal: watch.left }
  const attachments = (
    await readChatFiles(
      files,
      news.map((message) => message.files),
      from,
    )
  ).flat()
  if (watch.left.aborted) throw new ParleyError('unavailable', 'The client has left before its message was taken.')
  const growing = new GrowingAnswer(clock, watch.grew)
  let [row, stop]: [InboxRow | undefined, () => void] = [undefined, () => {}]
  try {
    const request = { text, waitSeconds: WAIT_SECONDS, once: chat.once, ...(sender === undefined ? {} : { sender }) }
    const answer = await sessions.post(caller, name, request, {
      ...{ agent, attachments, left: watch.left },
      accepting(session, run) {
        stop = followTurnOf(deps, { session: session.id, run, push: growing.push })
      },
      repeated: resumeFailed,
      ended(given) {
        row = given
      },
    })
    if (answer.status !== 'ok') throw await refusalOf(deps, chat, { row, answer })
    growing.end(answer.reply)
    return { traceId: answer.traceId, text: answer.reply, ...(await endOf(deps, row)) }
  } finally {
    stop()
    growing.close()
  }
}

/** Returns the refusal of a request whose end is no words of a user. */
export function nothingSaid(): ChatRefused {
  return new ChatRefused('invalid', 'The last message is empty.', { param: 'messages' })
}

/** Returns the words of several messages as one text. */
export function wordsOf(messages: readonly CompletionMessage[]): string {
  return messages
    .map(({ text }) => text)
    .filter((text) => text.trim() !== '')
    .join('\n\n')
}

/** Returns the id of the session. Throws `invalid` for a token of a platform. */
function sessionOf({ caller, session }: KeptChat): string {
  const namespace = namespaceOf(caller)
  const [channel = ''] = namespace.split(':')
  if (!OWN_CHANNELS.includes(channel))
    throw new ChatRefused('invalid', `A token of ${channel} has no sessions here: make one of api:<name>.`, {
      param: 'metadata.session',
    })
  return `${namespace}:${session}`
}

/** A session keeps its agent: an answer of another one would not know what was said. */
async function checkAgent(
  { sessions }: KeptChatDeps,
  { caller, agent }: Pick<KeptChat, 'caller' | 'agent'>,
  name: string,
): Promise<void> {
  try {
    const known = await sessions.get(caller, name)
    if (known.agent === agent) return
    throw new ChatRefused('invalid', `${name} is a session with ${known.agent}: name another for ${agent}.`, {
      param: 'model',
    })
  } catch (error) {
    if (errorCode(error) !== 'not_found') throw error
  }
}

interface Followed {
  readonly session: SessionId
  readonly run: string
  push(this: void, raw: string): void
}

/** Passes on the texts of the turn that has taken the message; others of the session are not its answer. */
function followTurnOf({ grown, read, clock }: KeptChatDeps, { session, run, push }: Followed): () => void {
  let own: TurnId | undefined
  let latest = new Map<TurnId, string>()
  let [looking, nextLook] = [false, 0]

  async function look(): Promise<void> {
    const rows = await read.inbox.find(run)
    nextLook = clock.elapsed() + LOOK_AGAIN_MS
    own = rows.find(({ dispatch }) => dispatch.posted !== undefined)?.turnId
    const text = own && latest.get(own)
    latest = new Map()
    if (text !== undefined) push(text)
  }

  return grown.follow(session, ({ turn, text }) => {
    if (own === turn) return push(text)
    if (own !== undefined) return
    latest = new Map([[turn, text]])
    if (looking || clock.elapsed() < nextLook) return
    looking = true
    // A text that is not shown now is shown with the whole answer.
    look().then(
      () => {
        looking = false
      },
      () => {},
    )
  })
}

type Refused = { readonly status: string; readonly traceId: string; readonly error?: string }

const NOT_LET_IN: ReadonlySet<unknown> = new Set(['refused: stranger', 'refused: access', 'refused: no_owner_yet'])
const CODES: Partial<Record<string, ErrorCode>> = {
  quarantined: 'quarantined',
  cancelled: 'aborted',
  'refused: send_policy': 'forbidden',
  'refused: unreadable': 'unreadable',
  'refused: queue_full': 'queue_full',
  'refused: public_full': 'queue_full',
}

async function refusalOf(
  { read, channels }: KeptChatDeps,
  chat: ChatSpeaker,
  { row, answer: { status, traceId, error } }: { readonly row: InboxRow | undefined; readonly answer: Refused },
): Promise<ChatRefused> {
  if (status === 'accepted' || status === 'timeout')
    return new ChatRefused('unavailable', `It is still being answered; the session will have it. (${traceId})`, {
      ...{ name: 'still_running', again: false },
    })
  if (status === 'stored')
    return new ChatRefused('forbidden', `The agent says nothing here now: it is muted. (${traceId})`)
  if (NOT_LET_IN.has(row?.outcome)) return notLetIn(channels, chat, traceId)
  const turn = row?.outcome === 'failed' && row.turnId ? await read.turns.get(row.turnId) : undefined
  const code = turn === undefined ? (CODES[row?.outcome ?? ''] ?? 'unavailable') : (turn.error ?? 'internal')
  return new ChatRefused(code, error ?? 'It was not answered.', { again: code === 'queue_full' })
}

/** Returns the refusal of words that nobody let in. An id of a person is of a channel and has a name in it. */
export function notLetIn(
  channels: Pick<Channels, 'ids'>,
  { caller, sender }: ChatSpeaker,
  traceId: string,
): ChatRefused {
  const namespace = namespaceOf(caller)
  const [channel = '', name] = namespace.split(':')
  const remedy =
    name !== undefined && channels.ids.includes(channel)
      ? `add ${sender ?? namespace}, or ${namespace}:<user>, to people.<name>.ids, and see routing.access.direct`
      : `${namespace} can be nobody’s id, so make a token of api:<name> and add that to people.<name>.ids`
  return new ChatRefused('forbidden', `Whoever this token speaks for may not talk here: ${remedy}. (${traceId})`)
}

/** Returns how the whole turn ended and what it has cost; others may have asked in it as well. */
async function endOf(
  { read }: KeptChatDeps,
  row: InboxRow | undefined,
): Promise<Pick<CompletionAnswer, 'cut' | 'usage'>> {
  const session = row?.sessionId && (await read.sessions.get(row.sessionId))
  if (!row || !session) return { usage: NO_USAGE }
  for await (const event of newestFirst(read.events, session)) {
    if (event.turnId !== row.turnId) continue
    if (event.type === 'turn_completed') return event.data
    if (event.type === 'turn_started') break
  }
  return { usage: NO_USAGE }
}
