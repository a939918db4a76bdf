import { createServer, type ServerResponse } from 'node:http'
import { ParleyError } from '../../core/errors.ts'
import { parseUrl } from '../../core/parse-url.ts'

/** The listener on this machine to which a browser is sent after the login. */
export interface Redirects {
  readonly url: string
  /** The same place by its name, for authorization servers that know no other. */
  readonly byName: string
  /** Resolves with the address that carries the answer to this login. */
  readonly answered: Promise<URL>
  close(): void
}

const PATH = '/callback'
const HOST = '127.0.0.1'

/** Listens on the port, any free one for 0. What does not carry the state of this login is refused, without effect. */
export async function listenForRedirect(port: number, state: string): Promise<Redirects> {
  let resolve: (url: URL) => void = () => undefined
  const answered = new Promise<URL>((done) => {
    resolve = done
  })
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    // Any page in a browser may ask here, for whatever address.
    const url = parseUrl(request.url ?? '/', `http://${HOST}`)
    if (request.method !== 'GET' || url?.pathname !== PATH) return say(response, 404, 'There is nothing here.')
    if (!isAnswer(url, state)) return say(response, 400, 'This does not belong to the login that was begun.')
    say(response, 200, 'Thank you. You may close this window and go back to the terminal.')
    resolve(url)
  })
  await new Promise<void>((listening, failed) => {
    server.once('error', (error) =>
      failed(new ParleyError('unavailable', `Port ${port} cannot be listened on: ${error.message}`)),
    )
    server.listen(port, HOST, listening)
  })
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  return {
    url: `http://${HOST}:${bound}${PATH}`,
    byName: `http://localhost:${bound}${PATH}`,
    answered,
    close() {
      server.close()
      server.closeIdleConnections()
    },
  }
}

/** Returns true for an address with the state of the login and an answer. */
export function isAnswer(url: URL, state: string): boolean {
  const { searchParams: values } = url
  return values.get('state') === state && (values.has('code') || values.has('error'))
}

function say(response: ServerResponse, status: number, words: string): void {
  response.writeHead(status, {
    ...{ 'content-type': 'text/plain; charset=utf-8', connection: 'close', 'cache-control': 'no-store' },
    'referrer-policy': 'no-referrer',
  })
  response.end(`${words}\n`)
}
