import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { HookSettings } from '../../src/config/config.ts'
import { Secret } from '../../src/config/secrets.ts'
import { deferred } from '../../src/rehearsal/deferred.ts'

interface Holding {
  /** What is asked about is held if it has this text; any is if there is none. */
  readonly held?: string
  /** Nothing is held before `arm` is called. */
  readonly armed?: boolean
}

/** Starts a hook of the operator that holds what it is asked about until it is let. */
export async function heldHook(on: HookSettings['on'][number], { held = '', armed = true }: Holding = {}) {
  const [asked, answered] = [deferred<void>(), deferred<void>()]
  let holds = armed
  const heard: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString()
    })
    request.on('end', () => {
      heard.push(body)
      const isHeld = holds && body.includes(held)
      if (isHeld) asked.resolve()
      void (isHeld ? answered.promise : Promise.resolve()).then(() => response.end(''))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  const at = { kind: 'address', url, secret: new Secret('secret of the hook') } as const
  const hook: HookSettings = { name: 'slow', on: [on], at, timeoutMs: 50_000 }
  const arm = () => {
    holds = true
  }
  return { hook, asked: asked.promise, answer: () => answered.resolve(), arm, heard }
}
