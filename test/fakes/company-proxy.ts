import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'

/** The certificate that a company's proxy shows for every host, signed by itself, valid for a hundred years. */
export const COMPANY = {
  cert: `-----BEGIN CERTIFICATE-----
MIIB5TCCAYugAwIBAgIUc7yonO4OPiJurrQ3i5/gK0sYINQwCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHQ29tcGFueTAgFw0yNjExMzAxMjIyMjJaGA8yMTI2MTEwNjEy
MjIyMlowEjEQMA4GA1UEAwwHQ29tcGFueTBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABIQzcC8qrm31hC24r6HfsiXox71Tq/YONeO5ScWhqb59FYWW1i2sjRuhz0km
zEphgd5T+Hq0ysWhnTLnjrvu1gijgbwwgbkwHQYDVR0OBBYEFAKaY5ffhYirq+89
rCcDsJpJ7UYCMB8GA1UdIwQYMBaAFAKaY5ffhYirq+89rCcDsJpJ7UYCMA8GA1Ud
EwEB/wQFMAMBAf8wZgYDVR0RBF8wXYIQYXBpLnRlbGVncmFtLm9yZ4ILZGlzY29y
ZC5jb22CCXNsYWNrLmNvbYIOYXBpLm9wZW5haS5jb22CEWFwaS5hbnRocm9waWMu
Y29tgg4qLnNvY2tldHMudGVzdDAKBggqhkjOPQQDAgNIADBFAiACeNA84BrbfYWY
OwjC4L6gv1sGo6v5bXpq7aPbeUf8yAIhAMA8IKCg88H31njP2wWvMdLrqUqNwJ1V
v9ZDsm1TJF19
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgI6zr3p8Nf65U3GAn
JPyfuMJ8MxlB85SIsY/7+r8exNGhRANCAASEM3AvKq5t9YQtuK+h37Il6Me9U6v2
DjXjuUnFoam+fRWFltYtrI0boc9JJsxKYYHeU/h6tMrFoZ0y54677tYI
-----END PRIVATE KEY-----
`,
}

export interface CompanyProxy {
  readonly port: number
  /** The targets that it was asked for, in their order. */
  readonly targets: readonly string[]
  /** The status for whoever asks for a tunnel; 200 opens it. */
  status: number
}

interface Options {
  /** The servers that stand for hosts of the net. */
  readonly hosts: Readonly<Record<string, string>>
  /** `name:password`, without which nobody is let through. */
  readonly login: string
}

/**
 * A proxy as companies have them: it wants a login, breaks TLS (port 443) open with a certificate of its own, and leads to nothing
 * but its hosts. Addresses of sockets in the answers of a host become names that are reached by it as well.
 */
export async function startCompanyProxy({ hosts, login }: Options): Promise<CompanyProxy & { close(): void }> {
  const targets: string[] = []
  const open = new Set<Socket>()
  const proxy = { status: 200 }
  const portOf = (host: string): string => {
    const socket = /^p(\d+)\.sockets\.test$/.exec(host)?.[1]
    return socket ?? new URL(hosts[host] ?? 'http://nowhere:1').port
  }
  const inside = createTlsServer(COMPANY, (asked, answer) => pass(asked, answer, portOf(hostIn(asked))))
  inside.on('upgrade', (asked: IncomingMessage, socket: Socket, head: Buffer) => {
    const onward = connect(Number(portOf(hostIn(asked))), '127.0.0.1')
    const lines = asked.rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${asked.rawHeaders[at + 1]}`] : []))
    onward.write(`GET ${asked.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    onward.write(head)
    keep(onward)
    socket.pipe(onward).pipe(socket)
    socket.on('error', () => onward.destroy())
    onward.on('error', () => socket.destroy())
  })
  const keep = (socket: Socket): void => {
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
  }
  const statusFor = (host: string): number => (hosts[host] || host.endsWith('.sockets.test') ? proxy.status : 503)
  const outside = createServer((_asked, answer) => answer.writeHead(405).end())
  outside.on('connect', (asked: IncomingMessage, socket: Socket) => {
    keep(socket)
    targets.push(asked.url ?? '')
    const [host = ''] = (asked.url ?? '').split(':')
    const given = Buffer.from(asked.headers['proxy-authorization']?.replace('Basic ', '') ?? '', 'base64').toString()
    const status = given === login ? statusFor(host) : 407
    socket.write(`HTTP/1.1 ${status} ${status === 200 ? 'Connection established' : 'No'}\r\n\r\n`)
    if (status !== 200) socket.end()
    else if (asked.url?.endsWith(':443')) inside.emit('connection', socket)
    else {
      const onward = connect(Number(portOf(host)), '127.0.0.1')
      keep(onward)
      socket.pipe(onward).pipe(socket)
    }
  })
  outside.listen(0, '127.0.0.1')
  await once(outside, 'listening')
  return Object.assign(proxy, {
    port: (outside.address() as AddressInfo).port,
    targets,
    close() {
      outside.close()
      for (const socket of open) socket.destroy()
    },
  })
}

const hostIn = ({ headers }: IncomingMessage): string => (headers.host ?? '').replace(/:\d+$/, '')

function pass(asked: IncomingMessage, answer: ServerResponse, port: string): void {
  const { method = 'GET', url: path = '/', headers } = asked
  const onward = request({
    host: '127.0.0.1',
    port,
    method,
    path,
    headers: { ...headers, 'accept-encoding': 'identity' },
  })
  onward.on('error', () => answer.destroy())
  onward.on('response', (message) => {
    const pieces: Buffer[] = []
    message.on('data', (piece: Buffer) => pieces.push(piece))
    message.on('end', () => {
      const whole = Buffer.concat(pieces)
      const isText = /json/.test(message.headers['content-type'] ?? '')
      const body = isText
        ? Buffer.from(whole.toString('utf8').replaceAll(/ws:\/\/127\.0\.0\.1:(\d+)/g, 'wss://p$1.sockets.test'))
        : whole
      const { 'content-length': _length, 'transfer-encoding': _encoding, ...kept } = message.headers
      answer.writeHead(message.statusCode ?? 502, { ...kept, 'content-length': body.length }).end(body)
    })
  })
  asked.pipe(onward)
}
