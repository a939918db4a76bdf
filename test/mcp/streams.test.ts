import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import {
  type Answers,
  type Asked,
  answerTo,
  type HttpToolServer,
  resultOf,
  send,
  text,
} from '../fakes/http-tool-server.ts'
import { isCall, isGet, started } from './http-connection.ts'

const SLOW = 'A tool server writes more than it is asked for, and is read slowly'

describe('T42: the answer of a server in a stream', () => {
  it('counts when it is there, and the stream that stays open behind it is ended', async () => {
    const { server, call } = await started((asked, { event }) => {
      if (!isCall(asked)) return undefined
      event(asked, answerTo(asked, text('early')))
      return true
    })
    expect(await call()).toMatchObject(text('early') as object)
    await (await server.next(isCall)).closed
  })

  it('is resumed by its last event where the stream ends before it, as often as that ends, after the time it names', async () => {
    const begun: number[] = []
    const { server, call } = await started((asked, { event }) => {
      const last = asked.headers['last-event-id']
      if (!isCall(asked) && last === undefined) return undefined
      begun.push(performance.now())
      const next = Number(last ?? 0) + 1
      if (next === 4) event(asked, answerTo(call1(server), text('late')))
      else event(asked, '', { id: String(next), retry: 40 })
      asked.response.end()
      return true
    })
    expect(await call()).toMatchObject(text('late') as object)
    expect(server.asked.filter(isGet).map(({ headers }) => headers['last-event-id'])).toEqual(['1', '2', '3'])
    const waits = begun.slice(1).map((at, place) => at - (begun[place] ?? 0))
    expect(Math.min(...waits)).toBeGreaterThan(35)
    expect(server.asked.filter(isCall)).toHaveLength(1)
  })

  it('is resumed where the connection breaks off', async () => {
    const { server, call } = await started((asked, { event }) => {
      if (isCall(asked)) {
        event(asked, '', { id: 'a', retry: 10 })
        asked.response.once('drain', () => asked.response.destroy())
        setImmediate(() => asked.response.destroy())
        return true
      }
      if (asked.headers['last-event-id'] !== 'a') return undefined
      event(asked, answerTo(call1(server), text('again')))
      return true
    })
    expect(await call()).toMatchObject(text('again') as object)
  })

  it.each(['no id of an event', 'the stream is not offered again'])('fails at once where %s', async (how) => {
    const { call } = await started((asked, { event }) => {
      if (!isCall(asked)) return undefined
      event(asked, '', how === 'no id of an event' ? {} : { id: '1', retry: 5 })
      asked.response.end()
      return true
    })
    await expect(call()).rejects.toThrow(/^one: it ended its stream before it answered/)
  })

  const WRITTEN: readonly (readonly [string, (answer: string) => readonly string[]])[] = [
    ['lines that end in CRLF', (answer) => [`event: message\r\ndata: ${answer}\r\n\r\n`]],
    ['pieces that end between CR and LF', (answer) => [`event: message\r`, `\ndata: ${answer}\r`, '\n\r', '\n']],
    ['data of several lines', (answer) => [`data: ${answer.replace('"result"', '\ndata: "result"')}\n\n`]],
    ['comments and events without data before it', (answer) => [': ping\n\nid: 0\ndata:\n\n', `data: ${answer}\n\n`]],
    ['no empty line behind it', (answer) => [`data: ${answer}`]],
    ['an event of another name', (answer) => [`event: response\ndata: ${answer}\n\n`]],
    ['a mark at its beginning', (answer) => [`\uFEFFdata: ${answer}\n\n`]],
    ['the id as a text', (answer) => [`data: ${answer.replace(/"id":(\d+)/, '"id":"$1"')}\n\n`]],
    [
      'notifications and torn messages before it',
      (answer) => ['data: {"met\n\ndata: {"method":"x"}\n\n', `data: ${answer}\n\n`],
    ],
  ]
  it.each(WRITTEN)('is read with %s', async (_how, write) => {
    const { call } = await started(async (asked) => {
      if (!isCall(asked)) return undefined
      asked.response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
      for (const piece of write(JSON.stringify(answerTo(asked, text('zwölf 世界'))))) {
        await new Promise((resolve) => asked.response.write(piece, resolve))
      }
      asked.response.end()
      return true
    })
    expect(await call()).toMatchObject(text('zwölf 世界') as object)
  })

  it('is read where a proxy has packed it', async () => {
    const { call } = await started((asked) => {
      if (!isCall(asked)) return undefined
      asked.response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
      asked.response.end(gzipSync(`data: ${JSON.stringify(answerTo(asked, text('packed')))}\n\n`))
      return true
    })
    expect(await call()).toMatchObject(text('packed') as object)
  })

  it('is given up with its call: the stream is ended, and the server is told', async () => {
    const stop = new AbortController()
    const { server, call } = await started((asked, { event }) => {
      if (!isCall(asked)) return undefined
      event(asked, '', { id: '1' })
      return true
    })
    const given = call({ signal: stop.signal })
    const asked = await server.next(isCall)
    stop.abort()
    await expect(given).rejects.toMatchObject({ code: 'aborted' })
    await asked.closed
    const told = await server.next(({ message }) => message.method === 'notifications/cancelled')
    expect(told.message.params).toMatchObject({ requestId: asked.message.id })
    expect(server.asked.filter(isGet)).toEqual([])
  })

  it('is not what comes under the id of another request, also of one that was given up', async () => {
    const { server, call } = await started((asked, { event }) => {
      if (!isCall(asked)) return undefined
      if (asked.message.params?.arguments?.waits) return true
      event(asked, { ...answerTo(call1(server), text('of another')) })
      event(asked, { jsonrpc: '2.0', id: { toString: 1 }, result: {} })
      event(asked, answerTo(asked, text('mine')))
      return true
    })
    const stop = new AbortController()
    const first = call({ signal: stop.signal }, { waits: true })
    await server.next(isCall)
    stop.abort()
    await expect(first).rejects.toMatchObject({ code: 'aborted' })
    expect(await call()).toMatchObject(text('mine') as object)
  })

  it('is read as fast as it comes, however long it is', async () => {
    const long = 'x'.repeat(5_000_000)
    const { call, log } = await started((asked, { event }) => {
      if (!isCall(asked)) return undefined
      event(asked, answerTo(asked, text(long)))
      return true
    })
    expect(JSON.stringify(await call()).length).toBeGreaterThan(5_000_000)
    expect(log.lines.map(({ sentence }) => sentence)).not.toContain(SLOW)
  })

  it('is waited for over streams that are open for a while and end without an event, as often as that is', async () => {
    let streams = 0
    const answers: Answers = (asked, server) => {
      const { event } = server
      if (isCall(asked)) {
        event(asked, '', { id: '1', retry: 10 })
        asked.response.end()
        return true
      }
      if (!isGet(asked)) return undefined
      asked.response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      if (++streams < 7) setTimeout(() => asked.response.end(), 1_050)
      else event(asked, answerTo(call1(server), text('late')))
      return true
    }
    const { call } = await started(answers, { timeoutMs: 60_000 })
    expect(await call()).toMatchObject(text('late') as object)
  }, 60_000)

  it('comes again where the stream ended within its event', async () => {
    const { server, call } = await started((asked, { event }) => {
      if (isCall(asked)) {
        event(asked, '', { id: 'whole', retry: 1 })
        asked.response.end('id: torn\ndata: {"jsonrpc":"2.0","id":')
        return true
      }
      if (!isGet(asked)) return undefined
      event(asked, answerTo(call1(server), text('again')))
      return true
    })
    expect(await call()).toMatchObject(text('again') as object)
    expect(server.asked.find(isGet)?.headers['last-event-id']).toBe('whole')
  })

  it.each([
    ['a page', (asked: Asked) => send(asked, 200, '<html>')],
    ['404', (asked: Asked) => send(asked, 404)],
    ['an empty stream each time', (asked: Asked) => send(asked, 200, '', { 'content-type': 'text/event-stream' })],
  ])(
    'fails where its resumption is answered with %s',
    async (_how, answer) => {
      const { server, call } = await started(
        (asked, { event }) => {
          if (isGet(asked)) return answer(asked)
          if (!isCall(asked)) return undefined
          event(asked, '', { id: '1', retry: 1 })
          asked.response.end()
          return true
        },
        { timeoutMs: 60_000 },
      )
      await expect(call()).rejects.toThrow('one: it ended its stream before it answered')
      expect(server.asked.filter(isGet).length).toBeLessThan(6)
    },
    60_000,
  )

  it('is resumed at once after an answer of 503, but not without an end', async () => {
    let refused = 0
    const { server, call } = await started((asked, { event }) => {
      if (isCall(asked)) {
        event(asked, '', { id: '1', retry: 1 })
        asked.response.end()
        return true
      }
      if (!isGet(asked)) return undefined
      if (++refused < 2) return send(asked, 503)
      event(asked, answerTo(call1(server), text('late')))
      return true
    })
    expect(await call()).toMatchObject(text('late') as object)
  })

  it('lets everything else have its turn in a flood of notifications', async () => {
    const { server, call, log } = await started((asked) => {
      if (!isCall(asked)) return undefined
      const notice = `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: {} })}\n\n`
      asked.response.writeHead(200, { 'content-type': 'text/event-stream' })
      asked.response.write(notice.repeat(6_000))
      return true
    })
    const called = call()
    await log.line('A tool server writes more than it is asked for, and is read slowly')
    const asked = await server.next(isCall)
    server.event(asked, answerTo(asked, text('behind')))
    expect(await called).toMatchObject(text('behind') as object)
  })
})

/** Returns the first call that a server was asked for. */
function call1({ asked }: HttpToolServer): Asked {
  const found = asked.find(isCall)
  if (found === undefined) throw new Error('no call')
  return found
}

describe('a server that does not know its session any more', () => {
  it.each([
    [404, { jsonrpc: '2.0', id: 'server-error', error: { code: -32_600, message: 'Session not found' } }],
    [404, 'gone'],
    [400, { jsonrpc: '2.0', id: null, error: { code: -32_000, message: 'Bad Request: No valid session ID provided' } }],
    [400, 'Bad Request: Server not initialized'],
    [400, 'Session abc has expired'],
  ])('with %s gets the call once more in a new session', async (status, body) => {
    let session = 1
    const { server, call } = await started((asked) => {
      if (asked.message.method === 'initialize')
        return send(asked, 200, answerTo(asked, resultOf(asked)), { 'mcp-session-id': `s${session}` })
      return isCall(asked) && asked.headers['mcp-session-id'] !== `s${session}` ? send(asked, status, body) : undefined
    })
    await call()
    session++
    expect(await call()).toMatchObject(text('add') as object)
    expect(server.asked.filter(isCall).map(({ headers }) => headers['mcp-session-id'])).toEqual(['s1', 's1', 's2'])
    const begun = server.asked.filter(({ message }) => message.method === 'initialize')
    expect(begun.map(({ headers }) => headers['mcp-session-id'])).toEqual([undefined, undefined])
  })

  it.each([
    'Session 550e8400-e29b-41d4-a716-446655440000 not found',
    'Session ID 550e8400e29b41d4a716446655440000 is invalid or has expired',
    'Could not find session',
    'Session closed',
    'No transport found for sessionId',
    'Unrecognized session',
    'sessionId not found',
  ])('in the words "%s" gets the call once more in a new session', async (words) => {
    let session = 1
    const { server, call } = await started((asked) => {
      if (asked.message.method === 'initialize')
        return send(asked, 200, answerTo(asked, resultOf(asked)), { 'mcp-session-id': `s${session}` })
      return isCall(asked) && asked.headers['mcp-session-id'] !== `s${session}` ? send(asked, 400, words) : undefined
    })
    await call()
    session++
    expect(await call()).toMatchObject(text('add') as object)
    expect(server.asked.filter(isCall)).toHaveLength(3)
  })

  it('in words that nobody knows loses one call, and the next one begins anew', async () => {
    let session = 1
    const { call } = await started((asked) => {
      if (asked.message.method === 'initialize')
        return send(asked, 200, answerTo(asked, resultOf(asked)), { 'mcp-session-id': `s${session}` })
      return isCall(asked) && asked.headers['mcp-session-id'] !== `s${session}`
        ? send(asked, 400, 'Die Session passt nicht')
        : undefined
    })
    await call()
    session++
    await expect(call()).rejects.toThrow('Die Session passt nicht')
    expect(await call()).toMatchObject(text('add') as object)
  })

  it('that says something else of a session has done the call, which is not made again', async () => {
    const { server, call } = await started((asked) => {
      if (asked.message.method === 'initialize')
        return send(asked, 200, answerTo(asked, resultOf(asked)), { 'mcp-session-id': 's' })
      return isCall(asked)
        ? send(asked, 400, 'Failed to initialize the printer; the session of the user is busy')
        : undefined
    })
    await expect(call()).rejects.toThrow('the session of the user is busy')
    expect(server.asked.filter(isCall)).toHaveLength(1)
  })

  it('is not begun anew for ever', async () => {
    const { server, call } = await started((asked) => {
      if (asked.message.method === 'initialize')
        return send(asked, 200, answerTo(asked, resultOf(asked)), { 'mcp-session-id': 's' })
      return isCall(asked) ? send(asked, 404, 'no') : undefined
    })
    await expect(call()).rejects.toThrow('one: it answers 404: no')
    expect(server.asked.filter(isCall)).toHaveLength(2)
  })

  it('without a session, 404 is an error', async () => {
    const { server, call } = await started((asked) =>
      isCall(asked) ? send(asked, 404, '<b>Not  found</b>') : undefined,
    )
    await expect(call()).rejects.toThrow('one: it answers 404: Not found')
    expect(server.asked.filter(isCall)).toHaveLength(1)
  })

  it('with 503 the call fails in words, and the next one begins anew', async () => {
    let broken = true
    const { server, call } = await started((asked) => {
      if (asked.message.method === 'initialize')
        return send(asked, 200, answerTo(asked, resultOf(asked)), { 'mcp-session-id': 's' })
      return isCall(asked) && broken ? send(asked, 503, { error: 'restarting' }) : undefined
    })
    await expect(call()).rejects.toThrow('one: it answers 503: restarting')
    broken = false
    await call()
    expect(server.asked.filter(({ message }) => message.method === 'initialize')).toHaveLength(2)
  })

  it('is told when the connection ends', async () => {
    const { server, connection, call } = await started((asked) =>
      asked.message.method === 'initialize'
        ? send(asked, 200, answerTo(asked, resultOf(asked)), { 'mcp-session-id': 's' })
        : undefined,
    )
    await call()
    await connection.close()
    expect(server.asked.at(-1)).toMatchObject({ verb: 'DELETE', headers: { 'mcp-session-id': 's', 'x-key': 'k' } })
  })
})

describe('a server by HTTP', () => {
  it.each([
    ['200 and null', 200, null, {}],
    ['200 and an empty body', 200, undefined, { 'content-type': 'application/json' }],
    ['202 and words', 202, 'Accepted', {}],
    ['204', 204, undefined, {}],
  ])('may answer a notification with %s', async (_how, status, body, headers) => {
    const { call } = await started((asked) =>
      asked.verb === 'POST' && asked.message.id === undefined ? send(asked, status, body, headers) : undefined,
    )
    expect(await call()).toMatchObject(text('add') as object)
  })

  it('may refuse notifications', async () => {
    const { call } = await started((asked) =>
      asked.verb === 'POST' && asked.message.id === undefined ? send(asked, 400, 'no id') : undefined,
    )
    expect(await call()).toMatchObject(text('add') as object)
  })

  it('is sent no call that was given up while its stream for questions was opened', async () => {
    const stop = new AbortController()
    const { server, connection, call } = await started((asked) => (isGet(asked) ? true : undefined), {}, true)
    await connection.list()
    await server.next(isGet)
    const given = call({ signal: stop.signal })
    stop.abort()
    await expect(given).rejects.toMatchObject({ code: 'aborted' })
    await call()
    expect(server.asked.filter(isCall)).toHaveLength(1)
  })

  it.each([
    ['404', (asked: Asked) => send(asked, 404)],
    ['400 and words', (asked: Asked) => send(asked, 400, 'No sessionId')],
    ['200 and JSON', (asked: Asked) => send(asked, 200, {})],
    ['200 and a page', (asked: Asked) => send(asked, 200, '<html>')],
    [
      'a stream in which nothing comes',
      (asked: Asked) => asked.response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders() ?? true,
    ],
    ['nothing at all', () => true],
  ])('that answers the wish to listen with %s is used all the same, and asked once', async (_how, answer) => {
    const { server, call } = await started((asked) => (isGet(asked) ? answer(asked) : undefined), {}, true)
    expect(await call()).toMatchObject(text('add') as object)
    await server.next(isGet)
    expect(await call()).toMatchObject(text('add') as object)
    expect(server.asked.filter(isGet)).toHaveLength(1)
  })

  it.each([307, 308, 301, 302])('that redirects %s to its own other path gets what was sent, there', async (status) => {
    const { server, call } = await started((asked) =>
      asked.path === '/mcp' ? send(asked, status, undefined, { location: '/mcp/' }) : undefined,
    )
    expect(await call()).toMatchObject(text('add') as object)
    const there = server.asked.filter(({ path }) => path === '/mcp/')
    expect(there.map(({ message }) => message.method)).toContain('tools/call')
    expect(there.every(({ verb, headers }) => verb === 'POST' && headers['x-key'] === 'k')).toBe(true)
  })

  it('that has done a call and redirects 303 to its result is not asked to do it again', async () => {
    const { server, call } = await started((asked) =>
      isCall(asked) ? send(asked, 303, undefined, { location: '/mcp/result' }) : undefined,
    )
    await expect(call()).rejects.toThrow('The server has done what it was asked')
    expect(server.asked.filter(isCall)).toHaveLength(1)
  })

  it('that answers a notification with a stream is not kept connected', async () => {
    const { server, connection } = await started((asked) =>
      asked.message.method === 'notifications/initialized'
        ? (asked.response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders() ?? true)
        : undefined,
    )
    await connection.list()
    await (await server.next(({ message }) => message.method === 'notifications/initialized')).closed
  })

  it('that wants to be asked again at once is no reason to do nothing else', async () => {
    const begun: number[] = []
    const { server } = await started(
      (asked, { event }) => {
        if (!isGet(asked)) return undefined
        begun.push(performance.now())
        event(asked, '', { retry: 1 })
        asked.response.end('retry: 0\n\n')
        return true
      },
      {},
      true,
    ).then(async (one) => ({ ...one, listed: await one.connection.list() }))
    await expect.poll(() => server.asked.filter(isGet).length, { timeout: 20_000 }).toBeGreaterThan(2)
    const waits = begun.slice(1).map((at, place) => at - (begun[place] ?? 0))
    expect(Math.min(...waits)).toBeGreaterThan(900)
  })

  it('that asks without end is answered ten questions at a time', async () => {
    const { server, call } = await started((asked, { event, asked: all }) => {
      const { id, method } = asked.message
      if (isCall(asked)) {
        for (let at = 0; at < 50; at++) event(asked, { jsonrpc: '2.0', id: `p${at}`, method: 'ping' })
        return true
      }
      if (method !== undefined || !String(id).startsWith('p')) return undefined
      // It takes none of the answers.
      const call = all.find(isCall)
      if (all.filter((one) => one.message.method === undefined && one.verb === 'POST').length === 10 && call)
        event(call, answerTo(call, text('went on')))
      return true
    })
    expect(await call()).toMatchObject(text('went on') as object)
    expect(server.asked.filter(({ message }) => String(message.id).startsWith('p'))).toHaveLength(10)
  })

  it('that redirects to another host gets nothing there, and the words name it', async () => {
    const { call } = await started((asked) => send(asked, 307, undefined, { location: 'https://example.com/mcp' }))
    await expect(call()).rejects.toThrow(
      'The server redirects to https://example.com/mcp, which is not followed. If that is its address',
    )
  })

  it.each([
    [
      'HTTP',
      (asked: Asked) =>
        send(asked, 400, 'Bad Request: Unsupported protocol version (supported versions: 2025-06-18, 2025-03-26)'),
    ],
    [
      'the protocol',
      (asked: Asked) =>
        send(asked, 200, {
          jsonrpc: '2.0',
          id: asked.message.id,
          error: {
            code: -32_602,
            message: 'Unsupported protocol version',
            data: { supported: ['2025-06-18', '2024-11-05'], requested: '2025-11-25' },
          },
        }),
    ],
  ])('that refuses the newest version by %s is asked with one that it names', async (_how, refuse) => {
    const { server, call } = await started((asked) =>
      asked.message.params?.protocolVersion === '2025-11-25' ? refuse(asked) : undefined,
    )
    expect(await call()).toMatchObject(text('add') as object)
    expect((await server.next(isCall)).headers['mcp-protocol-version']).toBe('2025-06-18')
  })

  it.each([
    { capabilities: { tools: [{}] } },
    { capabilities: {}, serverInfo: undefined },
    { capabilities: null, serverInfo: { name: 'x' } },
    { instructions: 7 },
  ])('may describe itself as %j', async (wrong) => {
    const { connection } = await started((asked) =>
      asked.message.method === 'initialize'
        ? send(asked, 200, answerTo(asked, { ...(resultOf(asked) as object), ...wrong }))
        : undefined,
    )
    expect((await connection.list()).tools).toHaveLength(1)
  })

  it.each([
    ['a page', '<html>Sign in</html>', 'one: it answers 200 without the protocol, with text/plain: Sign in'],
    ['nothing', undefined, 'one: it answers 200 without the protocol, with nothing'],
  ])('that answers a call with %s fails in words', async (_how, body, words) => {
    const { call } = await started((asked) => (isCall(asked) ? send(asked, 200, body) : undefined))
    await expect(call()).rejects.toThrow(words)
  })

  it('may answer with a list of messages, and an error without an id', async () => {
    const { call } = await started((asked) => {
      if (!isCall(asked)) return undefined
      return asked.message.params?.arguments?.fails
        ? send(asked, 200, { jsonrpc: '2.0', id: null, error: { code: -32_000, message: 'no milk' } })
        : send(asked, 200, [{ jsonrpc: '2.0', method: 'notifications/x' }, answerTo(asked, text('one of a list'))])
    })
    expect(await call()).toMatchObject(text('one of a list') as object)
    await expect(call({}, { fails: true })).rejects.toThrow('one: no milk')
  })

  it('that wants a person to open an address says so, with the address', async () => {
    const elicitations = [{ mode: 'url', elicitationId: 'e', message: 'Please pay', url: 'https://pay.example/1' }]
    const { call } = await started((asked) =>
      isCall(asked)
        ? send(asked, 200, {
            jsonrpc: '2.0',
            id: asked.message.id,
            error: { code: -32_042, message: 'x', data: { elicitations } },
          })
        : undefined,
    )
    await expect(call()).rejects.toThrow('Please pay https://pay.example/1')
  })
})

describe('an answer that is accepted first', () => {
  /** Accepts each request, and answers in the stream beside, which is opened late. */
  const beside = (late: (listen: () => void) => void): Answers => {
    let listening: Asked | undefined
    const waiting: object[] = []
    return (asked, { event }) => {
      if (isGet(asked)) {
        late(() => {
          listening = asked
          for (const answer of waiting.splice(0)) event(asked, answer)
        })
        return true
      }
      const { id, method } = asked.message
      if (id === undefined || method === undefined) return undefined
      const answer = answerTo(asked, resultOf(asked))
      if (listening === undefined) waiting.push(answer)
      else event(listening, answer)
      return send(asked, 202, 'Accepted')
    }
  }

  it.each([
    ['at once', (listen: () => void) => listen()],
    ['later', (listen: () => void) => void setTimeout(listen, 50)],
  ])('is read from the stream beside, which is opened for it and answers %s', async (_how, late) => {
    const { server, connection, call } = await started(beside(late))
    expect((await connection.list()).tools).toHaveLength(1)
    expect(await call()).toMatchObject(text('add') as object)
    expect(server.asked.filter(isGet)).toHaveLength(1)
  })

  it('fails at once where there is no such stream', async () => {
    const { call } = await started((asked) => (isCall(asked) ? send(asked, 202, 'Accepted') : undefined))
    await expect(call()).rejects.toThrow('one: it answers 202 without the protocol, with nothing')
  })
})
