import { createHash } from 'node:crypto'
import { type Caller, inNamespace } from '../core/caller.ts'
import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import type { ExternalRuns } from '../core/external-run.ts'
import { failpoint } from '../core/failpoint.ts'
import type { Logger } from '../core/logger.ts'
import type { HookedCall, HookedRun, InboundHook, InboundHooks } from '../core/operate-hooks.ts'
import type { SessionCaller } from '../core/session-tools.ts'
import type { Store } from '../store/store.ts'
import { wordsOf } from './call-words.ts'
import { checkedSignature } from './check-signature.ts'

export interface ReceiveDeps {
  readonly hooks: readonly InboundHook[]
  readonly runs: ExternalRuns
  readonly store: Pick<Store, 'read' | 'write'>
  readonly clock: Clock
  readonly logger: Pick<Logger, 'warn'>
}

const MOST_ID = 200
/** An id and a signature are remembered for this time with what they came with: another use of them is refused. */
const REMEMBERED_MS = 24 * 60 * 60_000
/** The time of a mark that no age deletes: a call of GitHub has no time in it, and somebody may have kept it. */
const FOR_EVER = Number.MAX_SAFE_INTEGER
/** A call is nobody's words, whoever's token came with it. */
const NOBODY: SessionCaller = { principal: { role: 'guest' } }

/** Returns the hooks by which programs call in (T34). */
export function createInboundHooks(deps: ReceiveDeps): InboundHooks {
  const hooks = new Map(deps.hooks.map((hook) => [hook.name, hook]))
  const record = recorderOf(deps)
  return {
    async receive(caller, call) {
      const known = hooks.get(call.name)
      const right = checkedSignature(known, call, deps.clock.now())
      if (known !== undefined && right === undefined) record(known)
      const { hook, signature } = judged(known, right, { name: call.name, caller })
      const session = sessionOf(hook, call.session, caller)
      const id = checkId(call.id) ?? signature
      const content = contentOf(call)
      const requestId = `hook ${hook.name} ${nameOf(hook, { signature, id, content })}`
      const fresh = await noteCall(deps, { hook, signature, id, content })
      failpoint('CP50-call-noted')
      // The signature of GitHub has no time in it that another call could have.
      const spent = !fresh && call.id === undefined && hook.signature === 'parley'
      return begin(deps, { hook, signature, requestId, message: wordsOf(call), session, spent })
    },
  }
}

interface Judging {
  readonly name: string
  readonly caller: Caller
}

/** The time in which the log says once for a hook that its calls are refused, however many come. */
const WRITTEN_EACH_MS = 60_000

/** Returns what writes a refused call into the log, so that a secret that was mistyped is found. */
function recorderOf({ clock, logger }: Pick<ReceiveDeps, 'clock' | 'logger'>): (hook: InboundHook) => void {
  const told = new Map<string, { readonly at: number; more: number }>()
  return ({ name, signature }) => {
    const last = told.get(name)
    if (last !== undefined && clock.elapsed() - last.at < WRITTEN_EACH_MS) return void last.more++
    told.set(name, { at: clock.elapsed(), more: 0 })
    const reason = 'A call of a hook was refused: its signature is missing, wrong or too old; is its secret the same?'
    logger.warn(reason, { hook: name, signature, untold: last?.more ?? 0 })
  }
}

/**
 * Returns the name of a call among those of its hook: the same name is the same run. The signature of GitHub is not
 * over the id, so that whoever has kept a call could give it a new one; there the signature of the body is the name. An
 * id of ours counts for what the call says: one that was used long ago loses no words behind the first.
 */
function nameOf({ signature: form }: InboundHook, { signature, id, content }: Omit<Noted, 'hook'>): string {
  return form === 'github' ? signature : `${id} ${content}`
}

/** The same for every name, so that nobody without a token learns which hooks there are. */
const UNSIGNED =
  'The signature is missing or wrong: is the secret the same at both ends? But for `signature: github` a hook needs a token as well.'

/** Whoever brings no token has to bring the signature of a platform; for them no name is known. */
function judged(hook: InboundHook | undefined, signature: string | undefined, { name, caller }: Judging) {
  if (isUnknown(caller) && (hook?.signature !== 'github' || signature === undefined))
    throw new ParleyError('unauthorized', UNSIGNED)
  if (hook === undefined) throw new ParleyError('not_found', `There is no hook ${name}.`)
  if (signature === undefined)
    throw new ParleyError(
      'unauthorized',
      'The signature of this call is missing, wrong or more than five minutes away by the clock of this machine.',
    )
  return { hook, signature }
}

/** Nobody has said who calls. */
function isUnknown(caller: Caller): boolean {
  return caller.kind === 'person' && caller.role === 'guest' && caller.person === undefined
}

/** The list of the hook decides; a token besides reaches nothing beyond its namespace (S42). */
function sessionOf({ sessions }: InboundHook, asked: string | undefined, caller: Caller): string | undefined {
  if (asked === undefined) return undefined
  const own = caller.kind !== 'token' || inNamespace(caller.namespace, asked)
  if (own && sessions.includes(asked)) return asked
  throw new ParleyError('not_found', `There is no session ${asked}.`)
}

function checkId(id: string | undefined): string | undefined {
  if (id === undefined || /^[\x21-\x7e]{1,200}$/.test(id)) return id
  throw new ParleyError('invalid', `The id of a call has 1 to ${MOST_ID} characters of ASCII, without spaces.`)
}

interface Noted {
  readonly hook: InboundHook
  readonly signature: string
  readonly id: string
  readonly content: string
}

/**
 * Remembers the signature with the id of its call, and the id with what the call says. Returns false where the
 * signature was seen before. Throws `conflict` where the signature belongs to another id, which is not signed, so that
 * whoever has kept a call could give it a new one; and where the id belongs to a call that says something else, whose
 * words would be lost behind the first.
 */
function noteCall({ store, clock }: ReceiveDeps, { hook, signature, id, content }: Noted): Promise<boolean> {
  const used = `hook:${hook.name}:${hashOf(signature)}`
  const named = `hook:${hook.name}:id:${hashOf(id)}`
  return store.write(async (tx) => {
    /** Notes both; returns whether the first is new, undefined where it was noted with another. */
    const note = async (first: string, second: string): Promise<boolean | undefined> => {
      const fresh = await tx.notices.once(first, clock.now(), REMEMBERED_MS)
      const same = !(await tx.notices.once(`${first}:${second}`, clock.now(), REMEMBERED_MS))
      return fresh || same ? fresh : undefined
    }
    const fresh = await note(used, hashOf(id))
    if (fresh === undefined)
      throw new ParleyError('conflict', 'This signature was used before, for a call of another id.')
    if ((await note(named, content)) === undefined)
      throw new ParleyError('conflict', 'This id was used before, for another call: use a new one for each.')
    return fresh
  })
}

/** Tells calls apart by what the agent is shown of them, and by where they go. */
function contentOf({ body, event = '', session = '' }: HookedCall): string {
  return hashOf(JSON.stringify([event, session, createHash('sha256').update(body).digest('hex')]))
}

interface Beginning {
  readonly hook: InboundHook
  readonly signature: string
  readonly requestId: string
  readonly message: string
  readonly session: string | undefined
  /** The signature was used before, and nothing else names the call. */
  readonly spent: boolean
}

async function begin({ runs, store }: ReceiveDeps, beginning: Beginning): Promise<HookedRun> {
  const { hook, signature, requestId, message, session, spent } = beginning
  const { secret: _, signature: _form, ...task } = hook
  const key = session === undefined ? {} : { sessionKey: session }
  const request = { ...{ ...key, message, requestId, timeoutSeconds: 0 }, origin: originOf(task, requestId) }
  const [row] = await store.read.inbox.find(runs.runOf(request, NOBODY))
  const known = row !== undefined
  if (known && spent) throw new ParleyError('conflict', 'This call was made before; sign each with its own time.')
  const begun = `hook:${hook.name}:begun:${hashOf(signature)}`
  const deleted = row?.sessionId !== undefined && (await store.read.sessions.get(row.sessionId)) === undefined
  if (deleted || (!known && (await store.write((tx) => tx.notices.known(begun)))))
    throw new ParleyError('conflict', 'This call was made before, and its conversation was deleted since.')
  const { runId, sessionId, ...answer } = await runs.start(request, NOBODY, new AbortController().signal)
  if (sessionId !== undefined && hook.signature === 'github')
    await store.write((tx) => tx.notices.once(begun, FOR_EVER, 1))
  if (sessionId !== undefined) return { runId, session: sessionId, status: known ? 'repeated' : 'accepted' }
  throw new ParleyError('not_found', 'error' in answer ? answer.error : `There is no session ${session}.`)
}

/** The same call has the same session. */
function originOf(task: Omit<InboundHook, 'secret' | 'signature'>, requestId: string) {
  return { kind: 'hook' as const, ...task, id: uuidOf(requestId) }
}

function uuidOf(name: string): string {
  const hex = hashOf(name)
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`]
  return [...parts, hex.slice(20, 32)].join('-')
}

function hashOf(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex')
}
