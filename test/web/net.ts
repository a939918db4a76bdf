import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createDoor, type Door, type DoorDeps } from '../../src/web/door.ts'

/** A public address by the tables; on the net of a test it is the loopback. */
export const PUBLIC = '93.184.215.14'

/** A server on loopback that counts whoever connects to it. */
export interface Sink {
  readonly port: number
  connections(): number
  /** The paths that were asked for, with the host each was asked of. */
  readonly asked: string[]
}

export async function startSink(
  answer: RequestListener = (_request, response) => response.end('inside'),
): Promise<Sink> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host}${request.url}`)
    answer(request, response)
  })
  return { ...(await listening(server)), asked }
}

/** A server that answers with raw bytes, whatever it is asked. */
export async function startRaw(answer: (socket: Socket) => void): Promise<Sink> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined).once('data', () => answer(socket))
  })
  return { ...(await listening(server)), asked: [] }
}

async function listening(server: Server): Promise<Pick<Sink, 'port' | 'connections'>> {
  let connections = 0
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    connections++
    open.add(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, connections: () => connections }
}

/** A door to a net where every name is at the public address, and that address on loopback. */
export function testDoor(deps: Partial<DoorDeps> = {}): Door {
  return createDoor({
    clock: systemClock,
    resolve: async () => [PUBLIC],
    landing: (address) => (address === PUBLIC ? '127.0.0.1' : address),
    ...deps,
  })
}

/** A request that nobody gives up. */
export const wanted = { signal: new AbortController().signal }
