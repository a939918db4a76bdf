import { randomUUID } from 'node:crypto'
import pLimit from 'p-limit'
import type { Clock } from '../core/clock.ts'
import { cutText } from '../core/cut-text.ts'
import { DOORS } from '../core/doors.ts'
import { emptied } from '../core/emptied.ts'
import { ParleyError } from '../core/errors.ts'
import { BEING_FORGOTTEN } from '../core/forgetting.ts'
import type { BeforeSave, BeforeTool, Hook, HookAddress, HookCall, HookMoment } from '../core/hook.ts'
import type { SessionId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { readJson } from '../core/read-json.ts'
import { signatureOf } from './check-signature.ts'
import { runCommand } from './run-command.ts'

/** Calls that run at a time. */
const AT_ONCE = 8
/** Those of one chat that wait with a message. */
const AT_ONCE_OF_ONE = 6
/** Notifications that wait or run; what comes on top is left out and counted. */
const MOST_WAITING = 1_000
/** Characters of a text and of a reason that a hook answers. */
const LONGEST_TEXT = 100_000
const LONGEST_REASON = 500

/**
 * The operator's hooks (R8). None of them can break what it is called for, or hold it past its deadline: a hook that
 * fails, is late or answers nonsense has answered nothing, and the log says so.
 */
export interface Hooks {
  /** True if a hook is called at this moment. */
  has(this: void, on: HookMoment): boolean
  /** Notifies hooks what has happened; returns at once. */
  notify(this: void, call: HookNotice): void
  /** Called when words were taken out of a session: a call that waits hands on nothing of its log. */
  forget(this: void, session: SessionId): void
  /** Returns the text that a message is stored with: as the hooks leave it, one after another. */
  beforeSave(this: void, message: BeforeSave): Promise<string>
  /**
   * Returns the reason of the first hook that refuses a call. One whose words are being forgotten by the time that it
   * has a place is handed to no hook, and refused.
   */
  beforeTool(this: void, call: BeforeTool, isForgotten?: () => Promise<boolean>): Promise<string | undefined>
  /** Resolves when the notifications so far have ended, each by its deadline. */
  settled(this: void): Promise<void>
  /** Ends every call that runs, and its program, whatever its deadline: it would outlive this process. */
  end(this: void): void
}

/** The call of a hook that is notified, after the commit. */
export type HookNotice = Exclude<HookCall, BeforeSave | BeforeTool>

export interface HookDeps {
  readonly clock: Clock
  readonly logger: Logger
  /** Sends a signed call; resolves with the body of a successful answer. Throws in words for the log. */
  post(this: void, at: HookAddress, request: HookRequest): Promise<string>
  /** Returns a text without the values of configured secrets. */
  redact(this: void, text: string): string
}

export interface HookRequest {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

export function createHooks(hooks: readonly Hook[], deps: HookDeps): Hooks {
  const { clock, logger, redact } = deps
  // Three queues: a message does not wait behind notifications, and a call of a tool waits behind neither. For hooks
  // that are asked the deadline begins once they have a place: otherwise a flood of messages would make them late, and
  // what is late counts as no answer.
  const places = {
    saving: sharedPlaces({ all: AT_ONCE, each: AT_ONCE_OF_ONE }),
    ...{ judging: pLimit(AT_ONCE), notified: pLimit(AT_ONCE) },
  }
  const notified = new Map<Promise<unknown>, { given: HookNotice }>()
  const running = new Set<AbortController>()
  let leftOut = 0
  const at = (on: HookMoment): readonly Hook[] => hooks.filter((hook) => hook.on.includes(on))

  /** The deadline counts from now on, so a wait for `place` is part of it. */
  async function call(hook: Hook, asked: { readonly given: HookCall }, place: Place): Promise<Answer> {
    const late = new AbortController()
    running.add(late)
    const cancel = clock.after(hook.timeoutMs, () => late.abort())
    const over = new Promise<never>((_, reject) => {
      late.signal.addEventListener('abort', () => reject(new ParleyError('unavailable', 'it took too long')))
    })
    try {
      const now = clock.now()
      // Written once it has a place: words may be taken out of it until then.
      const body = (): string => redact(JSON.stringify({ ...asked.given, at: now }))
      const answering = place(() => reach(hook, body(), { ...deps, signal: late.signal }))
      return readAnswer(await Promise.race([answering, over]))
    } catch (err) {
      logger.warn('A hook failed; what it was called for goes on', { hook: hook.name, on: asked.given.on, err })
      return {}
    } finally {
      cancel()
      running.delete(late)
    }
  }

  return {
    has: (on) => at(on).length > 0,
    notify(given) {
      for (const hook of at(given.on)) {
        if (notified.size >= MOST_WAITING) {
          leftOut++
          if (Math.log2(leftOut) % 1 === 0) logger.warn('Hooks are too slow: calls are left out', { calls: leftOut })
          continue
        }
        const one = { given }
        const calling = call(hook, one, places.notified).finally(() => notified.delete(calling))
        notified.set(calling, one)
      }
    },
    forget(session) {
      for (const one of notified.values()) {
        const { given } = one
        if (given.on !== 'session_save' || given.session !== session) continue
        one.given = { ...given, events: given.events.map((event) => ({ ...event, ...emptied(event) })) }
      }
    },
    async beforeSave(message) {
      let { text } = message
      for (const hook of at('before_save')) {
        const asked = { ...message, text }
        const answer = await places.saving(chatOf(message), () => call(hook, { given: asked }, atOnce))
        if (typeof answer.text === 'string') text = redact(cutText(answer.text, LONGEST_TEXT))
      }
      return text
    },
    async beforeTool(given, isForgotten = async () => false) {
      for (const hook of at('before_tool')) {
        const { deny } = await places.judging(async (): Promise<Answer> => {
          return (await isForgotten()) ? { deny: BEING_FORGOTTEN } : call(hook, { given }, atOnce)
        })
        if (typeof deny === 'string') return redact(cutText(deny, LONGEST_REASON))
      }
      return undefined
    },
    async settled() {
      await Promise.allSettled(notified.keys())
    },
    end() {
      for (const call of running) call.abort()
    },
  }
}

/** All topics and threads of a chat have its places together: anybody may open many. */
function chatOf({ conversation }: BeforeSave): string {
  return conversation.replace(/\/.*$/s, '')
}

type Place = <Done>(work: () => Promise<Done>) => Promise<Done>

const atOnce: Place = (work) => work()

interface Answer {
  readonly text?: unknown
  readonly deny?: unknown
}

async function reach({ name, at }: Hook, body: string, deps: HookDeps & { readonly signal: AbortSignal }) {
  const { signal, clock } = deps
  if (signal.aborted) throw new ParleyError('unavailable', 'other hooks left no time for it')
  if (at.kind === 'command') return runCommand(at, body, { clock, signal })
  const headers = {
    'content-type': 'application/json',
    'x-parley-hook': name,
    'x-parley-call': randomUUID(),
    'x-parley-signature': signatureOf(body, at.secret, clock.now()),
  }
  return deps.post(at, { body, headers, signal })
}

/** Nothing, or a JSON object. */
function readAnswer(raw: string): Answer {
  // Some programs begin what they print with a mark of its encoding, which `trim` takes for a space.
  const printed = raw.trim()
  if (printed === '') return {}
  const answer = readJson(printed, DOORS.hookAnswer)
  if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) return answer
  throw new ParleyError('invalid', 'its answer is no JSON object')
}

interface PlaceLimits {
  /** Pieces of work that run at a time. */
  readonly all: number
  /** Those of one chat: it leaves some places to the others, however much it has that waits. */
  readonly each: number
}

interface Chat {
  readonly place: ReturnType<typeof pLimit>
  /** Pieces that run or wait. */
  open: number
}

type InPlace = <Done>(chat: string, work: () => Promise<Done>) => Promise<Done>

/** Returns the function that runs a piece of work of a chat once there is a place for it. */
export function sharedPlaces({ all, each }: PlaceLimits): InPlace {
  const place = pLimit(all)
  const chats = new Map<string, Chat>()
  return async (name, work) => {
    const own = chats.get(name) ?? { place: pLimit(each), open: 0 }
    chats.set(name, own)
    own.open++
    try {
      return await own.place(() => place(work))
    } finally {
      if (--own.open === 0) chats.delete(name)
    }
  }
}
