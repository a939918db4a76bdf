import { onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import type { McpServer } from '../../src/core/mcp.ts'
import { createConnection, type RunningCall } from '../../src/mcp/connection.ts'
import { createDoor } from '../../src/web/door.ts'
import { doorFetch } from '../../src/web/door-fetch.ts'
import { AwaitedLog } from '../e2e/awaited-log.ts'
import { type Answers, type Asked, startHttpToolServer } from '../fakes/http-tool-server.ts'

export const never = new AbortController().signal

interface More extends Partial<McpServer> {
  readonly clock?: Clock
}

export async function started(answers: Answers, { clock = systemClock, ...more }: More = {}, elicits = false) {
  const server = await startHttpToolServer(answers)
  const at = { kind: 'address', url: server.url, headers: { 'x-key': 'k' } } as const
  const settings: McpServer = { name: 'one', at, inside: [], timeoutMs: 10_000, ...more }
  const fetch = doorFetch(createDoor({ clock: systemClock }).open)
  const log = new AwaitedLog()
  const deps = { clock, logger: log, fetchOf: () => fetch, version: '1', elicits }
  const connection = createConnection(settings, deps)
  onTestFinished(() => connection.close())
  const call = (running: Partial<RunningCall> = {}, args = {}) =>
    connection.call('add', args, { signal: never, ...running })
  return { server, connection, call, log }
}

export const isCall = ({ message }: Asked): boolean => message.method === 'tools/call'
export const isGet = ({ verb }: Asked): boolean => verb === 'GET'
