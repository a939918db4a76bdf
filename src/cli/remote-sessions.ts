import type { hc } from 'hono/client'
import { ParleyError } from '../core/errors.ts'
import type { StartRequest } from '../core/operate-sessions.ts'
import type { OperatorService } from '../core/operator.ts'
import type { Api } from '../http/app.ts'
import * as answers from './answers.ts'

/** Returns the daemon's routes; a call may last `waitMs` longer than others. */
export type Client = (waitMs?: number) => ReturnType<typeof hc<Api>>

/** An answer whose type is the route's own. */
export interface Answered<Wire> {
  readonly status: number
  text(): Promise<string>
  json(): Promise<Wire>
}

/**
 * Resolves with an answer if it is of the expected kind, rejects with the daemon's error code. The kind has to be one
 * that the route answers with.
 */
export type Ask = <Wire, Value extends Wire>(
  isAnswer: answers.AnswerCheck<Value>,
  response: Promise<Answered<Wire>>,
) => Promise<Value>

/** The daemon's default wait. */
const POST_WAIT_SECONDS = 120

/**
 * Returns a name as part of a path. Throws `not_found` for an empty one, which the path would lack, and for `.` and
 * `..`, which mean a folder there, encoded or not.
 */
export function named(name: string): string {
  if (name === '') throw new ParleyError('not_found', 'Nothing has an empty name.')
  if (name === '.' || name === '..') throw new ParleyError('not_found', `There is no "${name}".`)
  return encodeURIComponent(name)
}

/** Returns the sessions of a daemon behind its socket. */
export function remoteSessions(client: Client, ask: Ask): OperatorService['sessions'] {
  const { sessions } = client().v1
  const one = sessions[':name']
  const at = (name: string) => ({ param: { name: named(name) } })
  return {
    list: async ({ limit, offset, inactive }) => {
      const query = { limit: String(limit), offset: String(offset), inactive: inactive ? 'true' : 'false' } as const
      return ask(answers.sessions, sessions.$get({ query }))
    },
    start: async (request) => ask(answers.session, sessions.$post({ json: startOf(request) })),
    show: async (name) => ask(answers.session, one.$get(at(name))),
    history: async (name, { limit, before }) => {
      const end = before === undefined ? {} : { before: String(before) }
      return ask(answers.history, one.history.$get({ ...at(name), query: { limit: String(limit), ...end } }))
    },
    patch: async (name, changes) => ask(answers.session, one.$patch({ ...at(name), json: fieldsOf(changes) })),
    setHistory: async (name, boundary) =>
      ask(answers.session, one.history.$post({ ...at(name), json: fieldsOf(boundary) })),
    rename: async (name, title) => ask(answers.session, one.name.$post({ ...at(name), json: { title } })),
    post: async (name, request) => {
      const { messages } = client((request.waitSeconds ?? POST_WAIT_SECONDS) * 1_000).v1.sessions[':name']
      return ask(answers.posted, messages.$post({ ...at(name), json: request }))
    },
    delete: async (name) => {
      await ask(answers.deleted, one.$delete(at(name)))
    },
  }
}

/** A list that nobody changes is given as one that may be changed. */
function startOf({ tools, ...request }: StartRequest) {
  return { ...request, ...(tools === undefined ? {} : { tools: [...tools] }) }
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
