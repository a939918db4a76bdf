// A tool server whose text stands where its first argument says; `write` leaves a line in the file of the third. It
// speaks over its standard streams, or, with a fourth argument, by HTTP on a port that it prints.
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'

const [, , where, text, file, http] = process.argv
let send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const at = (place) => (where === place ? text : place)

const RESULTS = {
  result: { content: [{ type: 'text', text }] },
  error: { isError: true, content: [{ type: 'text', text }] },
  resource: { content: [{ type: 'resource', resource: { uri: 'note://1', mimeType: 'text/plain', text } }] },
  link: { content: [{ type: 'resource_link', uri: 'note://1', name: text }] },
  structure: { content: [], structuredContent: { note: text } },
}

function answer({ id, method, params }) {
  if (method === 'initialize') {
    const serverInfo = { name: at('name'), version: '1' }
    const result = { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo }
    return send({ id, result: { ...result, instructions: at('instructions') } })
  }
  if (method === 'tools/list') {
    const properties = { page: { type: 'string', description: at('schema') } }
    const inputSchema = { type: 'object', properties }
    const tool = (name, description) => ({ name, description, inputSchema, annotations: { title: at('title') } })
    return send({ id, result: { tools: [tool('read', at('description')), tool('write', 'writes')] } })
  }
  if (method === 'tools/call' && params.name === 'write') appendFileSync(file, 'written\n')
  if (method === 'tools/call' && where === 'refusal') return send({ id, error: { code: -32000, message: text } })
  if (method === 'tools/call')
    return send({ id, result: RESULTS[where] ?? { content: [{ type: 'text', text: 'nothing' }] } })
  if (id !== undefined) send({ id, error: { code: -32601, message: 'no such method' } })
}

function listen() {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end()
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const message = JSON.parse(Buffer.concat(chunks).toString())
    if (message.id === undefined) return response.writeHead(202).end()
    send = (said) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', ...said }))
    answer(message)
  })
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
}

if (http) listen()
else createInterface({ input: process.stdin }).on('line', (line) => answer(JSON.parse(line)))
