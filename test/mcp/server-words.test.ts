import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createConnection } from '../../src/mcp/connection.ts'
import { AwaitedLog } from '../e2e/awaited-log.ts'
import { type Answers, type Asked, answerTo, resultOf, send, text } from '../fakes/http-tool-server.ts'
import { isCall, isGet, never, started } from './http-connection.ts'

describe('what a server says of its tools', () => {
  it.each(['program', 'address'])('is noted where they change (%s)', async (kind) => {
    const notice = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
    const { connection, call, log } =
      kind === 'address'
        ? await started((asked, { event }) => {
            if (!isCall(asked)) return undefined
            event(asked, notice)
            event(asked, answerTo(asked, text('add')))
            return true
          })
        : program(notice)
    await connection.list()
    expect(connection.state()).toEqual({ status: 'up', tools: 1 })
    await call()
    await log.line('A tool server has other tools now; they are taken at the next start of Parley')
    expect(connection.state()).toMatchObject({ changed: true })
  })

  it('is that it has none where it knows no list', async () => {
    const { connection } = await started((asked) =>
      asked.message.method === 'tools/list'
        ? send(asked, 200, {
            jsonrpc: '2.0',
            id: asked.message.id,
            error: { code: -32_601, message: 'no such method' },
          })
        : undefined,
    )
    expect(await connection.list()).toMatchObject({ tools: [] })
    expect(connection.state()).toMatchObject({ status: 'up', tools: 0 })
  })

  it.each([
    [{ code: -32_603, message: 'Internal error', data: 'no milk left' }, 'one: Internal error: no milk left'],
    [{ code: -32_602, message: 'Invalid params', data: [{ path: 'a' }] }, 'one: Invalid params: [{"path":"a"}]'],
    [{ code: -32_000, message: '', data: 'in the data' }, 'one: in the data'],
  ])('of a failure is all told: %j', async (error, words) => {
    const { call } = await started((asked) =>
      isCall(asked) ? send(asked, 200, { jsonrpc: '2.0', id: asked.message.id, error }) : undefined,
    )
    await expect(call()).rejects.toThrow(words)
    const refused = await started((asked) => (isCall(asked) ? send(asked, 400, { jsonrpc: '2.0', error }) : undefined))
    await expect(refused.call()).rejects.toThrow(words.replace('one: ', 'one: it answers 400: '))
  })
})

/** Starts a program with one tool, which sends a message before each answer to a call. */
function program(before: object) {
  const code = `
    const tools = [{ name: 'add', inputSchema: { type: 'object' } }]
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line)
      if (id === undefined) return
      if (method === 'tools/call') console.log(${JSON.stringify(JSON.stringify(before))})
      const { protocolVersion } = params ?? {}
      const about = { protocolVersion, capabilities: {}, serverInfo: { name: 'p', version: '1' } }
      const result = { initialize: about, 'tools/list': { tools } }[method] ?? { content: [] }
      console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })`
  const at = { kind: 'program', command: process.execPath, args: ['-e', code], env: {} } as const
  const log = new AwaitedLog()
  const deps = { clock: systemClock, logger: log, fetchOf: () => globalThis.fetch, version: '1' }
  const connection = createConnection({ name: 'one', at, inside: [], timeoutMs: 10_000 }, deps)
  onTestFinished(() => connection.close())
  return { connection, log, call: () => connection.call('add', {}, { signal: never }) }
}

describe('a list of several pages', () => {
  const page = (asked: Asked, names: readonly string[], nextCursor: unknown): true =>
    send(
      asked,
      200,
      answerTo(asked, { tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })), nextCursor }),
    )

  it.each([
    ['a cursor that is null', null, 1],
    ['the same cursor for ever', 'c', 2],
    ['an empty cursor for ever', '', 2],
    ['a cursor that is a number', 7, 1],
  ])('ends with %s', async (_how, cursor, requests) => {
    const { server, connection } = await started((asked) =>
      asked.message.method === 'tools/list' ? page(asked, ['add', 'take'], cursor) : undefined,
    )
    const { tools, leftOut } = await connection.list()
    expect([tools.length, leftOut]).toEqual([2, []])
    expect(server.asked.filter(({ message }) => message.method === 'tools/list')).toHaveLength(requests)
  })

  it('has the tools of all, also behind an empty cursor', async () => {
    const { connection } = await started((asked) => {
      if (asked.message.method !== 'tools/list') return undefined
      const { cursor } = asked.message.params ?? {}
      if (cursor === undefined) return page(asked, ['a'], '')
      return cursor === '' ? page(asked, ['b'], 'c') : page(asked, ['c'], undefined)
    })
    expect((await connection.list()).tools.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  })
})

describe('a server of the form of 2024-11-05', () => {
  const oneStream = (refused: number): Answers => {
    let stream: Asked | undefined
    return (asked, { event }) => {
      if (asked.path === '/mcp' && asked.verb === 'POST') return send(asked, refused)
      if (isGet(asked)) {
        stream = asked
        asked.response.writeHead(200, { 'content-type': 'text/event-stream' })
        asked.response.write('event: endpoint\ndata: /messages?session=1\n\n')
        return true
      }
      send(asked, 202, 'Accepted')
      const { method, id } = asked.message
      if (stream !== undefined && method !== undefined && id !== undefined)
        event(stream, answerTo(asked, resultOf(asked)))
      if (asked.message.params?.arguments?.ends) stream?.response.end()
      return true
    }
  }

  it.each([404, 405, 400])('that refuses the newer one with %s is used', async (refused) => {
    const { connection, call, server } = await started(oneStream(refused))
    expect((await connection.list()).tools).toHaveLength(1)
    expect(await call()).toMatchObject(text('add') as object)
    expect(server.asked.filter(({ path }) => path === '/messages?session=1')).toHaveLength(4)
  })

  it('that ends its stream is begun again at the next use', async () => {
    const { connection, call, log } = await started(oneStream(405))
    await call({}, { ends: true })
    await log.line('A tool server cannot be reached')
    await expect
      .poll(() =>
        connection.list().then(
          ({ tools }) => tools.length,
          () => 0,
        ),
      )
      .toBe(1)
  })

  it('whose stream leads to another origin is refused', async () => {
    const { connection, server } = await started((asked) => {
      if (!isGet(asked)) return send(asked, 405)
      asked.response.writeHead(200, { 'content-type': 'text/event-stream' })
      asked.response.end('event: endpoint\ndata: https://example.com/messages\n\n')
      return true
    })
    await expect(connection.list()).rejects.toThrow('it answers 405')
    expect(server.asked).toHaveLength(2)
  })
})

describe('what a server by HTTP asks while it has a call', () => {
  const ask = { jsonrpc: '2.0', id: 'q', method: 'elicitation/create' }
  const question = (message: unknown) => ({
    ...ask,
    params: { message, requestedSchema: { type: 'object', properties: {} } },
  })
  const asker = (put: unknown[], action: 'accept' | 'decline' = 'accept') => ({
    asks: () => ({
      answer: async (params: unknown) => {
        put.push((params as { readonly message: string }).message)
        return action === 'accept' ? ({ action, content: {} } as const) : ({ action } as const)
      },
      refuse: (why: string) => void put.push(why),
      notes: [],
    }),
  })

  const actionOf = (result: unknown): string => (result as { action?: string } | undefined)?.action ?? 'none'

  /** Asks in the stream of each call what its arguments say, and answers with what came back. */
  const inStream: Answers = (asked, { event, asked: all }) => {
    const { id, params, result, method } = asked.message
    if (isCall(asked)) {
      event(asked, { ...question(params?.arguments?.message), id: `q${id}` })
      return true
    }
    if (method !== undefined || result === undefined) return undefined
    const about = all.find((one) => isCall(one) && `q${one.message.id}` === id)
    if (about !== undefined) event(about, answerTo(about, text(actionOf(result))))
    return send(asked, 202)
  }

  it('is put to a person, and the call goes on', async () => {
    const put: unknown[] = []
    const { server, call } = await started(inStream, {}, true)
    expect(await call(asker(put), { message: 'who?' })).toMatchObject(text('accept') as object)
    expect(put).toEqual(['who?'])
    expect(server.asked[0]?.message.params).toMatchObject({ capabilities: { elicitation: { form: {} } } })
  })

  it('F-H07: belongs to the call in whose stream it comes, also while there are several', async () => {
    const [ada, bob]: [unknown[], unknown[]] = [[], []]
    const { call } = await started(inStream, {}, true)
    const [first, second] = await Promise.all([
      call(asker(ada), { message: 'for Ada' }),
      call(asker(bob, 'decline'), { message: 'for Bob' }),
    ])
    expect([first, second]).toMatchObject([text('accept'), text('decline')])
    expect([ada, bob]).toEqual([['for Ada'], ['for Bob']])
  })

  /** Asks in the stream that is kept open for that, as a server does that does not say for which call. */
  const elsewhere: Answers = (asked, { event, asked: all }) => {
    const { id, method, result, params } = asked.message
    if (isGet(asked))
      return asked.response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders() ?? true
    if (isCall(asked)) {
      const listening = all.find(isGet)
      const message = params?.arguments?.message
      if (listening !== undefined && message !== undefined) event(listening, question(message))
      return true
    }
    const about = id === 'q' && method === undefined ? all.findLast(isCall) : undefined
    return about && send(about, 200, answerTo(about, text(actionOf(result)))) && send(asked, 202)
  }

  it('is put to a person where it comes in the stream beside', async () => {
    const put: unknown[] = []
    const { server, connection, call } = await started(elsewhere, {}, true)
    await connection.list()
    await server.next(isGet)
    expect(await call(asker(put), { message: 'who?' })).toMatchObject(text('accept') as object)
    expect(put).toEqual(['who?'])
  })

  it('F-H07: is put to nobody there once a call was given up, and the next call has another session', async () => {
    const put: unknown[] = []
    const stop = new AbortController()
    const { server, connection, call } = await started(elsewhere, {}, true)
    await connection.list()
    await server.next(isGet)
    const first = call({ signal: stop.signal })
    await server.next(isCall)
    stop.abort()
    await expect(first).rejects.toMatchObject({ code: 'aborted' })
    expect(await call(asker(put), { message: 'who?' })).toMatchObject(text('cancel') as object)
    expect(put).toEqual(['it may be about a call that was given up'])
    await connection.list()
    expect(server.asked.filter(({ message }) => message.method === 'initialize')).toHaveLength(2)
  })

  it.each([
    ['roots/list', { error: { code: -32_601 } }],
    ['sampling/createMessage', { error: { code: -32_601 } }],
    ['ping', { result: {} }],
  ])('%s is answered at once, in the middle of a call', async (method, answer) => {
    const { server, call } = await started((asked, { event, asked: all }) => {
      const { id } = asked.message
      if (isCall(asked)) {
        event(asked, { jsonrpc: '2.0', id: 's1', method })
        return true
      }
      if (id !== 's1') return undefined
      const about = all.find(isCall)
      if (about !== undefined) event(about, answerTo(about, text('went on')))
      return send(asked, 202)
    })
    expect(await call()).toMatchObject(text('went on') as object)
    expect((await server.next(({ message }) => message.id === 's1')).message).toMatchObject(answer)
  })
})
