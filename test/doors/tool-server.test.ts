import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { DOORS } from '../../src/core/doors.ts'
import type { McpServer } from '../../src/core/mcp.ts'
import { createConnection } from '../../src/mcp/connection.ts'
import { tornAnswer } from '../../src/mcp/lenient.ts'
import { readElicitation } from '../../src/mcp/read-elicitation.ts'
import { readTools } from '../../src/mcp/read-tools.ts'
import { resultContent } from '../../src/mcp/result-content.ts'
import { AwaitedLog } from '../e2e/awaited-log.ts'
import { isCall, never, started } from '../mcp/http-connection.ts'

const { bytes, values } = DOORS.toolServer
const HEAVY = fileURLToPath(new URL('heavy-server.mjs', import.meta.url))
const TOO_LARGE = { code: 'unavailable', message: expect.stringMatching(/^one: .*more than \d+ .*ask for less/) }

/** A line of a program: its middle is repeated. */
type Line = readonly [begin: string, middle: string, times: number, end: string]
const WELL: Line = ['{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"well"}]}}', '', 0, '']

function program(tools = '0') {
  const at = { kind: 'program', command: process.execPath, args: [HEAVY, tools], env: {} } as const
  const server: McpServer = { name: 'one', at, inside: [], timeoutMs: 60_000 }
  const fetchOf = () => () => Promise.reject(new Error('nothing is asked by HTTP'))
  const connection = createConnection(server, { clock: systemClock, logger: new AwaitedLog(), fetchOf, version: '1' })
  onTestFinished(() => connection.close())
  return { connection, call: (...lines: readonly Line[]) => connection.call('add', { lines }, { signal: never }) }
}

const keep = async (kept: Uint8Array) => ({ type: 'file', name: `${kept.length}` })
const contentOf = (result: unknown) => resultContent(result, keep as never)

describe('door toolServer: a program', () => {
  it.each<readonly [string, Line]>([
    ['too many values, behind its id', ['{"jsonrpc":"2.0","id":ID,"result":{"content":[', '{},', values, '{}]}}']],
    ['too many values, in front of its id', ['{"result":{"content":[', '{},', values, '{}]},"id":ID,"jsonrpc":"2.0"}']],
    ['too many values, without an id', ['{"result":{"content":[', '{},', values, '{}]},"jsonrpc":"2.0","x":"ID"}']],
    ['too many bytes', ['{"jsonrpc":"2.0","id":ID,"result":{"x":"', 'x', bytes, '"}}']],
    ['too many levels', ['{"jsonrpc":"2.0","id":ID,"result":{"x":', '[', 200_000, '}}']],
    ['a key for each value', ['{"jsonrpc":"2.0","id":ID,"result":{', '"k":1,', values, '"k":1}}']],
    ['an error of too many values', ['{"jsonrpc":"2.0","id":ID,"error":{"data":[', '0,', values, '0]}}']],
  ])('is refused an answer of %s alone, in words that say the bound', async (_name, line) => {
    const { connection, call } = program()
    await expect(call(line)).rejects.toMatchObject(TOO_LARGE)
    expect(await call(WELL)).toMatchObject({ content: [{ text: 'well' }] })
    expect(connection.state()).toMatchObject({ status: 'up' })
  })

  it.each<readonly [string, Line]>([
    ['a notification', ['{"jsonrpc":"2.0","method":"notifications/message","params":[', '0,', values, '0]}']],
    ['a question', ['{"jsonrpc":"2.0","id":"x","method":"elicitation/create","params":[', '0,', values, '0]}']],
    ['a table that is no message', ['a,b', ',', values, '']],
    ['a stray answer', ['{"jsonrpc":"2.0","id":999,"result":[', '0,', 1_000, '0]}']],
  ])('that writes %s of too many values is used all the same', async (_name, line) => {
    expect(await program().call(line, WELL)).toMatchObject({ content: [{ text: 'well' }] })
  })

  it('may answer with a text of nearly the bound', async () => {
    const text: Line = [
      '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"',
      'word ',
      3_900_000,
      '"}]}}',
    ]
    const [part] = await contentOf(await program().call(text))
    expect(part).toMatchObject({ type: 'text', text: expect.objectContaining({ length: 19_500_000 }) })
  })

  it('whose list has too many values is down, and says why', async () => {
    const { connection } = program(String(values))
    const message = expect.stringMatching(/^one cannot be reached: .*more than 100000 values/)
    await expect(connection.list()).rejects.toMatchObject({ code: 'unavailable', message })
  })
})

describe('door toolServer: an address', () => {
  const flood = `{"content":[${'{},'.repeat(1_300_000)}{}]}`

  it.each(['whole', 'as an event'])('is refused an answer of 4 MB of empty parts that comes %s', async (form) => {
    let calls = 0
    const { call, server } = await started((asked) => {
      if (!isCall(asked) || ++calls > 1) return undefined
      const message = `{"jsonrpc":"2.0","id":${asked.message.id},"result":${flood}}`
      const isWhole = form === 'whole'
      asked.response.writeHead(200, { 'content-type': isWhole ? 'application/json' : 'text/event-stream' })
      return asked.response.end(isWhole ? message : `data: ${message}\n\n`)
    })
    await expect(call()).rejects.toMatchObject(TOO_LARGE)
    await call()
    expect(server.asked.filter(({ message }) => message.method === 'initialize')).toHaveLength(1)
  })

  it('that sends a notification of 4 MB in the stream of a call is believed for its answer', async () => {
    const { call } = await started((asked) => {
      if (!isCall(asked)) return undefined
      asked.response.writeHead(200, { 'content-type': 'text/event-stream' })
      asked.response.write(`data: {"jsonrpc":"2.0","method":"notifications/message","params":${flood}}\n\n`)
      const answer = `{"jsonrpc":"2.0","id":${asked.message.id},"result":{"content":[]}}`
      return asked.response.end(`data: ${answer}\n\n`)
    })
    expect(await call()).toEqual({ content: [] })
  })

  it.each([
    ['a page of open marks', '<'.repeat(4_000_000)],
    ['an error of too many values', `{"error":{"data":[${'0,'.repeat(2_000_000)}0]}}`],
    ['an error whose words are megabytes', `{"error":{"message":"${'x'.repeat(4_000_000)}"}}`],
  ])('that refuses a call with %s is quoted in a line', async (_name, body) => {
    const { call } = await started((asked) => {
      if (!isCall(asked)) return undefined
      asked.response.writeHead(400, { 'content-type': 'text/html' })
      return asked.response.end(body)
    })
    const message = await call().catch((error: Error) => error.message)
    expect(message).toMatch(/^one: it answers 400/)
    expect(String(message).length).toBeLessThan(400)
  })
})

describe('door toolServer: a result', () => {
  it('that is torn is not read again for the words about it, where it is long', () => {
    const torn = (length: number) => tornAnswer(`{"jsonrpc":"2.0","id":1,"result":{"a":"${'x'.repeat(length)}`)?.error
    expect(torn(100)?.message).toMatch(/^its answer is no JSON \(.*Unterminated/)
    expect(torn(2_000_000)?.message).toBe('its answer is no JSON')
  })

  it('of 30,000 parts has the first fifty and a line about the others', async () => {
    let looked = 0
    const part = () => ({
      type: 'text',
      get text() {
        looked++
        return 'x'
      },
    })
    const content = await contentOf({ content: Array.from({ length: 30_000 }, part) })
    expect(content).toHaveLength(51)
    expect(content.at(-1)).toEqual({ type: 'text', text: '[29950 more parts were left out]' })
    expect(looked).toBeLessThanOrEqual(100)
  })

  it('with JSON of millions of values in a text is shown as it is, beside other values', async () => {
    const text = `[${'{},'.repeat(2_000_000)}{}]`
    const content = await contentOf({ content: [{ type: 'text', text }], structuredContent: { a: 1 } })
    expect(content).toEqual([
      { type: 'text', text },
      { type: 'text', text: '{"a":1}' },
    ])
  })

  it('of other fields shows two hundred of 90,000', async () => {
    const result = Object.fromEntries(Array.from({ length: 90_000 }, (_, at) => [`k${at}`, 1]))
    const [part] = await contentOf(result)
    const { text } = part as { readonly text: string }
    expect(Object.keys(JSON.parse(text))).toHaveLength(200)
  })
})

describe('door toolServer: a list and a question', () => {
  const settings: McpServer = {
    ...{ name: 'one', inside: [], timeoutMs: 1 },
    at: { kind: 'address', url: 'http://127.0.0.1:1/', headers: {} },
  }

  it('of 10,000 tools is looked at up to the hundred and fiftieth', async () => {
    let looked = 0
    const tool = (at: number) => ({
      name: `t${at}`,
      get inputSchema() {
        looked++
        return 'no schema'
      },
    })
    const { tools, leftOut } = await readTools(
      settings,
      Array.from({ length: 10_000 }, (_, at) => tool(at)),
    )
    expect(tools).toHaveLength(0)
    expect(leftOut).toHaveLength(10_000)
    expect(looked).toBe(150)
  })

  it('of a schema with more parts than an offer has leaves that tool out', async () => {
    const properties = Object.fromEntries(Array.from({ length: 2_500 }, (_, at) => [`p${at}`, { type: 'string' }]))
    const { leftOut } = await readTools(settings, [{ name: 'wide', inputSchema: { type: 'object', properties } }])
    expect(leftOut).toEqual(['wide (its arguments are described at too great length)'])
  })

  it('of 90,000 fields is put to nobody', () => {
    const properties = Object.fromEntries(Array.from({ length: 90_000 }, (_, at) => [`k${at}`, { type: 'string' }]))
    const form = { message: 'a', requestedSchema: { type: 'object', properties } }
    expect(readElicitation(form)).toBe('its form is too large')
  })
})
