// A tool server over its standard streams that answers each call with the line that its arguments describe.
import { createInterface } from 'node:readline'

/** Tools without a name in the list. */
const [, , tools = '0'] = process.argv
const write = (line) => process.stdout.write(`${line}\n`)

function initialize(id, { protocolVersion }) {
  const result = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'heavy', version: '1' } }
  write(JSON.stringify({ jsonrpc: '2.0', id, result }))
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') initialize(id, params)
  const list = `[${'{},'.repeat(Number(tools))}{}]`
  if (method === 'tools/list') write(`{"jsonrpc":"2.0","id":${id},"result":{"tools":${list}}}`)
  if (method !== 'tools/call') return
  // `times` repeats the middle of each line; `ID` stands for the number of the call.
  for (const [begin, middle, times, end] of params.arguments.lines)
    write(`${begin}${middle.repeat(times)}${end}`.replace('ID', id))
})
