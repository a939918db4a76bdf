import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createConnection } from '../../src/mcp/connection.ts'
import { strictAnswer } from '../../src/mcp/lenient.ts'
import { AwaitedLog } from '../e2e/awaited-log.ts'

const ODD = fileURLToPath(new URL('odd-writer.mjs', import.meta.url))
const never = new AbortController().signal

function server(form: string) {
  const at = { kind: 'program', command: process.execPath, args: [ODD, form], env: { KEY: 'long-canary' } } as const
  const fetchOf = () => () => Promise.reject(new Error('nothing is asked by HTTP'))
  const log = new AwaitedLog()
  const ports = { clock: systemClock, logger: log, fetchOf, version: '1', startMs: 20_000 }
  const connection = createConnection({ name: 'one', at, inside: [], timeoutMs: 20_000 }, ports)
  onTestFinished(() => connection.close())
  return { connection, log }
}

describe('a tool server that writes its messages', () => {
  it.each([
    ...['plain', 'bom', 'banner', 'colours', 'list', 'one-line', 'laid-out', 'laid-out-list', 'laid-out-after-torn'],
    ...['text-ids', 'null-beside', 'unversioned', 'null-notices', 'echoes', 'bytes', 'last-line'],
  ])('%s is understood', async (form) => {
    const { connection } = server(form)
    expect((await connection.list()).tools.map(({ name }) => name)).toEqual(['say'])
    const result = await connection.call('say', {}, { signal: never })
    expect(result).toMatchObject({ content: [{ text: 'grüße — 你好' }] })
  })

  it('with a copy of what it is asked in its log is not taken for one that asks', async () => {
    const { connection, log } = server('echoes')
    await connection.list()
    await connection.call('say', {}, { signal: never })
    const printed = log.lines
      .filter(({ sentence }) => sentence === 'A tool server printed')
      .map(({ fields }) => fields.line)
    expect(printed.length).toBeGreaterThan(0)
    expect(printed.join()).not.toContain('refused')
  })
})

it.each([
  [{ error: null, result: { tools: [] } }, { result: { tools: [] } }],
  [{ result: null }, { result: {} }],
  [{ error: { message: 'no' } }, { error: { code: -32_603, message: 'no' } }],
  [{ error: { code: '7', reason: 'no' } }, { error: { code: -32_603, message: '{"code":"7","reason":"no"}' } }],
  [{ error: { code: -1, message: 'no', data: [1] } }, { error: { code: -1, message: 'no: [1]', data: [1] } }],
  [
    { error: { code: -1, message: 'Internal error', data: 'no milk' } },
    { error: { message: 'Internal error: no milk' } },
  ],
  [{ error: { code: -1, message: '', data: 'no milk' } }, { error: { message: 'no milk' } }],
  [
    { error: { code: -1, message: 'no milk', data: { detail: 'no milk' } } },
    { error: { message: '{"detail":"no milk"}' } },
  ],
  [{ error: { code: -5, message: ' ', data: null } }, { error: { message: 'error -5, without words' } }],
  [{ error: 'no' }, { error: { code: -32_603, message: 'no' } }],
  [{ result: [1] }, { result: { toolResult: [1] } }],
])('an answer %j is read as %j', (sent, read) => {
  expect(strictAnswer(7, sent)).toMatchObject({ jsonrpc: '2.0', id: 7, ...read })
})
