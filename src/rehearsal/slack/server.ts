import { setMaxListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Clock, systemClock } from '../../core/clock.ts'
import { answerThroughFault } from '../answering.ts'
import { FaultBook, type FaultRule } from '../faults.ts'
import type { Answer, ListenOptions } from '../http-server.ts'
import { sendBody, startHttpServer } from '../http-server.ts'
import { type AppOptions, type AppState, createApp } from './app-state.ts'
import { authorize } from './authorize.ts'
import { requireScope } from './conversations.ts'
import { EventQueue, type RedeliverySettings, slackRedelivery } from './event-queue.ts'
import { takeUpload } from './file-methods.ts'
import { downloadAnswer } from './files.ts'
import { HttpEvents } from './http-events.ts'
import { SlackLedger } from './ledger-entries.ts'
import { findMethod } from './methods.ts'
import { type Params, readParams } from './params.ts'
import { SlackApiError } from './slack-error.ts'
import { Sockets } from './sockets.ts'
import type { WebApi } from './web-api.ts'
import { SlackWorld } from './world.ts'

export interface SlackServerOptions extends ListenOptions {
  app?: AppOptions
  /** Default: the platform's. */
  redelivery?: RedeliverySettings
  /** The clock for redeliveries and pings. */
  clock?: Clock
}

/** A Web API call as faults see it. */
export interface SlackCall {
  readonly method: string
  readonly params: Params
}

export interface SlackServer {
  /** The client's `slackApiUrl`; ends with a slash. */
  readonly apiRoot: string
  /** The tokens, scopes and subscriptions; may be changed at any time. */
  readonly app: AppState
  /** The driver: people, channels, and their acts. */
  readonly world: SlackWorld
  readonly ledger: SlackLedger
  readonly faults: FaultBook<SlackCall>
  readonly sockets: Sockets
  readonly events: EventQueue
  /** Sends events to this Request URL instead of the sockets from now on. */
  deliverTo(url: string): HttpEvents
  /** Ends everything at once. Idempotent. */
  close(): Promise<void>
}

const maxBodyBytes = 25 * 1024 * 1024

/** Returns a rule that refuses the next call of `method` as the platform does when it is called too often. */
export function rateLimited(method: string, retryAfterSeconds: number): FaultRule<SlackCall> {
  const headers = { 'retry-after': String(retryAfterSeconds) }
  const body = { ok: false, error: 'ratelimited' }
  return { method, action: { kind: 'answer', when: 'before', status: 429, body, headers } }
}

/** Starts a Web API, Socket Mode and event sender on loopback. Nothing is shared between two of them. */
export async function startSlackServer(options: SlackServerOptions = {}): Promise<SlackServer> {
  const clock = options.clock ?? systemClock
  const redelivery = options.redelivery ?? slackRedelivery
  const app = createApp(options.app ?? {})
  const ledger = new SlackLedger()
  const queue = new EventQueue({ app, ledger, clock, redelivery })
  const world = new SlackWorld({ app, ledger, now: () => clock.now() }, queue)
  const sockets = await Sockets.start({ app, ledger, clock, queue, host: options.host ?? '127.0.0.1' })
  queue.use(sockets)
  const rehearsal = new WebApiServer({ app, world, sockets }, { ledger, clock })
  const http = await startHttpServer(options, {
    maxBodyBytes,
    handle: (request, response, body) => rehearsal.handle(request, response, body),
  })
  world.filesUrl = http.url
  return {
    apiRoot: `${http.url}/api/`,
    app,
    world,
    ledger,
    faults: rehearsal.faults,
    sockets,
    events: queue,
    deliverTo(url) {
      const events = new HttpEvents({ app, url, now: () => clock.now(), ackMs: redelivery.ackMs })
      queue.use(events)
      return events
    },
    async close() {
      queue.close()
      rehearsal.close()
      await Promise.all([sockets.close(), http.close()])
    },
  }
}

/** The address that takes files answers by a status alone. */
class UploadRefused extends Error {
  readonly status: number

  constructor(status: number) {
    super(`the upload is refused with ${status}`)
    this.status = status
  }
}

interface Recognised extends SlackCall {
  run(): Readonly<Record<string, unknown>>
  /** The whole answer, where it is no object of the Web API. */
  answer?(): Answer
}

class WebApiServer {
  readonly faults: FaultBook<SlackCall>
  readonly #api: WebApi
  readonly #ledger: SlackLedger
  readonly #clock: Clock
  readonly #closing = new AbortController()

  constructor(api: WebApi, { ledger, clock }: { ledger: SlackLedger; clock: Clock }) {
    // Any number of calls may be delayed or held at a time.
    setMaxListeners(0, this.#closing.signal)
    this.#api = api
    this.#ledger = ledger
    this.#clock = clock
    this.faults = new FaultBook(() => clock.now())
  }

  handle(request: IncomingMessage, response: ServerResponse, body: Buffer | null): void {
    const upload = /^\/upload\/v1\/([\w-]+)$/.exec(request.url ?? '')?.[1]
    const call = upload === undefined ? this.#recognise(request, body) : this.#upload(upload, request, body)
    const fault = this.faults.take(call)
    if (fault === undefined) {
      sendBody(response, this.#perform(call))
      return
    }
    const kind = fault.action.kind
    const faulty = {
      response,
      fault,
      closing: this.#closing.signal,
      effect: () => this.#perform(call, kind),
      skipped: () => this.#record(call, undefined, kind),
    }
    answerThroughFault(faulty).catch((error: unknown) => sendBody(response, this.#broken(error)))
  }

  close(): void {
    this.#closing.abort()
    this.faults.close()
    this.#ledger.close()
  }

  /** The token of the bot must not come here. */
  #upload(ticket: string, { headers }: IncomingMessage, bytes: Buffer | null): Recognised {
    const refusal = (status: number) => new UploadRefused(status)
    return {
      method: 'upload',
      params: { ticket, length: bytes?.length },
      run: () => {
        if (headers.authorization !== undefined || bytes === null) throw refusal(bytes === null ? 413 : 400)
        const status = takeUpload(this.#api.world, ticket, { type: headers['content-type'] ?? '', bytes })
        if (status !== 200) throw refusal(status)
        return {}
      },
    }
  }

  #recognise(request: IncomingMessage, body: Buffer | null): Recognised {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const method = url.pathname.replace(/^\/api\//, '')
    if (url.pathname.startsWith('/files-pri/')) {
      const params = { path: url.pathname }
      return { method: 'download', params, run: () => ({}), answer: () => downloadAnswer(this.#api, request) }
    }
    try {
      if (body === null) throw new SlackApiError('request_too_large')
      const params = readParams(request.headers['content-type'] ?? '', body)
      return { method, params, run: () => this.#run(method, params, request.headers.authorization) }
    } catch (error) {
      return {
        method,
        params: {},
        run: () => {
          throw error
        },
      }
    }
  }

  #run(name: string, params: Params, authorization: string | undefined): Readonly<Record<string, unknown>> {
    const method = findMethod(name)
    if (method === undefined) {
      this.#unrehearsed(`method ${name}`)
      throw new SlackApiError('unknown_method', { req_method: name })
    }
    // Tokens belong in the header; one in the arguments would end up in logs.
    if (params.token !== undefined) throw new SlackApiError('invalid_arguments')
    authorize(this.#api.app, authorization, method.token)
    if (method.scope !== undefined) requireScope(this.#api.app, method.scope)
    return method.run(this.#api, params)
  }

  #perform(call: Recognised, fault?: string): Answer {
    try {
      const whole = call.answer?.()
      if (whole !== undefined) {
        this.#record(call, { ok: whole.status === 200 }, fault)
        return whole
      }
      const answer = { ok: true, ...call.run() }
      this.#record(call, answer, fault)
      return this.#answer(answer)
    } catch (error) {
      if (error instanceof UploadRefused) {
        this.#record(call, { ok: false }, fault)
        return { status: error.status, body: 'refused' }
      }
      if (!(error instanceof SlackApiError)) return this.#broken(error)
      const answer = { ok: false, error: error.code, ...error.fields }
      this.#record(call, answer, fault)
      return this.#answer(answer)
    }
  }

  #answer(body: object): Answer {
    return {
      status: 200,
      body: JSON.stringify(body),
      headers: { 'x-oauth-scopes': this.#api.app.scopes.join(',') },
    }
  }

  #record(call: SlackCall, answer: { ok: boolean } | undefined, fault: string | undefined): void {
    const { method, params } = call
    this.#ledger.append({
      kind: 'call',
      at: this.#clock.now(),
      method,
      params,
      ...(answer !== undefined && { answer }),
      ...(fault !== undefined && { fault }),
    })
  }

  /** An error that is no refusal is a mistake of the rehearsal itself: it is answered as 500 so that it is seen. */
  #broken(error: unknown): Answer {
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
    this.#unrehearsed(`internal error: ${what}`)
    return { status: 500, body: JSON.stringify({ ok: false, error: 'internal_error' }) }
  }

  #unrehearsed(what: string): void {
    this.#ledger.append({ kind: 'unrehearsed', at: this.#clock.now(), what })
  }
}
