import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { createConnection } from '../../src/mcp/connection.ts'
import { endMarked, markOfStart, markOfStore } from '../../src/mcp/marked-processes.ts'
import { AwaitedLog } from '../e2e/awaited-log.ts'
import { isRunning } from '../fakes/running.ts'

const LEAVING = fileURLToPath(new URL('leaving-server.mjs', import.meta.url))

/** Every wait of this clock ends with the next turn. */
const hasty: Clock = {
  ...systemClock,
  after(_ms, callback) {
    const waiting = setImmediate(callback)
    return () => clearImmediate(waiting)
  },
}

function place() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-left-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const record = join(folder, 'record')
  const lines = (): string[] => readFileSync(record, { encoding: 'utf8', flag: 'a+' }).split('\n')
  const pid = async (who: string): Promise<number> => {
    const find = () => lines().find((line) => line.endsWith(` ${who}`))
    await expect.poll(find, { timeout: 10_000 }).toBeDefined()
    return Number.parseInt(find() ?? '', 10)
  }
  return { folder, record, lines, pid }
}

function server(how: string, record: string, clock: Clock) {
  const at = { kind: 'program', command: process.execPath, args: [LEAVING, how, record], env: {} } as const
  const fetchOf = () => () => Promise.reject(new Error('nothing is asked by HTTP'))
  const ports = { clock, logger: new AwaitedLog(), fetchOf, version: '1', startMs: 60_000 }
  const connection = createConnection({ name: 'one', at, inside: [], timeoutMs: 60_000 }, ports)
  onTestFinished(() => connection.close())
  return connection
}

it.each(['well', 'deaf'])('a program in a session of its own ends with a tool server that ends %s', async (how) => {
  const { record, pid } = place()
  const connection = server(how, record, hasty)
  await connection.list()
  const [one, left] = [await pid('server'), await pid('left')]
  expect([isRunning(one), isRunning(left)]).toEqual([true, true])
  await connection.close()
  await expect.poll(() => [isRunning(one), isRunning(left)]).toEqual([false, false])
})

it('a program in a session of its own is asked to end before it is killed', async () => {
  const { record, lines, pid } = place()
  const connection = server('polite', record, systemClock)
  await connection.list()
  const left = await pid('left')
  await connection.close()
  await expect.poll(() => isRunning(left)).toBe(false)
  expect(lines()).toContain('asked to end')
})

it('a program ends with a tool server that forks it and exits', async () => {
  const { record, pid } = place()
  await expect(server('forks-away', record, hasty).list()).rejects.toMatchObject({ code: 'unavailable' })
  const left = await pid('left')
  await expect.poll(() => isRunning(left)).toBe(false)
})

it('processes of another start, or without a mark, are left alone', async () => {
  const [mine, other] = [markOfStart(), markOfStart()]
  const start = (env: NodeJS.ProcessEnv): ChildProcess => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { env, stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    return child
  }
  const [marked, longer, plain] = [
    start({ [mine.name]: mine.value }),
    start({ [mine.name]: `${mine.value}0`, [other.name.toLowerCase()]: mine.value }),
    start({}),
  ]
  await Promise.all([marked, longer, plain].map((child) => once(child, 'spawn')))
  expect(await endMarked(mine, systemClock)).toBe(1)
  expect([marked, longer, plain].map(({ pid = 0 }) => isRunning(pid))).toEqual([false, true, true])
})

it('two stores have two marks, and one has the same by all its paths', () => {
  const { folder } = place()
  for (const name of ['a', 'b']) writeFileSync(join(folder, name), '')
  expect(markOfStore(join(folder, 'a'))).toEqual(markOfStore(`${folder}/./a`))
  expect(markOfStore(join(folder, 'a'))).not.toEqual(markOfStore(join(folder, 'b')))
  expect(markOfStore(join(folder, 'none'))).toBeUndefined()
})
