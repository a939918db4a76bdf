import { lstatSync, type Stats } from 'node:fs'
import { request } from 'node:http'
import { dirname } from 'node:path'
import { type ErrorCode, ParleyError } from '../core/errors.ts'
import type { OperatorService } from '../core/operator.ts'
import { belongsHere, foreign, privateFolder } from '../platform/private-folder.ts'
import { type Ask, type Method, remoteSessions } from './remote-sessions.ts'
import { remoteTokens } from './remote-tokens.ts'

const TIMEOUT_MS = 10_000

/** Codes by HTTP status: what the caller can act on. The rest is the daemon's own failure. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  503: 'unavailable',
}

/**
 * Returns the daemon behind a local socket; undefined when none runs (no socket, or one that a killed daemon left).
 * Rejects with `config` for a socket that neither this user nor root has put there, `forbidden` when it may not be opened
 * and `unavailable` when nothing answers in time.
 */
export async function connectLocal(socketPath: string, timeoutMs = TIMEOUT_MS): Promise<OperatorService | undefined> {
  if (!findSocket(socketPath)) return undefined
  try {
    await answerTo({ socketPath, path: '/healthz', method: 'GET', timeoutMs })
  } catch (error) {
    if (nobodyListens(error)) return undefined
    throw error
  }
  const ask: Ask = async (path, method = 'GET', body, waitMs = 0) => {
    try {
      const patience = timeoutMs + waitMs
      return await answerTo({ socketPath, path, method, timeoutMs: patience, ...(body === undefined ? {} : { body }) })
    } catch (error) {
      if (nobodyListens(error)) throw new ParleyError('unavailable', 'The daemon has just stopped.', { cause: error })
      throw error
    }
  }
  // The shapes are those of core/operator.ts: both ends are one program.
  return {
    status: () => ask('/v1/status') as ReturnType<OperatorService['status']>,
    why: (name) => ask(`/v1/why?${new URLSearchParams({ message: name })}`) as ReturnType<OperatorService['why']>,
    unseen: (name) =>
      ask(`/v1/unseen?${new URLSearchParams({ message: name })}`) as ReturnType<OperatorService['unseen']>,
    sessions: remoteSessions(ask),
    tokens: remoteTokens(ask),
    schedules: {
      list: () => ask('/v1/schedules') as ReturnType<OperatorService['schedules']['list']>,
      next: (id, count) =>
        ask(`/v1/schedules/${encodeURIComponent(id)}/next?count=${count}`) as ReturnType<
          OperatorService['schedules']['next']
        >,
      run: (id) =>
        ask(`/v1/schedules/${encodeURIComponent(id)}/run`, 'POST') as ReturnType<OperatorService['schedules']['run']>,
    },
    config: { reload: () => ask('/v1/config/reload', 'POST') as ReturnType<OperatorService['config']['reload']> },
    admissions: {
      list: () => ask('/v1/admissions') as ReturnType<OperatorService['admissions']['list']>,
      decide: (name, verdict) =>
        ask(`/v1/admissions/${verdict}?${new URLSearchParams({ name })}`, 'POST') as ReturnType<
          OperatorService['admissions']['decide']
        >,
    },
    people: {
      list: () => ask('/v1/people') as ReturnType<OperatorService['people']['list']>,
      link: (person, id) =>
        ask(`/v1/people/link?${new URLSearchParams({ person, id })}`, 'POST') as ReturnType<
          OperatorService['people']['link']
        >,
      unlink: (id) =>
        ask(`/v1/people/unlink?${new URLSearchParams({ id })}`, 'POST') as ReturnType<
          OperatorService['people']['unlink']
        >,
    },
  }
}

/** Whether there is a socket. Whoever answers on it is told everything, so it has to be one that only a daemon of ours makes. */
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

async function answerTo(local: LocalRequest): Promise<unknown> {
  const { status, body } = await send(local).catch((error) => Promise.reject(explained(error, local)))
  const value = parse(body)
  if (status === 200 && value !== undefined) return value
  throw new ParleyError(
    CODES[status] ?? 'internal',
    messageOf(value) ?? `${local.socketPath} is not answered by a Parley daemon.`,
  )
}

function send(local: LocalRequest): Promise<{ status: number; body: string }> {
  const { socketPath, path, method, timeoutMs } = local
  const content = local.body === undefined ? '' : JSON.stringify(local.body)
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }
  return new Promise((resolve, reject) => {
    const call = request(
      { socketPath, path, method, headers, agent: false, signal: AbortSignal.timeout(timeoutMs) },
      (response) => {
        let body = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          body += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
        response.on('error', reject)
      },
    )
    call.on('error', reject)
    call.end(content)
  })
}

function explained(error: unknown, { socketPath, timeoutMs = 0 }: Partial<LocalRequest>): unknown {
  switch (systemCode(error)) {
    case 'ABORT_ERR':
      return new ParleyError('unavailable', `The daemon did not answer within ${timeoutMs / 1000} s on ${socketPath}.`)
    case 'EACCES':
      return new ParleyError(
        'forbidden',
        `${socketPath} belongs to another user: run this as the user the daemon runs as.`,
      )
    case 'ECONNRESET':
    case 'EPIPE':
      return new ParleyError('unavailable', `The daemon hung up on ${socketPath}; it is probably stopping.`, {
        cause: error,
      })
    default:
      return error
  }
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
