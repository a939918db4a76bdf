import { lstatSync, type Stats } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { dirname } from 'node:path'
import { type ErrorCode, ParleyError } from '../core/errors.ts'
import { MOST_BODY_BYTES, type OperatorService } from '../core/operator.ts'
import { belongsHere, foreign, privateFolder } from '../platform/private-folder.ts'
import * as answers from './answers.ts'
import { type Ask, type Method, remoteSessions } from './remote-sessions.ts'
import { remoteTokens } from './remote-tokens.ts'

const TIMEOUT_MS = 10_000
/** More than any answer of the daemon; a page of a history holds 200 events. */
const MOST_ANSWER_BYTES = 64 * 1024 * 1024

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
  try {
    await answerTo({ socketPath, path: '/healthz', method: 'GET', timeoutMs }, answers.health)
  } catch (error) {
    if (nobodyListens(error)) return undefined
    throw error
  }
  const ask: Ask = async (answer, path, { method = 'GET', body, waitMs = 0 } = {}) => {
    try {
      const local = { socketPath, path, method, timeoutMs: timeoutMs + waitMs, ...(body === undefined ? {} : { body }) }
      return await answerTo(local, answer)
    } catch (error) {
      if (nobodyListens(error)) throw new ParleyError('unavailable', 'The daemon has just stopped.', { cause: error })
      throw error
    }
  }
  const post = { method: 'POST' } as const
  return {
    status: () => ask(answers.status, '/v1/status'),
    why: (name) => ask(answers.why, `/v1/why?${new URLSearchParams({ message: name })}`),
    unseen: (name) => ask(answers.texts, `/v1/unseen?${new URLSearchParams({ message: name })}`),
    sessions: remoteSessions(ask),
    tokens: remoteTokens(ask),
    schedules: {
      list: () => ask(answers.schedules, '/v1/schedules'),
      next: (id, count) => ask(answers.slots, `/v1/schedules/${encodeURIComponent(id)}/next?count=${count}`),
      run: (id) => ask(answers.startedRun, `/v1/schedules/${encodeURIComponent(id)}/run`, post),
    },
    config: { reload: () => ask(answers.reload, '/v1/config/reload', post) },
    admissions: {
      list: () => ask(answers.admissions, '/v1/admissions'),
      decide: (name, verdict) =>
        ask(answers.admission, `/v1/admissions/${verdict}?${new URLSearchParams({ name })}`, post),
    },
    outbox: {
      restoration: async () => (await ask(answers.restorations, '/v1/outbox/restoration'))[0],
      decide: (verdict) => ask(answers.restoration, `/v1/outbox/${verdict}`, post),
    },
    people: {
      list: () => ask(answers.people, '/v1/people'),
      link: (person, id) => ask(answers.linked, `/v1/people/link?${new URLSearchParams({ person, id })}`, post),
      unlink: (id) => ask(answers.linked, `/v1/people/unlink?${new URLSearchParams({ id })}`, post),
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
    throw explained(error, { socketPath })
  }
}

interface LocalRequest {
  readonly socketPath: string
  readonly path: string
  readonly method: Method
  readonly timeoutMs: number
  readonly body?: object
}

async function answerTo<Value>(local: LocalRequest, isAnswer: answers.Answer<Value>): Promise<Value> {
  const { status, body } = await send(local).catch((error) => Promise.reject(explained(error, local)))
  const value = parse(body)
  if (status === 200 && isAnswer(value)) return value
  const said = status === 200 ? undefined : messageOf(value)
  if (said === undefined) throw strange(local)
  throw new ParleyError(CODES[status] ?? 'internal', said)
}

function strange({ socketPath }: Pick<LocalRequest, 'socketPath'>, cause?: unknown): ParleyError {
  const message = `What answers on ${socketPath} is no Parley daemon, or one of another version: restart the daemon.`
  return new ParleyError('unavailable', message, { cause })
}

function send(local: LocalRequest): Promise<{ status: number; body: string }> {
  const { socketPath, path, method, timeoutMs } = local
  const content = local.body === undefined ? '' : JSON.stringify(local.body)
  const length = Buffer.byteLength(content)
  if (length > MOST_BODY_BYTES)
    throw new ParleyError('too_long', `That is too long: ${length} bytes, and the daemon takes ${MOST_BODY_BYTES}.`)
  const headers = { 'content-type': 'application/json', 'content-length': length }
  return new Promise((resolve, reject) => {
    const call = request(
      { socketPath, path, method, headers, agent: false, signal: AbortSignal.timeout(timeoutMs) },
      (response) => read(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject),
    )
    call.on('error', reject)
    call.on('upgrade', (_response, socket) => {
      socket.destroy()
      reject(strange(local))
    })
    call.end(content)
  })
}

async function read(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MOST_ANSWER_BYTES) throw new ParleyError('unavailable', "The answer is too long to be a daemon's.")
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function explained(error: unknown, local: Partial<LocalRequest> & Pick<LocalRequest, 'socketPath'>): unknown {
  const { socketPath, timeoutMs = 0 } = local
  const code = systemCode(error)
  switch (code) {
    case 'ABORT_ERR':
      return new ParleyError('unavailable', `The daemon did not answer within ${timeoutMs / 1000} s on ${socketPath}.`)
    case 'EACCES':
      return new ParleyError(
        'forbidden',
        `${socketPath} belongs to another user: run this as the user the daemon runs as.`,
      )
    case 'ECONNRESET':
    case 'EPIPE':
      return new ParleyError('unavailable', `The daemon hung up on ${socketPath}; ${whyHungUp(socketPath)}`, {
        cause: error,
      })
    default:
      // The HTTP parser names the part that it cannot read.
      return code.startsWith('HPE_') ? strange(local, error) : error
  }
}

/** A daemon that stops removes its socket first. */
function whyHungUp(socketPath: string): string {
  return look(socketPath) === undefined
    ? 'it is stopping.'
    : 'more programs are connected to it than it answers at once, or it was killed: try again in a moment.'
}

const NOBODY = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'ENOTDIR', 'ENAMETOOLONG'])

function nobodyListens(error: unknown): boolean {
  return NOBODY.has(systemCode(error))
}

function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
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
