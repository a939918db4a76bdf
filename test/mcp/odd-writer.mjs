// A tool server that answers rightly and writes its messages in the form that its first argument names.
import { createInterface } from 'node:readline'

const [, , form = 'plain'] = process.argv
const text = 'grüße — 你好'

const FORMS = {
  plain: (message) => `${JSON.stringify(message)}\n`,
  bom: (message) => `\uFEFF${JSON.stringify(message)}\r\n`,
  banner: (message) => `Starting server... ${JSON.stringify(message)}\n`,
  colours: (message) => `\u001b[32m${JSON.stringify(message)}\u001b[39m\n`,
  list: (message) => `${JSON.stringify([{ jsonrpc: '2.0', method: 'notifications/message', params: {} }, message])}\n`,
  'one-line': (message) =>
    `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/x' })}${JSON.stringify(message)}\n\n`,
  'laid-out': (message) => `${JSON.stringify(message, null, 2)}\n`,
  'laid-out-list': (message) => `${JSON.stringify([message], null, '\t')}\r\n`,
  'laid-out-after-torn': (message) => `{\n  "half": \n${JSON.stringify(message)}\n`,
  'text-ids': (message) => `${JSON.stringify({ ...message, id: String(message.id) })}\n`,
  'null-beside': (message) => `${JSON.stringify({ ...message, error: null })}\n`,
  unversioned: ({ jsonrpc: _, ...message }) => `${JSON.stringify(message)}\n`,
  'null-notices': (message) =>
    `${JSON.stringify({ jsonrpc: '2.0', id: null, method: 'notifications/message', params: null })}\n${JSON.stringify(message)}\n`,
  echoes: (message) => `received {"jsonrpc": "2.0", "id": "a", "method": "ping"}\n${JSON.stringify(message)}\n`,
}

/** Writes byte by byte, so that no character comes whole. */
async function inBytes(line) {
  for (const byte of Buffer.from(line)) await new Promise((done) => process.stdout.write(Buffer.of(byte), done))
}

const tools = [{ name: 'say', inputSchema: { type: 'object' } }]
const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'odd', version: '1' },
  }),
  'tools/list': () => ({ tools }),
  'tools/call': () => ({ content: [{ type: 'text', text }] }),
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params, error } = JSON.parse(line)
  if (error) return process.stderr.write(`refused ${error.code}\n`)
  if (id === undefined) return
  const message = { jsonrpc: '2.0', id, result: results[method](params) }
  if (form === 'bytes') await inBytes(FORMS.plain(message))
  else if (form === 'last-line' && method === 'tools/call') {
    process.stdout.write(JSON.stringify(message))
    process.stdout.end()
  } else process.stdout.write((FORMS[form] ?? FORMS.plain)(message))
})
