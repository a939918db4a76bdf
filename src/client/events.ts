import type { LiveText, StreamEnd } from '../core/operate-events.ts'
import type { SessionEventReport, SessionHistory } from '../core/operate-sessions.ts'
import { ApiError, errorOf, parsed, urlOf } from './call.ts'

export interface EventsDeps {
  /** The address of the daemon: `http://127.0.0.1:7275`. */
  readonly baseUrl: string
  /** Made by `parley token create`. */
  readonly token?: string
  /** Absent: the one of the program. */
  readonly fetch?: typeof fetch
  /** Waits before it connects again; resolves at once when the signal aborts. */
  wait?(ms: number, signal: AbortSignal | undefined): Promise<void>
}

export interface FollowOptions {
  /** The number or the id of the last event that is known: 0 reads from the beginning, absent what is to come. */
  readonly after?: number | string | undefined
  /** Ends the stream. */
  readonly signal?: AbortSignal | undefined
  /** Called with the text of a running answer: it stands for everything from character `from` on. */
  readonly onText?: ((text: LiveText) => void) | undefined
}

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 30_000
/** A daemon says something every 15 s, so a connection that is silent for longer leads nowhere. */
const SILENT_MS = 45_000
const PAGE = 200
/** Answers after which the same request may succeed later. */
const LATER = [408, 425, 429, 500, 502, 503, 504]

/**
 * Returns the events of a session as they happen, each once and in order, over restarts of the daemon and failures on
 * the way: it connects again by itself, and fills any gap in the numbers from the history (C7). It returns when the
 * signal aborts, or with the last word of the stream: the session was deleted, another has its name, or the token has
 * ended. Throws what the daemon refuses as an `ApiError`: `not_found`, `too_old`, `unauthorized`, `invalid` …
 */
export async function* followEvents(
  deps: EventsDeps,
  name: string,
  options: FollowOptions = {},
): AsyncGenerator<SessionEventReport, StreamEnd | undefined, void> {
  const { signal } = options
  const wait = deps.wait ?? pause
  const known = new Known(options.after)
  for (let failed = 0; signal?.aborted !== true; ) {
    const ended = yield* connection(deps, { name, options, known, heard: () => (failed = 0) })
    if (ended !== undefined && ended.reason !== 'stopping') return ended
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failed++)
    await wait(longest * (0.5 + Math.random() / 2), signal)
  }
  return undefined
}

/** The client's state: how much it has of a session. */
class Known {
  /** The number of the last event. */
  last: number | undefined
  /** The id of the last event, as the daemon is given it back. */
  place: string | undefined
  session: string | undefined

  constructor(after: number | string | undefined) {
    this.place = after === undefined ? undefined : String(after)
    this.last = after === undefined ? undefined : Number.parseInt(String(after), 10)
  }
}

interface Following {
  readonly name: string
  readonly options: FollowOptions
  readonly known: Known
  heard(): void
}

/** Reads from one connection until it ends; returns the last word of the daemon, if there was one. */
async function* connection(
  deps: EventsDeps,
  { name, options, known, heard }: Following,
): AsyncGenerator<SessionEventReport, StreamEnd | undefined, void> {
  const cut = new AbortController()
  const abort = (): void => cut.abort()
  options.signal?.addEventListener('abort', abort, { once: true })
  let silent = setTimeout(abort, SILENT_MS)
  const heardFrom = (): void => {
    clearTimeout(silent)
    silent = setTimeout(abort, SILENT_MS)
    heard()
  }
  try {
    const body = await askForStream(deps, { name, options, known }, cut.signal)
    if (body === undefined) return undefined
    for await (const frame of readFrames(body, heardFrom)) {
      if (frame.event === 'end') return JSON.parse(frame.data) as StreamEnd
      if (frame.event === 'delta') options.onText?.(JSON.parse(frame.data) as LiveText)
      if (frame.event === 'start') begin(known, frame)
      if (frame.event === 'message') yield* taken(deps, known, frame, cut.signal)
    }
    return undefined
  } catch (error) {
    if (error instanceof ApiError) throw error
    return undefined
  } finally {
    clearTimeout(silent)
    options.signal?.removeEventListener('abort', abort)
    cut.abort()
  }
}

function askForStream(deps: EventsDeps, { name, options, known }: Omit<Following, 'heard'>, signal: AbortSignal) {
  const headers = known.place === undefined ? {} : { 'last-event-id': known.place }
  const path = `/v1/sessions/${encodeURIComponent(name)}/events${options.onText ? '?deltas=true' : ''}`
  return ask(deps, path, { headers, signal })
}

function begin(known: Known, { id, data }: Frame): void {
  const { session, after } = JSON.parse(data) as { readonly session: string; readonly after: number }
  known.session = session
  known.last ??= after
  known.place ??= id
}

/** Yields what is new: the event, and before it those that the connection has left out. */
async function* taken(
  deps: EventsDeps,
  known: Known,
  { id, data }: Frame,
  signal: AbortSignal,
): AsyncGenerator<SessionEventReport, void, void> {
  const event = JSON.parse(data) as SessionEventReport
  const last = known.last ?? event.seq - 1
  if (event.seq <= last) return
  if (event.seq > last + 1)
    for (const missed of await missedBetween(deps, known, { after: last, before: event.seq, signal })) {
      known.last = missed.seq
      yield missed
    }
  known.last = event.seq
  known.place = id ?? String(event.seq)
  yield event
}

interface Gap {
  readonly after: number
  readonly before: number
  readonly signal: AbortSignal
}

/** Reads a gap from the history, whose pages go from the newest to the first. */
async function missedBetween(
  deps: EventsDeps,
  { session = '' }: Known,
  { after, before, signal }: Gap,
): Promise<readonly SessionEventReport[]> {
  const found: SessionEventReport[] = []
  for (let end: number | undefined = before; end !== undefined && end > after + 1; ) {
    const limit = Math.min(PAGE, end - after - 1)
    const path = `/v1/sessions/${encodeURIComponent(session)}/history?limit=${limit}&before=${end}`
    const body = await ask(deps, path, { signal })
    if (body === undefined) throw new Error('the history cannot be read now')
    const page = (await new Response(body).json()) as SessionHistory
    found.unshift(...page.events.filter(({ seq }) => seq > after))
    end = page.before
  }
  return found
}

/** Returns the body of an answer; undefined where the same may succeed later. Throws what was refused. */
async function ask(
  { fetch = globalThis.fetch, baseUrl, token }: EventsDeps,
  path: string,
  { headers, signal }: { readonly headers?: Readonly<Record<string, string>>; readonly signal: AbortSignal },
) {
  const bearer = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(urlOf(baseUrl, path), { headers: { ...bearer, ...headers }, signal })
  if (response.ok && response.body !== null) return response.body
  const text = await response.text()
  if (LATER.includes(response.status)) return undefined
  throw refusal(response.status, text)
}

function refusal(status: number, text: string): ApiError {
  const { code = 'unavailable', message = `The answer has the status ${status} and is not that of a daemon.` } =
    errorOf(parsed(text)) ?? {}
  return new ApiError(code, status, message)
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    if (signal?.aborted) done()
    else signal?.addEventListener('abort', done, { once: true })
  })
}

/** One event of a stream, as it was sent. */
export interface Frame {
  /** `message` where the stream gives it no name. */
  readonly event: string
  readonly id?: string
  readonly data: string
}

/** Splits a stream of server-sent events. `heard` is called with each piece, a comment too. */
export async function* readFrames(body: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<Frame> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of body as ReadableStream<Uint8Array> & AsyncIterable<Uint8Array>) {
    heard()
    rest = (rest + decoder.decode(piece, { stream: true })).replaceAll('\r\n', '\n')
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const frame = frameOf(block)
      if (frame !== undefined) yield frame
    }
  }
}

function frameOf(block: string): Frame | undefined {
  const fields = new Map<string, string[]>()
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    fields.set(name, [...(fields.get(name) ?? []), value])
  }
  const data = fields.get('data')
  if (data === undefined) return undefined
  const id = fields.get('id')?.at(-1)
  return { event: fields.get('event')?.at(-1) ?? 'message', data: data.join('\n'), ...(id === undefined ? {} : { id }) }
}
