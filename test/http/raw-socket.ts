import { connect } from 'node:net'
import { onTestFinished } from 'vitest'

/** Sends bytes as they are, and resolves with all that was answered once the other end closes. */
export function raw(port: number, ...lines: readonly string[]): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  socket.write(lines.join('\r\n'))
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
