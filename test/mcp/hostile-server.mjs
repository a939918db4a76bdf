// A tool server that speaks raw JSON-RPC over its standard streams, and misbehaves as its first argument says.
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [, , how = 'well', record] = process.argv
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const tool = (name, more = {}) => ({ name, description: `does ${name}`, inputSchema: { type: 'object' }, ...more })
let lists = 0

if (record) appendFileSync(record, `${process.pid} ${JSON.stringify(process.env)}\n`)

const LISTS = {
  well: () => [tool('add'), tool('Slow.Tool')],
  lies: () => [
    tool('add', { inputSchema: { type: 'string' } }),
    tool('whole', {
      inputSchema: { type: 'object', anyOf: [{ required: ['a'] }], properties: { a: { type: 'string' } } },
    }),
    { name: 7 },
    null,
    tool('huge', { inputSchema: { type: 'object', properties: { a: { description: 'x'.repeat(50_000) } } } }),
    tool('wordy', { description: 'y'.repeat(5_000) }),
    tool('a b'),
    tool('a_b'),
  ],
  renames: () => [tool(`tool${++lists}`)],
  many: () => Array.from({ length: 500 }, (_, at) => tool(`t${String(at).padStart(3, '0')}`)),
}

function answer({ id, method, params }) {
  if (method === 'initialize') {
    if (how === 'never-starts') return
    const serverInfo = { name: 'hostile', version: '1' }
    return send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } })
  }
  if (method === 'tools/list') {
    if (how === 'hangs-at-list') return
    return send({ id, result: { tools: (LISTS[how] ?? LISTS.well)() } })
  }
  if (method === 'tools/call') return call(id, params)
  if (id !== undefined) send({ id, error: { code: -32601, message: 'no such method' } })
}

function call(id, { name, arguments: args }) {
  if (how === 'hangs') return
  if (how === 'dies') process.exit(3)
  if (how === 'floods') return void setInterval(() => process.stdout.write('x'.repeat(1_000_000)), 1)
  if (how === 'huge') return send({ id, result: { content: [{ type: 'text', text: 'z'.repeat(3_000_000) }] } })
  if (how === 'samples') {
    send({ id: 'mine', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } })
    return send({ id, result: { content: [{ type: 'text', text: 'asked' }] } })
  }
  if (how === 'refuses')
    return send({ id, result: { isError: true, content: [{ type: 'text', text: 'no such row' }] } })
  if (how === 'odd')
    return send({ id, result: { content: [null, { type: 'video' }, { type: 'text' }, { type: 'text', text: 'ok' }] } })
  const text = `${name} ${JSON.stringify(args)}`
  if (record) appendFileSync(record, `${text}\n`)
  return send({ id, result: { content: [{ type: 'text', text }] } })
}

if (how === 'noise') process.stdout.write('Welcome to the server!\n{"not": "rpc"}\n')
if (how === 'exits') process.exit(2)
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line)
  if (message.id === 'mine' && record) appendFileSync(record, `${line}\n`)
  else answer(message)
})
process.stderr.write(`started ${how}\n`)
