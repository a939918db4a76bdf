import { createHash } from 'node:crypto'
import type { Caller } from '../../core/caller.ts'
import type { Repeats } from '../../core/keyed-request.ts'
import type { ChatOperator, CompletionAnswer, CompletionRequest, CompletionWatch } from '../../core/operate-chat.ts'
import { ChatRefused, noSuchModel } from '../../core/operate-chat.ts'
import { OPERATOR_HOLDER } from '../../core/token.ts'
import type { ModelRules } from './choose-model.ts'
import { answerKept, type KeptChatDeps, speakerOf } from './kept-chat.ts'
import { REPEAT_MS } from './keyed-requests.ts'
import { answerUnkept, DoneSteps, type UnkeptChatDeps } from './unkept-chat.ts'

export interface ChatDeskDeps extends KeptChatDeps, UnkeptChatDeps {
  /** The agents there are. */
  readonly agents: ModelRules['agents']
  /** When they were there first as far as anybody knows: the start of the daemon. */
  readonly startedAt: number
  readonly repeats: Repeats
}

/** Returns the door for clients of OpenAI's API, for whoever asks. */
export type ChatDesk = (caller: Caller) => ChatOperator

/** Chats that are answered without being kept: of one namespace, and of all. Others wait in their sessions' queues. */
const AT_ONCE = 8
const AT_ONCE_IN_ALL = 32

export function createChatDesk(deps: ChatDeskDeps): ChatDesk {
  const { agents, startedAt, repeats, logger } = deps
  const places = createPlaces()
  const unkept = new UnkeptRuns(deps.clock)
  return (caller) => ({
    models: () => agents.map(({ id }) => ({ id, createdAt: startedAt })),
    async answer(request, watch) {
      const { model, user, session, messages } = request
      const agent = agents.find(({ id }) => id === model)?.id
      if (agent === undefined) throw noSuchModel(model, agents)
      const chat = { ...speakerOf(deps, caller, user), agent, messages }
      const asked = { holder: holderOf(caller), route: ROUTE, content: contentOf(request) }
      if (session === undefined) {
        const enter = () => places.enter(caller.kind === 'token' ? caller.namespace : '')
        const run = (done: DoneSteps, all: CompletionWatch) => answerUnkept(deps, { ...chat, done }, all)
        return unkept.answer(`${asked.holder} ${asked.content}`, { enter, run }, watch)
      }
      const once = request.once ?? (await repeats.begin(asked))
      if (request.once === undefined)
        watch.given
          .then((given) => (given ? repeats.given(once) : undefined))
          .catch((err) => logger.warn('A chat that was answered is not on record as that', { err }))
      return answerKept(deps, { ...chat, session, once }, watch)
    },
  })
}

const ROUTE = 'POST /v1/chat/completions'

function holderOf(caller: Caller): string {
  return (caller.kind === 'person' ? undefined : caller.token) ?? OPERATOR_HOLDER
}

/** Returns one text for everything by which a request is known when it comes again. */
function contentOf({ model, user, session, messages }: CompletionRequest): string {
  const hash = createHash('sha256').update(JSON.stringify([model, user, session, messages.length]))
  for (const { role, text, files } of messages) {
    hash.update(JSON.stringify([role, text.length, files.map(({ name, bytes }) => [name, bytes.length])]))
    // Every text has its bytes, also one that is no Unicode.
    hash.update(text, 'utf16le')
    for (const { bytes } of files) hash.update(bytes)
  }
  return hash.digest('hex')
}

/** A request without a session, from its first run until its answer was given. */
interface UnkeptRun {
  readonly done: DoneSteps
  /** Those who wait for the answer. */
  readonly readers: Set<CompletionWatch>
  /** The answer so far. */
  text: string
  running?: { readonly answer: Promise<CompletionAnswer>; readonly left: AbortController } | undefined
  /** One of those who have waited may return. */
  mayReturn?: boolean
  /** Ends the wait for a client that may return. */
  stay?: () => void
  /** It was made, and nobody has it. */
  answer?: CompletionAnswer
  /** Stops waiting for the end of its time. */
  kept?: () => void
}

interface UnkeptPorts {
  /** Returns the function that gives the place of a run back. Throws `queue_full`. */
  enter(): () => void
  run(done: DoneSteps, watch: CompletionWatch): Promise<CompletionAnswer>
}

/** Requests of all clients that have ended and were not given, and the characters that are held of each. */
const MOST_HELD = 64
const MOST_OF_ONE = 262_144
/** Clients whose time is over repeat after 0.5 to 8 seconds, the AI SDK and LangChain after 2 to 16. */
const RETURNS_WITHIN_MS = 10_000

/**
 * Runs each chat that is not kept once for all who ask the same meanwhile; a run ends when all of them have left, or
 * ten seconds later where one of them may return. A request that has ended and was not given is held for ten
 * minutes, in memory alone: its answer, or the steps behind which a repeat continues.
 */
export class UnkeptRuns {
  readonly #clock: ChatDeskDeps['clock']
  readonly #runs = new Map<string, UnkeptRun>()

  constructor(clock: ChatDeskDeps['clock']) {
    this.#clock = clock
  }

  async answer(key: string, ports: UnkeptPorts, watch: CompletionWatch): Promise<CompletionAnswer> {
    const one: UnkeptRun = this.#runs.get(key) ?? { done: new DoneSteps(), readers: new Set(), text: '' }
    void watch.given.then((given) => given && this.#drop(key, one))
    if (one.answer !== undefined) {
      watch.grew(one.answer.text)
      return one.answer
    }
    // One that everybody has left ends without an answer, in a moment.
    while (one.running?.left.signal.aborted) await one.running.answer.catch(() => undefined)
    one.running ??= this.#begin(key, one, ports)
    const { left, answer } = one.running
    one.readers.add(watch)
    one.stay?.()
    one.mayReturn ||= watch.mayReturn?.() === true
    const leave = (): void => {
      if (!one.readers.delete(watch) || one.readers.size > 0) return
      if (one.mayReturn) one.stay = this.#clock.after(RETURNS_WITHIN_MS, () => left.abort())
      else left.abort()
    }
    watch.left.addEventListener('abort', leave, { once: true })
    if (watch.left.aborted) leave()
    else if (one.text !== '') watch.grew(one.text)
    return answer
  }

  #begin(key: string, one: UnkeptRun, { enter, run }: UnkeptPorts): NonNullable<UnkeptRun['running']> {
    const leave = enter()
    const left = new AbortController()
    one.kept?.()
    one.text = ''
    this.#runs.set(key, one)
    const grew = (text: string): void => {
      one.text = text
      for (const reader of one.readers) reader.grew(text)
    }
    const answer = run(one.done, { grew, left: left.signal, given: Promise.resolve(false) })
      .then((made) => {
        one.answer = made
        return made
      })
      .finally(() => {
        leave()
        one.stay?.()
        one.running = undefined
        one.readers.clear()
        this.#hold(key, one)
      })
    return { answer, left }
  }

  #hold(key: string, one: UnkeptRun): void {
    const { steps } = one.done.made
    const isEmpty = one.answer === undefined && steps.length === 0
    if (isEmpty || JSON.stringify([one.answer, steps]).length > MOST_OF_ONE) {
      this.#drop(key, one)
      return
    }
    one.kept = this.#clock.after(REPEAT_MS, () => this.#drop(key, one))
    const ended = [...this.#runs].filter(([, { running }]) => running === undefined)
    for (const [oldest, other] of ended.slice(0, -MOST_HELD)) this.#drop(oldest, other)
  }

  #drop(key: string, one: UnkeptRun): void {
    one.kept?.()
    if (this.#runs.get(key) === one) this.#runs.delete(key)
  }
}

function createPlaces() {
  const taken = new Map<string, number>()
  let all = 0
  return {
    /** Returns what gives the place back. Throws `queue_full`. */
    enter(whose: string): () => void {
      const own = taken.get(whose) ?? 0
      if (own >= AT_ONCE || all >= AT_ONCE_IN_ALL)
        throw new ChatRefused('queue_full', 'Too many chats are being answered; try again in a moment.')
      all++
      taken.set(whose, own + 1)
      return () => {
        all--
        const left = (taken.get(whose) ?? 1) - 1
        if (left === 0) taken.delete(whose)
        else taken.set(whose, left)
      }
    },
  }
}
