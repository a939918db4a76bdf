import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createMcpTools } from '../../src/mcp/server-tools.ts'
import { createDoor } from '../../src/web/door.ts'
import { doorFetch } from '../../src/web/door-fetch.ts'
import { AwaitedLog } from '../e2e/awaited-log.ts'
import { type Answers, answerTo, send, startHttpToolServer } from '../fakes/http-tool-server.ts'

/** Makes the tools of one server, and of another that no agent has. */
async function joining(answers: Answers) {
  const server = await startHttpToolServer(answers)
  const log = new AwaitedLog()
  const at = { kind: 'address', url: server.url, headers: {} } as const
  const settings = ['one', 'idle'].map((name) => ({ name, at, inside: [], timeoutMs: 5_000 }))
  const fetch = doorFetch(createDoor({ clock: systemClock }).open)
  const deps = { clock: systemClock, logger: log, fetchOf: () => fetch, version: '1', namesOfPlace: async () => [] }
  const tools = createMcpTools(settings, deps)
  onTestFinished(() => tools.close())
  return { server, log, tools, group: tools.groups['mcp.one'] ?? (async () => []) }
}

it('T41: the servers of agents alone are started', async () => {
  const { log, tools } = await joining(() => undefined)
  tools.start(['mcp.one', 'time'])
  await log.line('The tools of a server are there')
  expect([...tools.states()].map(([name, { status }]) => [name, status])).toEqual([
    ['one', 'up'],
    ['idle', 'unused'],
  ])
})

it('T41: a turn with calls of a server waits for it over failed tries; another turn does not', async () => {
  let tries = 0
  const { log, tools, group } = await joining((asked) =>
    asked.message.method === 'initialize' && ++tries < 3 ? send(asked, 503, 'starting') : undefined,
  )
  tools.start(['mcp.one'])
  await log.line('A tool server cannot be reached')
  expect(await group(['time', 'two__add'])).toEqual([])
  expect((await group(['one__add'])).map(({ spec }) => spec.name)).toEqual(['one__add'])
})

it('T41: a list that is empty at first is asked for again', async () => {
  let lists = 0
  const { log, tools, group } = await joining((asked) =>
    asked.message.method === 'tools/list' && ++lists === 1
      ? send(asked, 200, answerTo(asked, { tools: [] }))
      : undefined,
  )
  tools.start(['mcp.one'])
  expect((await log.line('The tools of a server are there')).fields).toEqual({ number: 0 })
  expect((await log.line('The tools of a server are there', { nth: 2 })).fields).toEqual({ number: 1 })
  expect(await group([])).toHaveLength(1)
})
