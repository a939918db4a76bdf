import { lstatSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { type ErrorCode, ParleyError } from '../core/errors.ts'
import type { OperatorService } from '../core/operator.ts'
import type { Api } from '../http/app.ts'
import { belongsHere, foreign, privateFolder } from '../platform/private-folder.ts'
import * as answers from './answers.ts'
import { remoteArchives } from './remote-archives.ts'
import { type Answered, type Ask, type Client, named, remoteSessions } from './remote-sessions.ts'
import { remoteTokens } from './remote-tokens.ts'
import { BASE, nobodyListens, socketFetch, strange, toCallError } from './socket-fetch.ts'

const TIMEOUT_MS = 10_000
const FORGETS_MS = 600_000

/** The codes by HTTP status for errors that the caller can act on. Any other is the daemon's own failure. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  413: 'too_long',
  503: 'unavailable',
}

/**
 * Returns the daemon behind a local socket; undefined when none runs (no socket, or one that a killed daemon left).
 * Rejects with `config` for a socket that neither this user nor root has put there, `forbidden` when it may not be
 * opened and `unavailable` when nothing answers in time, or something that is no daemon.
 */
export async function connectLocal(socketPath: string, timeoutMs = TIMEOUT_MS): Promise<OperatorService | undefined> {
  if (!findSocket(socketPath)) return undefined
  // Its globals cost some milliseconds, which a command that asks no daemon saves.
  const { hc } = await import('hono/client')
  const client: Client = (waitMs = 0) =>
    hc<Api>(BASE, { fetch: socketFetch({ socketPath, timeoutMs: timeoutMs + waitMs }) })
  try {
    await answerOf(socketPath, answers.health, client().healthz.$get())
  } catch (error) {
    if (nobodyListens(error)) return undefined
    throw error
  }
  const ask: Ask = async (isAnswer, response) => {
    try {
      return await answerOf(socketPath, isAnswer, response)
    } catch (error) {
      if (nobodyListens(error)) throw new ParleyError('unavailable', 'The daemon has just stopped.', { cause: error })
      throw error
    }
  }
  return operatorOf(client, ask)
}

function operatorOf(client: Client, ask: Ask): OperatorService {
  const { admissions, approvals, config, memory, outbox, people, retention, schedules, status, unseen, why } =
    client().v1
  return {
    status: () => ask(answers.status, status.$get()),
    why: (message) => ask(answers.why, why.$get({ query: { message } })),
    unseen: (message) => ask(answers.texts, unseen.$get({ query: { message } })),
    sessions: remoteSessions(client, ask),
    archives: remoteArchives(client, ask),
    tokens: remoteTokens(client().v1.tokens, ask),
    schedules: {
      list: () => ask(answers.schedules, schedules.$get()),
      next: async (id, count) =>
        ask(answers.slots, schedules[':id'].next.$get({ param: { id: named(id) }, query: { count: String(count) } })),
      run: async (id) => ask(answers.startedRun, schedules[':id'].run.$post({ param: { id: named(id) } })),
    },
    config: { reload: () => ask(answers.reload, config.reload.$post()) },
    admissions: {
      list: () => ask(answers.admissions, admissions.$get()),
      decide: (name, verdict) => ask(answers.admission, admissions[verdict].$post({ query: { name } })),
    },
    approvals: {
      list: () => ask(answers.approvals, approvals.$get()),
      decide: (code, verdict) => ask(answers.approval, approvals[verdict].$post({ query: { code } })),
    },
    outbox: {
      restoration: async () => (await ask(answers.restorations, outbox.restoration.$get()))[0],
      decide: (verdict) => ask(answers.restoration, outbox[verdict].$post()),
    },
    memory: {
      list: ({ words, before }) =>
        ask(
          answers.memories,
          memory.$get({ query: { ...(words ? { words } : {}), ...(before ? { before: String(before) } : {}) } }),
        ),
      show: (no) => ask(answers.memory, memory[':no'].$get({ param: { no: String(no) } })),
      remove: (no) => ask(answers.memory, memory[':no'].$delete({ param: { no: String(no) } })),
    },
    forgetting: {
      // A large store is read as a whole.
      forget: (request) => ask(answers.receipt, client(FORGETS_MS).v1.forget.$post({ json: request })),
      retention: () => ask(answers.retention, retention.$get()),
      runRetention: () => ask(answers.retention, client(FORGETS_MS).v1.retention.run.$post()),
    },
    people: {
      list: () => ask(answers.people, people.$get()),
      link: (person, id) => ask(answers.linked, people.link.$post({ query: { person, id } })),
      unlink: (id) => ask(answers.linked, people.unlink.$post({ query: { id } })),
    },
  }
}

/**
 * Returns true if there is a socket. Whoever answers on it receives everything, so it must be one that only the daemon
 * can have made.
 */
function findSocket(socketPath: string): boolean {
  const found = look(socketPath)
  if (found === undefined) return false
  if (!found.isSocket())
    throw new ParleyError('config', `${socketPath} is in the way and no socket. Move it elsewhere.`)
  const folder = privateFolder(dirname(socketPath), 'ask')
  if (!belongsHere(found, folder, 'usOrRoot')) throw new ParleyError('config', foreign(socketPath, found))
  return true
}

function look(socketPath: string): Stats | undefined {
  try {
    return lstatSync(socketPath, { throwIfNoEntry: false })
  } catch (error) {
    if (nobodyListens(error)) return undefined
    throw toCallError(error, { socketPath, timeoutMs: 0 })
  }
}

async function answerOf<Wire, Value extends Wire>(
  socketPath: string,
  isAnswer: answers.AnswerCheck<Value>,
  response: Promise<Answered<Wire>>,
): Promise<Value> {
  const answered = await response
  const value = parse(await answered.text())
  if (answered.status === 200 && isAnswer(value)) return value
  const said = answered.status === 200 ? undefined : messageOf(value)
  if (said === undefined) throw strange(socketPath)
  throw new ParleyError(CODES[answered.status] ?? 'internal', said)
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function messageOf(value: unknown): string | undefined {
  const error = typeof value === 'object' && value !== null && 'error' in value ? value.error : undefined
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : undefined
  return typeof message === 'string' ? message : undefined
}
