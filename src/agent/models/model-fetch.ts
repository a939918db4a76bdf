import { withWholeCharacters } from '../../core/cut-text.ts'
import { DOORS } from '../../core/doors.ts'
import { parseUrl } from '../../core/parse-url.ts'
import { readFirstBytes } from '../../core/read-bytes.ts'
import { readJson } from '../../core/read-json.ts'
import { isPage, readErrorBody, readErrorValue, type SaidError, saysError } from './error-body.ts'
import { redirected, type ServerPlace } from './failure.ts'
import { isNoPath } from './refusals.ts'
import { isRecord } from './tool-arguments.ts'

/** The most bytes that are read of an error, such as a page. */
const MOST_SAID = 1_000_000

/**
 * Returns the `fetch` for the client library of a server. What goes out is what the configuration names: no header that
 * a library takes from the environment or that describes this machine, no half of a character. What comes in is in the
 * one form that the library knows: an error as JSON with `error`, an answer as a stream of events.
 */
export function createModelFetch(server: ServerPlace): typeof fetch {
  return async (url, init = {}) => {
    const body = typeof init.body === 'string' ? withWholeCharacters(init.body) : init.body
    const request = { ...init, ...(body == null ? {} : { body }), headers: headersFor(server) }
    const response = await send(new URL(url instanceof Request ? url.url : url), request, server)
    return response.ok ? answerOf(response, server) : errorAnswer(response, await textOf(response.body, MOST_SAID))
  }
}

const MOST_REDIRECTS = 5

/**
 * Sends a request, and sends it again where its server redirects it on the same origin. Throws `model_unconfigured` for
 * a redirect to another origin, which would be given the key and the words of the chat.
 */
async function send(url: URL, request: RequestInit, server: ServerPlace): Promise<Response> {
  for (let at = url, redirects = 0; ; redirects++) {
    const response = await fetch(at, { ...request, redirect: 'manual' })
    const location = response.headers.get('location')
    const isRedirect = response.status >= 300 && response.status < 400 && location !== null
    if (!isRedirect || redirects === MOST_REDIRECTS) return response
    await response.body?.cancel()
    const to = parseUrl(location, at.href)
    if (to?.origin !== at.origin) throw redirected(server, to)
    at = to
  }
}

/** The version of the Messages API that the client library is of. */
const MESSAGES_VERSION = '2026-10-21'

/** Anything else that a library sends may be from the environment, values of these names included. */
function headersFor({ kind, apiKey }: ServerPlace): Headers {
  const sent = new Headers({ accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'Parley' })
  if (kind === 'openai') {
    if (apiKey !== '') sent.set('authorization', `Bearer ${apiKey}`)
    return sent
  }
  sent.set('anthropic-version', MESSAGES_VERSION)
  if (apiKey !== '') sent.set('x-api-key', apiKey)
  return sent
}

async function textOf(body: Response['body'], most: number): Promise<string> {
  return body === null ? '' : (await readFirstBytes(body, most)).bytes.toString('utf8')
}

/** Returns an error in the shape that both libraries know, with its true status and headers; empty without words. */
function errorAnswer({ status, statusText, headers }: Response, text: string): Response {
  const type = headers.get('content-type') ?? ''
  const error = readErrorBody(text, type)
  const kept = withoutLength(headers)
  if (error !== undefined)
    return new Response(inOneShape(error), { status, statusText, headers: withWait(kept, error) })
  if (text.trim() === '') kept.delete('content-type')
  else if (isPage(text, type)) kept.set('content-type', 'text/html')
  return new Response(null, { status, statusText, headers: kept })
}

function inOneShape({ message, type, retryAfterMs, ...error }: SaidError): string {
  const wait = retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }
  return JSON.stringify({ type: 'error', error: { message, type: type ?? null, ...error, ...wait } })
}

function withWait(headers: Headers, { retryAfterMs }: SaidError): Headers {
  if (retryAfterMs !== undefined && !headers.has('retry-after') && !headers.has('retry-after-ms'))
    headers.set('retry-after', String(retryAfterMs / 1_000))
  return headers
}

function withoutLength(headers: Headers): Headers {
  const kept = new Headers(headers)
  kept.delete('content-length')
  kept.delete('content-encoding')
  return kept
}

/**
 * Returns a good answer as a stream of events, by its first bytes and not by its type. JSON that says an error becomes
 * the answer that it should have been; anything else is handed on as it is.
 */
async function answerOf(response: Response, server: ServerPlace): Promise<Response> {
  const { status, statusText, headers } = response
  if (response.body === null) return response
  const { first, body } = await begun(response.body)
  const kept = withoutLength(headers)
  if (/^[[{]/.test(first))
    return wholeAnswer({ text: await textOf(body, DOORS.modelAnswer.bytes), headers: kept, status }, server)
  const isStream = /^(data|event|id|retry)?:/.test(first) || (isEvents(headers) && isTorn(first))
  if (isStream) kept.set('content-type', 'text/event-stream')
  else await body.cancel()
  return new Response(isStream ? body : null, { status, statusText, headers: kept })
}

/**
 * Returns true for the beginning of a stream that ended there: a proxy gives nothing at all, or a piece of a line,
 * where its server has died.
 */
function isTorn(first: string): boolean {
  return first.length < TELLING && !first.startsWith('<')
}

function isEvents(headers: Headers): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false
}

interface Whole {
  readonly text: string
  readonly headers: Headers
  readonly status: number
}

/** An answer that came whole where a stream was asked for. */
function wholeAnswer({ text, headers, status }: Whole, server: ServerPlace): Response {
  const value = parsed(withoutEnd(text))
  const events = streamOf(value, server.kind)
  if (events !== undefined) {
    headers.set('content-type', 'text/event-stream')
    return new Response(events, { status, headers })
  }
  const error = saysError(value) ? readErrorValue(value) : undefined
  if (!headers.get('content-type')?.includes('json')) headers.set('content-type', 'application/json')
  // LM Studio answers 200 to an address that it does not know.
  if (error === undefined || isNoPath(error.message)) return new Response(text, { status, headers })
  return new Response(inOneShape(error), { status: error.status ?? 500, headers: withWait(headers, error) })
}

/** Some gateways put the end of a stream behind a whole answer. */
function withoutEnd(text: string): string {
  const written = text.trimEnd()
  const [end = ''] = /data: ?\[DONE\]$/.exec(written.slice(-LONGEST_END)) ?? []
  return written.slice(0, written.length - end.length)
}

const LONGEST_END = 'data: [DONE]'.length

function parsed(text: string): unknown {
  try {
    return readJson(text, DOORS.modelAnswer)
  } catch {
    return undefined
  }
}

/** Letters by which a stream of events is known: `event:` is the longest of its first words. */
const TELLING = 6

/** Reads the beginning of a body, and returns it with the whole of the body. */
async function begun(source: ReadableStream<Uint8Array>): Promise<{ first: string; body: ReadableStream<Uint8Array> }> {
  const reader = source.getReader()
  const read: Uint8Array[] = []
  let first = ''
  for (let size = 0; first.length < TELLING && size < MOST_SAID; ) {
    const { done, value } = await reader.read()
    if (done) break
    read.push(value)
    size += value.length
    first = Buffer.concat([Buffer.from(first), value.subarray(0, 64)])
      .toString('utf8')
      .replace(/^[\uFEFF\s]+/, '')
  }
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = read.shift() ?? (await reader.read()).value
      if (next === undefined) controller.close()
      else controller.enqueue(next)
    },
    cancel: (reason) => reader.cancel(reason),
  })
  return { first, body }
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Returns the events of a stream for an answer that a server gave whole, although a stream was asked for; undefined for
 * what is no answer of the protocol.
 */
function streamOf(answer: unknown, kind: ServerPlace['kind']): string | undefined {
  if (!isRecord(answer)) return undefined
  return kind === 'openai' ? completionStream(answer) : messageStream(answer)
}

function completionStream(completion: Fields): string | undefined {
  const { choices } = completion
  if (!Array.isArray(choices) || !choices.every((choice) => isRecord(choice) && isRecord(choice.message)))
    return undefined
  if (choices.length === 0) return undefined
  const deltas = choices.map(({ message, ...choice }) => ({ ...choice, delta: deltaOf(message) }))
  return `data: ${JSON.stringify({ ...completion, object: 'chat.completion.chunk', choices: deltas })}\n\ndata: [DONE]\n\n`
}

/** Within a stream a call says by its index which one it is. */
function deltaOf(message: Fields): Fields {
  const { tool_calls } = message
  if (!Array.isArray(tool_calls)) return message
  return { ...message, tool_calls: tool_calls.filter(isRecord).map((call, index) => ({ index, ...call })) }
}

function messageStream(message: Fields): string | undefined {
  const { content, stop_reason, stop_sequence, usage } = message
  if (!Array.isArray(content) || !('stop_reason' in message)) return undefined
  const blocks = content
    .filter(isRecord)
    .flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: emptied(block) },
      ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ])
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason: stop_reason ?? 'end_turn', stop_sequence }, usage: usage ?? {} },
    { type: 'message_stop' },
  ]
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

/** A block as a stream begins it; what grows comes in deltas. */
function emptied(block: Fields): Fields {
  if (block.type === 'tool_use') return { ...block, input: {} }
  if (block.type === 'text') return { ...block, text: '' }
  return block.type === 'thinking' ? { ...block, thinking: '', signature: '' } : block
}

function deltasOf({ type, text, input, thinking, signature }: Fields): Fields[] {
  if (type === 'text') return [{ type: 'text_delta', text }]
  if (type === 'tool_use') return [{ type: 'input_json_delta', partial_json: JSON.stringify(input ?? {}) }]
  if (type !== 'thinking') return []
  const signed = typeof signature === 'string' ? [{ type: 'signature_delta', signature }] : []
  return [{ type: 'thinking_delta', thinking }, ...signed]
}
