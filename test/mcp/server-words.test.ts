import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createConnection } from '../../src/mcp/connection.ts'
import { AwaitedLog } from '../e2e/awaited-log.ts'
import {
  type Answers,
  type Asked,
  answerTo,
  type HttpToolServer,
  resultOf,
  send,
  text,
} from '../fakes/http-tool-server.ts'
import { isCall, isGet, never, started } from './http-connection.ts'

describe('what a server says of its tools', () => {
  it.each(['program', 'address'])('is noted where they change (%s)', async (kind) => {
    const notice = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
    const { connection, call, log } = kind === 'address' ? await changing(notice, 2) : program(notice)
    await connection.list()
    expect(connection.state()).toEqual({ status: 'up', tools: 1 })
    await call()
    await log.line('A tool server has other tools now; they are taken at the next start of Parley')
    expect(connection.state()).toMatchObject({ changed: true })
  })

  it('is no change where they are the same behind the notice', async () => {
    const notice = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
    const { server, connection, call, log } = await changing(notice, 3)
    await connection.list()
    await call()
    await server.next(({ message }) => message.method === 'tools/list' && lists(server) === 2)
    await call()
    expect(connection.state()).toEqual({ status: 'up', tools: 1 })
    await log.line('A tool server has other tools now; they are taken at the next start of Parley')
    expect(lists(server)).toBe(3)
  })

  it('is looked at ever later, and said in the log once, where they are the same behind each list', async () => {
    const notice = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
    const waits: number[] = []
    const soon = (ms: number, callback: () => void) => {
      if (ms >= 10_000) return systemClock.after(ms, callback)
      waits.push(Math.round(ms))
      return systemClock.after(0, callback)
    }
    const { server, connection, call, log } = await started(
      (asked, known) => {
        if (asked.message.method !== 'tools/list' && !isCall(asked)) return undefined
        known.event(asked, notice)
        known.event(asked, answerTo(asked, lists(known) > 4 ? { tools: [] } : resultOf(asked)))
        return true
      },
      { clock: { ...systemClock, after: soon } },
    )
    await connection.list()
    await call()
    await log.line('A tool server has other tools now; they are taken at the next start of Parley')
    expect(lists(server)).toBe(5)
    const said = 'A tool server says all the time that its tools are others, and they are the same'
    expect(log.lines.filter(({ sentence }) => sentence === said)).toHaveLength(1)
    expect(waits.filter((ms) => ms >= 1_000).slice(0, 3)).toEqual([1_000, 2_000, 4_000])
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

const lists = ({ asked }: HttpToolServer): number =>
  asked.filter(({ message }) => message.method === 'tools/list').length

/** Starts a server that sends a message before each answer to a call, and has another tool from a list on. */
function changing(notice: object, from: number) {
  return started((asked, server) => {
    if (asked.message.method === 'tools/list' && lists(server) >= from)
      return send(asked, 200, answerTo(asked, { tools: [{ name: 'other' }] }))
    if (!isCall(asked)) return undefined
    server.event(asked, notice)
    server.event(asked, answerTo(asked, text('add')))
    return true
  })
}

describe('an error of a server', () => {
  const page = `<!DOCTYPE html><html><head><style>${'a{b:c}'.repeat(100)}</style></head><body><h1>No milk</h1>${'<p>x</p>'.repeat(600_000)}`
  const frames = '    at f (/srv/tool/node_modules/x/y.js:1:2)'
  const python = `Traceback (most recent call last):\n${'  File "/srv/a.py", line 1, in f\n    g()\n'.repeat(5_000)}ValueError: no milk`
  let deep: unknown = { message: 'no milk' }
  for (let at = 0; at < 400; at++) deep = { a: deep }

  it.each([
    ['a page of 5 MB', { message: page }, /No milk/],
    [
      '40,000 frames',
      { message: 'Internal error', data: { stack: Array(40_000).fill(frames), message: 'no milk' } },
      /no milk/,
    ],
    ['a text of 40,000 frames', { message: '', data: `no milk\n${`${frames}\n`.repeat(40_000)}` }, /^one: no milk$/],
    ['a trace of Python', { message: 'Internal error', data: python }, /ValueError: no milk$/],
    ['no words and deep data', { message: '', data: deep }, /^one: \{"a":/],
    ['a list of problems', { message: 'Invalid', data: Array(9_000).fill({ path: 'a', msg: 'no milk' }) }, /no milk/],
  ])('with %s is told in some hundred characters', async (_, given, words) => {
    const error = { code: -32_603, ...given }
    const { call } = await started((asked) =>
      isCall(asked) ? send(asked, 200, { jsonrpc: '2.0', id: asked.message.id, error }) : undefined,
    )
    const failed = await call().catch((thrown: Error) => thrown.message)
    expect(failed).toMatch(words)
    expect(String(failed).length).toBeLessThan(1_001)
    expect(String(failed)).not.toMatch(/<p>|y\.js/)
  })

  it.each(['initialize', 'tools/list'])('to %s stands in the log and the status in one line', async (method) => {
    const error = { code: -32_000, message: page, data: { stack: frames.repeat(1_000) } }
    const { connection, log } = await started((asked) =>
      asked.message.method === method ? send(asked, 200, { jsonrpc: '2.0', id: asked.message.id, error }) : undefined,
    )
    await expect(connection.list()).rejects.toThrow(/^one cannot be reached: No milk/)
    expect(connection.state().lastTrouble?.detail).toMatch(/^No milk[^\n]{1,300}$/)
    const said = log.lines.find(({ sentence }) => sentence === 'A tool server cannot be reached')
    expect(said?.fields.why).toMatch(/^No milk[^\n]{1,300}$/)
  })

  it.each([-32_000, -32_001])('of a program with the number %i counts before the end of the program', async (code) => {
    const { connection } = program({}, `{ code: ${code}, message: 'no licence\\nfor this host' }`)
    await expect(connection.list()).rejects.toThrow('one cannot be reached: no licence for this host')
  })

  const trace = Array(2_000).fill({ className: 'io.Server', methodName: 'call', lineNumber: 1 })
  it.each([
    [
      'of Java',
      500,
      { cause: null, stackTrace: trace.slice(0, 900), jsonRpcError: { code: 1, message: 'unknown tool' } },
    ],
    ['of Java, in words twice', 400, { stackTrace: trace.slice(0, 9), message: 'unknown tool', localizedMessage: 'x' }],
    ['longer than what is read', 500, { message: 'unknown tool', stackTrace: [...trace, ...trace, ...trace] }],
    ['of FastAPI', 422, { detail: [{ loc: ['body'], msg: 'unknown tool', input: trace.slice(0, 99) }] }],
    ['of Spring', 500, { timestamp: 1, status: 500, error: 'unknown tool', message: '', trace: 'x'.repeat(9_000) }],
    ['of a gateway', 502, { Message: 'unknown tool' }],
    ['of Lambda', 500, { errorType: 'E', errorMessage: 'unknown tool', trace: ['x'.repeat(9_000)] }],
    ['in an envelope', 400, { jsonrpc: '2.0', error: { code: -32_602, message: 'unknown tool' } }],
  ])('that is an exception %s, without the protocol, is told by its words', async (_, status, body) => {
    const { call } = await started((asked) => (isCall(asked) ? send(asked, status, body) : undefined))
    await expect(call()).rejects.toThrow(new RegExp(`^one: it answers ${status}: unknown tool$`))
  })
})

/** Starts a program with one tool, which sends a message before each answer to a call. */
function program(before: object, refused = '') {
  const code = `
    let tools = [{ name: 'add', inputSchema: { type: 'object' } }]
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line)
      if (id === undefined) return
      if (method === 'tools/call') console.log(${JSON.stringify(JSON.stringify(before))})
      if (${refused !== ''}) {
        console.log(JSON.stringify({ jsonrpc: '2.0', id, error: ${refused || 'null'} }))
        process.exit(1)
      }
      const { protocolVersion } = params ?? {}
      const about = { protocolVersion, capabilities: {}, serverInfo: { name: 'p', version: '1' } }
      const result = { initialize: about, 'tools/list': { tools } }[method] ?? { content: [] }
      console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
      if (method === 'tools/call') tools = [{ name: 'other' }]
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

it('a server that asks people without end, while nobody can be asked, is two lines in the log for each call', async () => {
  const ASKS = 30
  const { call, log } = await started(
    (asked, { event, asked: all }) => {
      const { id, method } = asked.message
      if (isCall(asked)) {
        event(asked, { jsonrpc: '2.0', id: 'e0', method: 'elicitation/create', params: { message: 'who?' } })
        return true
      }
      const nth = /^e(\d+)$/.exec(String(id))?.[1]
      const one = all.findLast(isCall)
      if (method !== undefined || nth === undefined || one === undefined) return undefined
      const next = Number(nth) + 1
      if (next === ASKS) event(one, answerTo(one, text('went on')))
      else event(one, { jsonrpc: '2.0', id: `e${next}`, method: 'elicitation/create', params: { message: 'who?' } })
      return undefined
    },
    {},
    true,
  )
  for (const times of [1, 2]) {
    await call()
    const asks = log.lines.filter(({ sentence }) => sentence.startsWith('A tool server asked'))
    expect(asks).toHaveLength(2 * times)
    expect(asks.at(-1)?.fields).toEqual({ requests: ASKS })
  }
})
