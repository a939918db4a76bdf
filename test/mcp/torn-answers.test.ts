import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createConnection } from '../../src/mcp/connection.ts'
import { AwaitedLog } from '../e2e/awaited-log.ts'
import { isCall, never, started } from './http-connection.ts'

/** Starts a program whose calls are answered with these bytes, in which ID stands for the id; a second call rightly. */
function program(answer: string | Buffer, extra = '') {
  const code = `
    const answer = Buffer.from('${Buffer.from(answer).toString('base64')}', 'base64').toString('latin1')
    let calls = 0
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line)
      if (id === undefined) return
      const { protocolVersion } = params ?? {}
      const about = { protocolVersion, capabilities: {}, serverInfo: { name: 'p', version: '1' } }
      const known = { initialize: about, 'tools/list': { tools: [] }, 'tools/call': { content: [{ type: 'text', text: 'right' }] } }
      const right = JSON.stringify({ jsonrpc: '2.0', id, result: known[method] }) + '\\n'
      ${extra}
      if (method !== 'tools/call' || calls++ > 0) return process.stdout.write(right)
      process.stdout.write(Buffer.from(answer.replaceAll('ID', id) + '\\n', 'latin1'))
    })`
  const at = { kind: 'program', command: process.execPath, args: ['-e', code], env: {} } as const
  const deps = { clock: systemClock, logger: new AwaitedLog(), fetchOf: () => globalThis.fetch, version: '1' }
  const connection = createConnection({ name: 'one', at, inside: [], timeoutMs: 50_000 }, deps)
  onTestFinished(() => connection.close())
  return () => connection.call('add', {}, { signal: never })
}

/** Starts a server by HTTP whose first call is answered with these bytes, in a stream that stays open or as a whole. */
async function byHttp(answer: string | Buffer, form: 'event' | 'body') {
  let calls = 0
  const { call } = await started(
    (asked) => {
      if (!isCall(asked) || calls++ > 0) return undefined
      const text = Buffer.from(answer).toString('latin1').replaceAll('ID', String(asked.message.id))
      const [type, written] = form === 'event' ? ['text/event-stream', `data: ${text}\n\n`] : ['application/json', text]
      asked.response.writeHead(200, { 'content-type': type }).write(Buffer.from(written, 'latin1'))
      return form === 'event' ? true : asked.response.end()
    },
    { timeoutMs: 50_000 },
  )
  return call
}

const result = (value: string): string => `{"jsonrpc": "2.0", "id": ID, "result": {"structuredContent": ${value}}}`
const notUtf8 = Buffer.concat([Buffer.from('"caf'), Buffer.of(0xe9), Buffer.from('"')])

const READ: readonly (readonly [string, string | Buffer, unknown])[] = [
  ['NaN', result('{"mean": NaN, "n": 0}'), { mean: null, n: 0 }],
  ['both infinities', result('[Infinity,-Infinity, -1]'), [null, null, -1]],
  [
    'NaN in texts beside NaN',
    result('{"a \\"NaN": "NaN, Infinity\\\\", "b":NaN}'),
    { 'a "NaN': 'NaN, Infinity\\', b: null },
  ],
  ['a mark of the byte order', `\uFEFF${result('1')}`, 1],
  [
    'bytes that are no UTF-8',
    Buffer.concat([Buffer.from(result('').slice(0, -2)), notUtf8, Buffer.from('}}')]),
    'caf\uFFFD',
  ],
]

const TORN: readonly (readonly [string, string])[] = [
  ['torn', '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"abc'],
  ['torn without an id', '{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"abc'],
  ['without its beginning', '"text":"abc"}]},"jsonrpc":"2.0","id":ID}'],
  ['with a trailing comma', '{"jsonrpc":"2.0","id":ID,"result":{"content":[],},}'],
  ['with single quotes', "{'jsonrpc': '2.0', 'id': ID, 'result': {'isError': False, 'content': None}}"],
  ['with undefined', '{"jsonrpc":"2.0","result":{"structuredContent":undefined},"id":ID}'],
  ['of names without quotes', '{ jsonrpc: "2.0", id: ID, result: { content: [] } }'],
]

describe('an answer with', () => {
  it.each(READ)('%s is read (program, event, body)', async (_, answer, structuredContent) => {
    for (const call of [program(answer), await byHttp(answer, 'event'), await byHttp(answer, 'body')]) {
      expect(await call()).toEqual({ structuredContent })
      expect(await call()).not.toHaveProperty('structuredContent')
    }
  })
})

describe('an answer that is no JSON:', () => {
  it.each(TORN)('%s fails its call soon in words, and the next is answered', async (_, answer) => {
    for (const call of [program(answer), await byHttp(answer, 'event')]) {
      await expect(call()).rejects.toThrow(/^one: its answer is no JSON \(.+\)$/)
      expect(await call()).toMatchObject({ content: [{ type: 'text' }] })
    }
    const whole = await byHttp(answer, 'body')
    await expect(whole()).rejects.toThrow('one: it answers 200 without the protocol, with application/json')
  })

  it.each([
    ['a log of what is sent', "Sending { jsonrpc: '2.0', id: ID, result: { content: [Array] } }"],
    ['a log of what has come', '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{…}}'],
    ['words', 'NaN results: {"id": ID'],
  ])('%s before the answer fails nothing', async (_, line) => {
    const call = program(line, `if (method === 'tools/call') setTimeout(() => process.stdout.write(right), 50)`)
    expect(await call()).toMatchObject({ content: [{ text: 'right' }] })
  })

  it('behind words the right answer is found whatever its first field', async () => {
    const call = program(`Done. {"id": ID, "result": {"structuredContent": NaN}, "jsonrpc": "2.0"}`)
    expect(await call()).toEqual({ structuredContent: null })
  })
})
