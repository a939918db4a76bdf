import { type IncomingMessage, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ParleyError } from '../core/errors.ts'
import { ChatRefused } from '../core/operate-chat.ts'
import { answerAt } from './chat-errors.ts'
import { errorAnswer } from './errors.ts'

/** A request whose answer is not complete. */
interface Awaited {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

interface Refusal {
  readonly status: number
  readonly error: ParleyError
}

type Unreadable = NodeJS.ErrnoException & { readonly reason?: string; readonly rawPacket?: Buffer }

/** Bytes in which the path of any route ends. */
const LONGEST_START = 2_000

/** The failures of the parser of HTTP that say more than that it is none. */
const KNOWN: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    error: new ChatRefused('invalid', 'The request was not complete within its time.', { again: true }),
  },
  HPE_HEADER_OVERFLOW: refusal(431, 'too_long', 'The address and the headers of the request are too long.'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: refusal(413, 'too_long', 'The chunks of the body have too much beside it.'),
}
const EXPECTATION = refusal(417, 'invalid', 'The header Expect may be 100-continue and nothing else.')
/** A path with a backslash, or a header that no address can be made of. */
const ADDRESS = refusal(400, 'invalid', 'The path, or the header Host, is missing or malformed.')

/**
 * Answers what is no request, or no complete one, as every other failure is answered: before it, no route is known.
 * Returns the listener to call with every request that is begun.
 */
export function answerUnreadable(
  server: Server,
  inTurn: (listener: RequestListener) => RequestListener,
): RequestListener {
  const underWay = new WeakMap<object, Awaited>()
  const refuse: RequestListener = ({ url }, response) => {
    const { headers, body } = answerTo(EXPECTATION, url)
    response.writeHead(EXPECTATION.status, headers).end(body)
  }
  server.on('checkExpectation', inTurn(refuse))
  server.on('clientError', (error: Unreadable, socket) => {
    const before = underWay.get(socket)
    // It would be read as a piece of the answer that is under way, or as that to a request before, which is carried out.
    const within =
      before !== undefined &&
      !before.response.writableFinished &&
      (before.request.complete || before.response.headersSent)
    if (error.code === 'ECONNRESET' || !socket.writable || within) {
      socket.destroy(error)
      return
    }
    const told =
      KNOWN[error.code ?? ''] ?? refusal(400, 'invalid', `This is no HTTP: ${error.reason ?? 'it broke off'}.`)
    socket.write(textOf(told, before?.request.url ?? addressIn(error.rawPacket)))
    ;(socket as Socket).destroySoon()
  })
  return (request, response) => {
    const { socket } = request
    underWay.set(socket, { request, response })
    response.once('close', () => {
      if (underWay.get(socket)?.response === response) underWay.delete(socket)
    })
  }
}

/** Returns the answer to a request of which no address can be made; anything else is a failure of ours. */
export function unaddressed(error: unknown): Response {
  const wrong = error instanceof Error && error.name === 'RequestError'
  const { status, body } = wrong ? { ...errorAnswer(ADDRESS.error), status: ADDRESS.status } : errorAnswer(error)
  return new Response(JSON.stringify(body), { status, headers: HEADERS })
}

const HEADERS = { 'content-type': 'application/json', connection: 'close' }

function refusal(status: number, code: 'invalid' | 'too_long', message: string): Refusal {
  return { status, error: new ParleyError(code, message) }
}

/** Returns the address in the first bytes of a request whose headers are no more than begun. */
function addressIn(packet: Buffer | undefined): string | undefined {
  return /^[A-Z]+ (\/[^ ?]*)/.exec(packet?.toString('latin1', 0, LONGEST_START) ?? '')?.[1]
}

function answerTo({ error }: Refusal, url = '') {
  const { headers, body: told } = answerAt(url.split('?', 1)[0] ?? '', error)
  const body = JSON.stringify(told)
  return { headers: { ...HEADERS, ...headers, 'content-length': Buffer.byteLength(body) }, body }
}

function textOf(refused: Refusal, url: string | undefined): string {
  const { headers, body } = answerTo(refused, url)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${refused.status} ${STATUS_CODES[refused.status]}`, ...lines, '', body].join('\r\n')
}
