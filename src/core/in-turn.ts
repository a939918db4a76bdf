interface Asked {
  readonly socket: { readonly writable: boolean; destroy(): unknown }
}

interface Answer {
  once(event: 'close', listener: () => void): unknown
}

type Listener<Request, Response> = (request: Request, response: Response) => void

/**
 * Returns what gives a server's listener one request of a connection at a time, and one in a turn of the loop: Node
 * hands over all thousands of a piece at once. One may wait, since a client can have read the whole of an answer before
 * its end is known here. A connection with more waits for no answer, as no client that people use, and is cut off.
 */
export function createInTurn<Request extends Asked, Response extends Answer>(): (
  listener: Listener<Request, Response>,
) => Listener<Request, Response> {
  /** The request that is begun when the one under way has ended. */
  const next = new WeakMap<Request['socket'], (() => void) | undefined>()
  const begin = (socket: Request['socket'], response: Response, listen: () => void): void => {
    next.set(socket, undefined)
    response.once('close', () =>
      setImmediate(() => {
        const waiting = socket.writable ? next.get(socket) : undefined
        next.delete(socket)
        waiting?.()
      }),
    )
    listen()
  }
  return (listener) => (request, response) => {
    const { socket } = request
    const start = (): void => begin(socket, response, () => listener(request, response))
    if (!next.has(socket)) return socket.writable ? start() : undefined
    if (next.get(socket) === undefined) next.set(socket, start)
    else socket.destroy()
  }
}
