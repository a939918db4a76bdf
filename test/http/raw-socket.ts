import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Sends bytes as they are, and resolves with all that was answered once the other end closes. */
export function raw(port: number, ...lines: readonly string[]): Promise<string> {
  return tell(port, (socket) => void socket.write(lines.join('\r\n')))
}

/** The same with a body that is no text. */
export function rawBytes(port: number, head: readonly string[], body: Uint8Array): Promise<string> {
  return tell(port, (socket) => void socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])))
}

/** The same of a client that says no more after them. */
export function torn(port: number, ...lines: readonly string[]): Promise<string> {
  return tell(port, (socket) => void socket.end(lines.join('\r\n')))
}

function tell(port: number, say: (socket: Socket) => void): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  say(socket)
  let told = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    told += chunk
  })
  socket.on('end', () => socket.end())
  socket.on('error', () => {})
  return new Promise((resolve) => socket.once('close', () => resolve(told)))
}

/** Returns the status lines in what was answered. */
export function statusesOf(told: string): readonly string[] {
  return [...told.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status = '']) => status)
}
