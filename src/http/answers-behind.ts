import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Closes with a connection the answers that wait on it behind another one: Node closes the one that is written and
 * forgets those behind it, so a stream would keep its reader, and a stop would wait for an answer that nobody can get.
 */
export function closeAnswersBehind(server: Server): void {
  const open = new WeakMap<Socket, Set<ServerResponse>>()
  const answersOn = (socket: Socket): Set<ServerResponse> => {
    const known = open.get(socket)
    if (known) return known
    const answers = new Set<ServerResponse>()
    open.set(socket, answers)
    socket.once('close', () => {
      for (const answer of answers) if (isBehind(answer)) closeAnswer(answer)
    })
    return answers
  }
  server.on('request', ({ socket }, answer) => {
    const answers = answersOn(socket).add(answer)
    answer.once('close', () => answers.delete(answer))
  })
}

/** An answer has its connection from its turn on, until it is finished. */
function isBehind({ socket, writableFinished }: ServerResponse): boolean {
  return socket === null && !writableFinished
}

function closeAnswer(answer: ServerResponse): void {
  answer.destroy()
  answer.emit('close')
}
