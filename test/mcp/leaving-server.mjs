// A tool server that starts a program in a session of its own, and ends as its first argument says: words with `+` between.
import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [, , how, record] = process.argv
const is = (word) => how.split('+').includes(word)
const stubborn = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1e6)'
const polite = `process.on("SIGTERM", () => { require("fs").appendFileSync(${JSON.stringify(record)}, "asked to end\\n"); process.exit() }); setInterval(() => {}, 1e6)`
const ready = 'process.stdout.write("ready"); '

const left = spawn(process.execPath, ['-e', `${is('polite') ? polite : stubborn}; ${ready}`], {
  detached: true,
  stdio: ['ignore', 'pipe', 'ignore'],
})
left.stdout.once('data', () => {
  appendFileSync(record, `${process.pid} server\n${left.pid} left\n`)
  if (is('deaf')) {
    process.on('SIGTERM', () => {})
    setInterval(() => {}, 1_000_000)
  }
  if (is('forks-away')) process.exit(0)
  serve()
})
left.unref()

function serve() {
  const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const lines = createInterface({ input: process.stdin })
  lines.on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    const serverInfo = { name: 'leaving', version: '1' }
    if (is('silent')) return
    if (method === 'initialize')
      send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } })
    else if (method === 'tools/list') send({ id, result: { tools: [] } })
  })
  lines.on('close', () => !is('deaf') && process.exit(0))
}
