// An example of a tool server: a shopping list, in a file beside it or in the one that its first argument names. The demo
// uses it too. It needs the libraries of the checkout, so that it is not copied: with its whole path under `tools.mcp`,
// shopping: { command: node, args: [/path/of/parley/config/tool-servers/shopping-list.mjs], inside: [show_list] }
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import * as z from 'zod'

const file = process.argv[2] ?? fileURLToPath(new URL('shopping-list.txt', import.meta.url))
const server = new McpServer({ name: 'shopping-list', version: '1.0.0' })
const text = (words) => ({ content: [{ type: 'text', text: words }] })

server.registerTool('show_list', { description: 'Shows what is on the shopping list.' }, () => {
  const list = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  return text(list === '' ? 'The list is empty.' : `On the list:\n${list}`)
})

server.registerTool(
  'add_to_list',
  { description: 'Puts something on the shopping list.', inputSchema: { item: z.string().min(1).max(100) } },
  ({ item }) => {
    appendFileSync(file, `${item.replaceAll('\n', ' ')}\n`)
    return text(`${item} is on the list.`)
  },
)

await server.connect(new StdioServerTransport())
