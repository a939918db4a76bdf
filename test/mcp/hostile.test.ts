import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import type { McpServer } from '../../src/core/mcp.ts'
import { createConnection } from '../../src/mcp/connection.ts'
import { createMcpTools } from '../../src/mcp/server-tools.ts'
import { toolContext } from '../agent/turns.ts'
import { AwaitedLog } from '../e2e/awaited-log.ts'
import { isRunning } from '../fakes/running.ts'

const HOSTILE = fileURLToPath(new URL('hostile-server.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'parley-hostile-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const never = new AbortController().signal
const record = (name: string): string => join(folder, name)
const lines = (name: string): string[] =>
  readFileSync(record(name), { encoding: 'utf8', flag: 'a+' }).trim().split('\n')

/** No wait of this clock ends by itself. */
const standing: Clock = { now: () => 0, elapsed: () => 0, after: () => () => undefined }
/** Every wait of this clock ends with the next turn. */
const hasty: Clock = {
  ...systemClock,
  after(_ms, callback) {
    const waiting = setImmediate(callback)
    return () => clearImmediate(waiting)
  },
}

interface Given {
  readonly clock?: Clock
  readonly startMs?: number
  readonly timeoutMs?: number
}

function deps({ clock = systemClock, startMs = 60_000 }: Given) {
  const fetchOf = () => () => Promise.reject(new Error('nothing is asked by HTTP'))
  const log = new AwaitedLog()
  return { log, deps: { clock, startMs, logger: log, fetchOf, version: '1' } }
}

function settings(how: string, { timeoutMs = 60_000 }: Given): McpServer {
  const at = { kind: 'program', command: process.execPath, args: [HOSTILE, how, record(how)], env: {} } as const
  return { name: 'one', at, inside: [], timeoutMs }
}

function server(how: string, given: Given = {}) {
  const { log, deps: ports } = deps(given)
  const connection = createConnection(settings(how, given), ports)
  onTestFinished(() => connection.close())
  return { connection, log }
}

const pidOf = (name: string, at = 0): number => Number(lines(name)[at]?.split(' ')[0])

describe('a tool server that floods', () => {
  const KINDS = ['lists', 'logs', 'progress', 'ids', 'noise', 'requests'].map((kind) => `storms-${kind}`)

  it.each(KINDS)('%s is held back, said once, and nobody else waits', async (how) => {
    const { connection, log } = server(how, { clock: standing, timeoutMs: 60_000 })
    const other = server('well')
    const call = connection.call('add', {}, { signal: never })
    await log.line('A tool server writes more than it is asked for, and is read slowly')
    const written = (): number =>
      lines(how)
        .slice(1)
        .reduce((sum, size) => sum + Number(size), 0)
    // As long as the clock stands, nothing more of it is read, whatever is done elsewhere.
    for (let calls = 0; calls < 50; calls++) await other.connection.call('add', { calls }, { signal: never })
    expect(written()).toBeLessThan(2_000_000)
    expect(await call).toMatchObject({ content: [{ text: 'done' }] })
    expect(log.lines.filter(({ sentence }) => sentence.includes('read slowly'))).toHaveLength(1)
    process.kill(pidOf(how), 'SIGKILL')
  })

  it('its own log is cut and held back', async () => {
    const { connection, log } = server('prints', { clock: standing })
    expect(await connection.call('add', {}, { signal: never })).toMatchObject({ content: [{ text: 'done' }] })
    await log.line('A tool server writes more than it is asked for, and is read slowly')
    const printed = log.lines.filter(({ sentence }) => sentence === 'A tool server printed')
    expect(printed.length).toBeLessThan(1_000)
    expect(printed.every(({ fields }) => String(fields.line).length <= 500)).toBe(true)
    process.kill(pidOf('prints'), 'SIGKILL')
  })
})

describe('a tool server that answers wrongly', () => {
  it('is believed for what was asked, and for the first answer', async () => {
    const { connection } = server('ids')
    expect(await connection.call('add', {}, { signal: never })).toMatchObject({ content: [{ text: 'first' }] })
    expect(await connection.call('add', {}, { signal: never })).toMatchObject({ content: [{ text: 'first' }] })
  })

  it('with half a message fails that call soon, and is asked again', async () => {
    const { connection } = server('torn')
    await expect(connection.call('add', {}, { signal: never })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/its answer is no JSON \(/),
    })
    expect((await connection.list()).tools).toHaveLength(2)
  })

  it('with its last word before it ends is heard', async () => {
    const { connection } = server('last-word')
    expect(JSON.stringify(await connection.call('add', {}, { signal: never }))).toContain('z'.repeat(500_000))
  })

  it('with schemas that no model could be given loses those tools alone', async () => {
    const { tools, leftOut } = await server('schemas').connection.list()
    expect(tools.map(({ name }) => name)).toEqual(['plain', 'recursive'])
    expect(leftOut).toEqual([
      'megabyte (its arguments are described at too great length)',
      'fetched (its arguments refer to another document)',
      'deep (its arguments are described at too great length)',
    ])
  })
})

describe('a tool server that hangs', () => {
  it.each(['never-starts', 'hangs-at-list'])('%s is unavailable in its time, and its program ends', async (how) => {
    const { connection, log } = server(how, { startMs: 1_000 })
    await expect(connection.list()).rejects.toMatchObject({ code: 'unavailable' })
    expect(log.lines.filter(({ sentence }) => sentence === 'A tool server cannot be reached')).toHaveLength(1)
    await expect.poll(() => lines(how)[0]).toMatch(/^\d+ /)
    await connection.close()
    await expect.poll(() => isRunning(pidOf(how))).toBe(false)
  })

  it('and ignores the end of its input and the word to end is ended all the same', async () => {
    const { connection } = server('stays', { clock: hasty })
    await connection.list()
    await connection.close()
    await expect.poll(() => isRunning(pidOf('stays'))).toBe(false)
  })

  it('ends with the programs that it has started', async () => {
    const { connection } = server('forks', { clock: hasty })
    await connection.list()
    const child = Number(
      lines('forks')
        .find((line) => line.endsWith('child'))
        ?.split(' ')[0],
    )
    expect(isRunning(child)).toBe(true)
    await connection.close()
    await expect.poll(() => isRunning(child)).toBe(false)
  })
})

it('a tool server that renames its tools keeps those that were first listed until the next start', async () => {
  const { deps: ports } = deps({})
  const made = () => createMcpTools([settings('renames', {})], { ...ports, namesOfPlace: async () => undefined })
  const names = async (one: ReturnType<typeof made>) => (await one.groups['mcp.one']?.())?.map(({ spec }) => spec.name)
  const one = made()
  onTestFinished(() => one.close())
  expect(await names(one)).toEqual(['one__tool1'])
  expect(await names(one)).toEqual(['one__tool1'])
})

it('a tool server that cannot be reached at first has its tools in a later turn', async () => {
  const late = record('late.mjs')
  const at = { kind: 'program', command: process.execPath, args: [late, 'well'], env: {} } as const
  const { deps: ports } = deps({})
  const made = createMcpTools([{ ...settings('well', {}), at }], { ...ports, namesOfPlace: async () => undefined })
  onTestFinished(() => made.close())
  expect(await made.groups['mcp.one']?.()).toEqual([])
  writeFileSync(late, `import ${JSON.stringify(pathToFileURL(HOSTILE).href)}`)
  await expect.poll(async () => (await made.groups['mcp.one']?.())?.length).toBe(2)
})

it('a result that its server calls an error is one for the model too', async () => {
  const { deps: ports } = deps({})
  const made = createMcpTools([settings('refuses', {})], { ...ports, namesOfPlace: async () => undefined })
  onTestFinished(() => made.close())
  const [tool] = (await made.groups['mcp.one']?.()) ?? []
  await expect(tool?.run({}, toolContext(0))).rejects.toMatchObject({ code: 'invalid', message: 'no such row' })
})
