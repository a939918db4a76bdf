// A tool server that speaks raw JSON-RPC over its standard streams, and misbehaves as its first argument says.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [, , how = 'well', record] = process.argv
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const tool = (name, more = {}) => ({ name, description: `does ${name}`, inputSchema: { type: 'object' }, ...more })
let lists = 0
let questions = 0
const waiting = new Map()

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
  schemas: () => [
    tool('plain'),
    tool('megabyte', { inputSchema: { type: 'object', properties: { a: { enum: ['x'.repeat(1_000_000)] } } } }),
    tool('recursive', {
      inputSchema: {
        type: 'object',
        properties: { tree: { $ref: '#/$defs/node' } },
        $defs: { node: { type: 'object', properties: { below: { type: 'array', items: { $ref: '#/$defs/node' } } } } },
      },
    }),
    tool('fetched', { inputSchema: { type: 'object', properties: { a: { $ref: 'http://169.254.169.254/schema' } } } }),
    'DEEP',
  ],
  quaint: () => [
    tool('query', {
      inputSchema: {
        properties: {
          $filter: { type: 'string' },
          ['x'.repeat(65)]: { type: 'array' },
          rows: {
            type: 'array',
            items: [{ properties: { '@id': { type: ['integer', 'null'] }, tags: { type: 'array' } } }],
          },
          scale: { enum: ['css', 'device'], default: 'css' },
          pattern: { type: 'string', pattern: '\\S', maxLength: 65_536, format: 'x' },
          count: { type: 'int', exclusiveMinimum: true },
          free: { type: 'object', properties: [] },
        },
        required: ['scale', 'free'],
        additionalProperties: false,
      },
    }),
    tool('either', {
      inputSchema: { anyOf: [{ $ref: '#/definitions/a' }, { type: 'null' }], definitions: { a: { type: 'dict' } } },
    }),
    tool('lax', { inputSchema: {} }),
    { name: 'bare' },
    tool('fetched', { inputSchema: { properties: { a: { $ref: 'http://169.254.169.254/schema' } } } }),
  ],
  shows: () => [tool('shows', { description: `opens with ${process.env.KEY}` })],
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
    const text = JSON.stringify({ jsonrpc: '2.0', id, result: { tools: (LISTS[how] ?? LISTS.well)() } })
    // Deeper than any schema is read.
    const deep = `{"name":"deep","inputSchema":{"type":"object","x":${'['.repeat(900)}${']'.repeat(900)}}}`
    return process.stdout.write(`${text.replace('"DEEP"', deep)}\n`)
  }
  if (method === 'tools/call') return call(id, params)
  if (id !== undefined) send({ id, error: { code: -32601, message: 'no such method' } })
}

/** Writes without end, as fast as it is read, and records how much that was. */
async function storm(stream, line, id) {
  const block = line.repeat(Math.ceil(64_000 / line.length))
  // Behind a little of it: what is read at once, before the reading is held back, is not more than one block.
  stream.write(line.repeat(10))
  if (id !== undefined) send({ id, result: { content: [{ type: 'text', text: 'done' }] } })
  for (;;) {
    if (record) appendFileSync(record, `${block.length}\n`)
    if (!stream.write(block)) await once(stream, 'drain')
  }
}

const notice = (method, params) => `${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`
const STORMS = {
  'storms-lists': notice('notifications/tools/list_changed'),
  'storms-logs': notice('notifications/message', { level: 'info', data: 'x'.repeat(200) }),
  'storms-progress': notice('notifications/progress', { progressToken: 0, progress: 1 }),
  'storms-ids': `${JSON.stringify({ jsonrpc: '2.0', id: 999, result: {} })}\n`,
  'storms-noise': 'neither this nor that\n',
  'storms-requests': `${JSON.stringify({ jsonrpc: '2.0', id: 'yours', method: 'roots/list' })}\n`,
}

function call(id, { name, arguments: args }) {
  if (STORMS[how]) return void storm(process.stdout, STORMS[how], id)
  if (how === 'prints') return void storm(process.stderr, `${'p'.repeat(2_000)}\n`, id)
  if (how === 'torn') return process.stdout.write(`{"jsonrpc": "2.0", "id": ${id}, "result": {"content\n`)
  if (how === 'ids') return answerOthersToo(id)
  if (how === 'last-word') return answerAndEnd(id)
  if (how === 'hangs') return
  if (how === 'dies') process.exit(3)
  if (how === 'floods') return void setInterval(() => process.stdout.write('x'.repeat(1_000_000)), 1)
  if (how === 'huge') return send({ id, result: { content: [{ type: 'text', text: 'z'.repeat(3_000_000) }] } })
  if (how === 'samples') {
    send({ id: 'mine', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } })
    return send({ id, result: { content: [{ type: 'text', text: 'asked' }] } })
  }
  if (how === 'asks')
    return void ask(args).then((answers) => answers && send({ id, result: said(JSON.stringify(answers)) }))
  if (how === 'refuses')
    return send({ id, result: { isError: true, content: [{ type: 'text', text: 'no such row' }] } })
  if (how === 'odd')
    return send({ id, result: { content: [null, { type: 'video' }, { type: 'text' }, { type: 'text', text: 'ok' }] } })
  const text = `${name} ${JSON.stringify(args)}`
  if (record) appendFileSync(record, `${text}\n`)
  return send({ id, result: { content: [{ type: 'text', text }] } })
}

function answerOthersToo(id) {
  for (const other of [id + 1, `${id + 1}`, ` ${id}`, null, {}, -1]) send({ id: other, result: said('wrong') })
  send({ id, result: said('first') })
  return send({ id, result: said('second') })
}

function answerAndEnd(id) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: said('z'.repeat(500_000)) })}\n`)
  return process.stdout.end(() => process.exit(0))
}

const said = (text) => ({ content: [{ type: 'text', text }] })

let overdue = async () => {}

/** Asks what the arguments say, `at once` or one after the other, and returns the answers. */
async function ask({ questions: asked = [], atOnce = false, waits = true, later }) {
  if (later !== undefined) return askDuringNext(asked, later)
  const before = overdue
  overdue = async () => {}
  await before()
  const all = []
  for (const params of asked) {
    const id = `ask-${++questions}`
    const answer = new Promise((resolve) => waiting.set(id, resolve))
    send({ id, method: 'elicitation/create', params })
    all.push(atOnce || !waits ? answer : await answer)
  }
  return waits ? Promise.all(all) : 'went on'
}

/** Asks only while the next call runs; that it is answered then is up to `later`. */
async function askDuringNext(asked, later) {
  let done
  if (record) appendFileSync(record, 'called\n')
  const all = await new Promise((resolve) => {
    overdue = () => {
      resolve(ask({ questions: asked }))
      return new Promise((end) => {
        done = end
      })
    }
  })
  setImmediate(done)
  return later === 'answered' ? all : undefined
}

if (how === 'noise') process.stdout.write('Welcome to the server!\n{"not": "rpc"}\n')
if (how === 'stays' || how === 'forks') {
  process.on('SIGTERM', () => {})
  setInterval(() => {}, 1_000_000)
}
if (how === 'forks') {
  const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1e6)'], {
    stdio: 'ignore',
  })
  appendFileSync(record, `${child.pid} child\n`)
}
if (how === 'exits') process.exit(2)
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line)
  if (waiting.has(message.id)) waiting.get(message.id)(message.result ?? { error: message.error.message })
  else if (message.id === 'mine' && record) appendFileSync(record, `${line}\n`)
  else answer(message)
})
process.stderr.write(`started ${how}\n`)
