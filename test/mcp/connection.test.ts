import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { McpServer } from '../../src/core/mcp.ts'
import { createConnection } from '../../src/mcp/connection.ts'
import { AwaitedLog } from '../e2e/awaited-log.ts'
import { isRunning } from '../fakes/running.ts'

const HOSTILE = fileURLToPath(new URL('hostile-server.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'parley-mcp-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const never = new AbortController().signal

/** Starts a program as a tool server; `args` are those of the hostile one without a command of their own. */
function server(args: readonly string[], more: Partial<McpServer> = {}, elicits = false, clock = systemClock) {
  const settings: McpServer = {
    name: 'one',
    at: { kind: 'program', command: process.execPath, args: [HOSTILE, ...args], env: {} },
    inside: [],
    timeoutMs: 5_000,
    ...more,
  }
  const log = new AwaitedLog()
  const fetchOf = () => () => Promise.reject(new Error('nothing is asked by HTTP'))
  const connection = createConnection(settings, { clock, logger: log, fetchOf, version: '1', elicits })
  onTestFinished(() => connection.close())
  return { connection, log }
}

const names = async ({ connection }: ReturnType<typeof server>): Promise<string[]> =>
  (await connection.list()).tools.map(({ spec }) => spec.name)

describe('a tool server', () => {
  it('lists its tools by names that say whose they are, and answers', async () => {
    const one = server(['well'])
    expect(one.connection.state()).toEqual({ status: 'unused' })
    expect(await names(one)).toEqual(['one__Slow_Tool', 'one__add'])
    expect(one.connection.state()).toEqual({ status: 'up', tools: 2 })
    expect(await one.connection.call('add', { a: 1 }, { signal: never })).toMatchObject({
      content: [{ text: 'add {"a":1}' }],
    })
  })

  it('offers the tools that are allowed alone', async () => {
    expect(await names(server(['well'], { tools: ['Slow*'] }))).toEqual(['one__Slow_Tool'])
    expect(await names(server(['well'], { tools: ['nothing'] }))).toEqual([])
  })

  it('F-J06: gets what the configuration names, and nothing else of the environment', async () => {
    const record = join(folder, 'env')
    process.env.PARLEY_TEST_TOKEN = 'hidden'
    onTestFinished(() => void delete process.env.PARLEY_TEST_TOKEN)
    const at = {
      kind: 'program',
      command: process.execPath,
      args: [HOSTILE, 'well', record],
      env: { GIVEN: 'yes' },
    } as const
    await names(server([], { at }))
    const env = JSON.parse(readFileSync(record, 'utf8').replace(/^\d+ /, '')) as Record<string, string>
    expect(env.GIVEN).toBe('yes')
    const needed = ['GIVEN', 'HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'PWD', 'OLDPWD', 'SHLVL', '_']
    needed.push('PARLEY_TOOL_SERVER')
    expect(Object.keys(env).filter((name) => !needed.includes(name))).toEqual([])
  })

  it('that lies about its schema loses those tools and keeps the others', async () => {
    const { tools, leftOut } = await server(['lies']).connection.list()
    expect(tools.map(({ spec }) => spec.name)).toEqual([
      ...['one__a_b', 'one__a_b_c8687a08', 'one__huge', 'one__whole', 'one__wordy'],
    ])
    const a = { type: 'string' }
    expect(tools[3]?.spec.parameters).toEqual({ type: 'object', properties: { a }, required: ['a'] })
    expect(tools[4]?.spec.description).toHaveLength(1_000)
    expect(leftOut).toEqual(['add (its arguments are no object)', 'a tool without a name', 'a tool without a name'])
  })

  it('that lists too many has the first hundred', async () => {
    const { tools, leftOut } = await server(['many']).connection.list()
    expect([tools.length, leftOut.length]).toEqual([100, 400])
  })

  it('that prints before it speaks is understood all the same', async () => {
    expect(await names(server(['noise']))).toHaveLength(2)
  })

  it('that hangs in a call is given up in its time, and is asked again', async () => {
    const one = server(['hangs'], { timeoutMs: 200 })
    await expect(one.connection.call('add', {}, { signal: never })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/^one: .*timed out/i),
    })
    expect(await names(one)).toHaveLength(2)
  })

  it('that dies in a call fails it, is said once in the log, and starts again after a wait', async () => {
    const one = server(['dies'])
    const { connection, log } = one
    await names(one)
    const call = connection.call('add', {}, { signal: never })
    await expect(call).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('one: node ended with code 3'),
    })
    await log.line('A tool server cannot be reached')
    await expect(connection.list()).rejects.toMatchObject({
      message: 'one cannot be reached; it is tried again in 1 s.',
    })
    await expect.poll(() => names(one).catch(() => [])).toHaveLength(2)
  })

  it.each(['exits', 'no such program'])('that does not start (%s) is unavailable, in the log once', async (how) => {
    const at = { kind: 'program', command: how === 'exits' ? process.execPath : '/no/such/program', env: {} } as const
    const { connection, log } = server([], { at: { ...at, args: [HOSTILE, how] } })
    await expect(connection.list()).rejects.toMatchObject({ code: 'unavailable' })
    await expect(connection.list()).rejects.toMatchObject({ code: 'unavailable' })
    expect(log.lines.filter(({ sentence }) => sentence === 'A tool server cannot be reached')).toHaveLength(1)
  })

  it('that died is started again after the same wait where the clock was set back meanwhile', async () => {
    let set = 0
    const one = server(['dies'], {}, false, { ...systemClock, now: () => systemClock.now() + set })
    await names(one)
    await expect(one.connection.call('add', {}, { signal: never })).rejects.toMatchObject({ code: 'unavailable' })
    await one.log.line('A tool server cannot be reached')
    set = -3_600_000
    await expect(one.connection.list()).rejects.toMatchObject({
      message: 'one cannot be reached; it is tried again in 1 s.',
    })
  })

  it('that floods ends its own connection, and the daemon goes on', async () => {
    const { connection } = server(['floods'])
    await expect(connection.call('add', {}, { signal: never })).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('that asks for a model is refused', async () => {
    const record = join(folder, 'samples')
    const { connection } = server(['samples', record])
    await connection.call('add', {}, { signal: never })
    await expect.poll(() => readFileSync(record, 'utf8')).toContain('"error"')
  })

  it('ends with its connection, also while it hangs', async () => {
    const record = join(folder, 'pid')
    const { connection } = server(['hangs', record])
    const call = connection.call('add', {}, { signal: never })
    await expect.poll(() => readFileSync(record, { encoding: 'utf8', flag: 'a+' })).toMatch(/^\d+ /)
    await Promise.all([connection.close(), expect(call).rejects.toThrow()])
    const pid = Number(readFileSync(record, 'utf8').split(' ')[0])
    await expect.poll(() => isRunning(pid)).toBe(false)
    await expect(connection.list()).rejects.toMatchObject({ message: 'one: the daemon is stopping.' })
  })
})

/** A server that asks what its calls say; `put` are the questions that reached a person, `told` why others did not. */
async function asker() {
  const record = join(folder, `asks-${++askers}`)
  const { connection } = server(['asks', record], {}, true)
  await connection.list()
  const put: unknown[] = []
  const told: string[] = []
  const asks = () => ({
    answer: async (params: unknown) => {
      put.push((params as { readonly message: string }).message)
      return { action: 'cancel' } as const
    },
    refuse: (why: string) => void told.push(why),
    notes: [],
  })
  const call = (message: string, more: object = {}, signal = never) =>
    connection.call('add', { questions: [{ ...question, message }], ...more }, { signal, asks })
  /** A call that is stopped while the server works on it. */
  const stopped = async (message: string, later: 'answered' | 'never') => {
    const stop = new AbortController()
    const begun = call(message, { later }, stop.signal)
    await expect.poll(() => readFileSync(record, 'utf8')).toContain('called')
    stop.abort()
    await expect(begun).rejects.toMatchObject({ code: 'aborted' })
  }
  return { call, stopped, put, told }
}

let askers = 0
const question = { message: 'who?', requestedSchema: { type: 'object', properties: {} } }

it('F-H07: what a server asks while several of its calls run is put to nobody, and each call is told', async () => {
  const { call, put, told } = await asker()
  const [asked] = await Promise.all([call('who?'), call('who?')])
  expect(JSON.stringify(asked)).toContain('cancel')
  expect(put.length).toBeLessThan(2)
  expect(told.length).toBeGreaterThanOrEqual(2)
  await call('and now?')
  expect(put.at(-1)).toBe('and now?')
})

describe('F-H07: what a server asks after its call was given up', () => {
  it('is not put to the person of the next call, whose own question is once the server has ended the old one', async () => {
    const { call, stopped, put, told } = await asker()
    await stopped('of the first', 'answered')
    await call('of the second')
    expect(put).toEqual(['of the second'])
    expect(told).toEqual(['it may be about a call that was given up'])
  })

  it('is not put to anybody either where the server never ends it: then the server is started anew', async () => {
    const { call, stopped, put, told } = await asker()
    await stopped('of the first', 'never')
    await call('of the second')
    expect(put).toEqual([])
    expect(told).toHaveLength(2)
    await call('of the third')
    expect(put).toEqual(['of the third'])
  })
})
