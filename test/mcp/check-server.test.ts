import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { McpProgram } from '../../src/core/mcp.ts'
import { checkServer } from '../../src/mcp/check-server.ts'

const HOSTILE = fileURLToPath(new URL('hostile-server.mjs', import.meta.url))
const fetchOf = () => () => Promise.reject(new Error('nothing is asked by HTTP'))

const redact = (text: string) => text.replaceAll('long-canary', '[secret]')

const check = (at: Partial<McpProgram>, startMs = 15_000) =>
  checkServer(
    {
      name: 'notes',
      at: { kind: 'program', command: process.execPath, args: [], env: {}, ...at },
      ...{ inside: [], timeoutMs: 1_000 },
    },
    { clock: systemClock, logger: silentLogger, fetchOf, version: '1', startMs, redact },
  )

test('a program that is not there is named with the remedy', async () => {
  await expect(check({ command: 'no-such-program-of-parley' })).rejects.toThrow(
    'notes cannot be reached: there is no program no-such-program-of-parley in PATH; install it, or write its whole path as command',
  )
  await expect(check({ folder: '/no/such/folder' })).rejects.toThrow('there is no folder /no/such/folder')
})

test('C29: a program that ends at once is shown with what it wrote last, without what it was given', async () => {
  const script = 'for (let n = 1; n < 31; n++) console.error("line", n); console.error("no", process.env.KEY)'
  const failed = check({ args: ['-e', script], env: { KEY: 'long-canary' } })
  await expect(failed).rejects.toThrow(
    /node ended with code 0 before it answered: no \[secret]\. It wrote:\n {2}line 12\n( {2}line \d\d\n){18} {2}no \[secret]$/,
  )
})

test('a program that does not answer is said to be late', async () => {
  const silent = check({ args: ['-e', 'process.stdin.resume()'] }, 500)
  await expect(silent).rejects.toThrow(
    'notes cannot be reached: it did not answer within 0.5 s; one that downloads itself',
  )
})

test('C29: a server that puts its key into the description of a tool shows it to no model and no operator', async () => {
  const at = { args: [HOSTILE, 'shows'], env: { KEY: 'long-canary' } }
  const { tools } = await check(at)
  expect(tools).toMatchObject([{ name: 'notes__shows', description: 'opens with [secret]' }])
})
