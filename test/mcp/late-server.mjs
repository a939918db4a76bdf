// A tool server that prints, and speaks only once somebody lets it: a word on the port of its first argument.
import { connect } from 'node:net'
import { createInterface } from 'node:readline'

const [, , port] = process.argv
const lines = createInterface({ input: process.stdin })
const waiting = []
const keep = (line) => waiting.push(line)
lines.on('line', keep)
lines.on('close', () => process.exit())
process.stderr.write('downloading 14 packages\n')

const reply = ({ id, method, params = {} }) => {
  if (id === undefined) return
  const { protocolVersion } = params
  const results = {
    initialize: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'late', version: '1' } },
    'tools/list': { tools: [{ name: 'add', description: 'adds', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'added' }] },
  }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} })}\n`)
}

connect(Number(port), '127.0.0.1', function () {
  this.once('data', () => {
    lines.off('line', keep)
    lines.on('line', (line) => reply(JSON.parse(line)))
    for (const line of waiting) reply(JSON.parse(line))
  })
})
