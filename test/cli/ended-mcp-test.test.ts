import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { isRunning } from '../fakes/running.ts'

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const LEAVING = fileURLToPath(new URL('../mcp/leaving-server.mjs', import.meta.url))

/** Runs `mcp test` of a server that never answers, until it has started a program in a session of its own. */
async function underWay(how: string): Promise<{ command: ChildProcess; pids: readonly number[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-mcp-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const record = join(folder, 'record')
  const config = join(folder, 'parley.yaml')
  const mcp = { one: { command: process.execPath, args: [LEAVING, how, record] } }
  writeFileSync(config, JSON.stringify({ http: {}, agents: [{ id: 'main', model: 'scripted/echo' }], tools: { mcp } }))
  const env = { ...process.env, XDG_STATE_HOME: folder }
  const command = spawn(process.execPath, [PROGRAM, 'mcp', 'test', 'one', '--config', config], { env, stdio: 'ignore' })
  onTestFinished(() => void command.kill('SIGKILL'))
  const started = () => [...readFileSync(record, { encoding: 'utf8', flag: 'a+' }).matchAll(/^\d+/gm)].map(Number)
  await expect.poll(started).toHaveLength(2)
  return { command, pids: started() }
}

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s ends mcp test with the programs of its server', async (name) => {
  const { command, pids } = await underWay('silent')
  expect(pids.map(isRunning)).toEqual([true, true])
  command.kill(name)
  expect(await once(command, 'exit')).toEqual([128 + constants.signals[name], null])
  await expect.poll(() => pids.map(isRunning)).toEqual([false, false])
})

it('a second Ctrl-C does not wait for a server that ignores its end, and leaves none of its programs', async () => {
  const { command, pids } = await underWay('silent+deaf')
  const ended = once(command, 'exit')
  command.kill('SIGINT')
  command.kill('SIGTERM')
  // The system hands out two signals that wait in an order of its own.
  const codes = [constants.signals.SIGINT, constants.signals.SIGTERM].map((signal) => 128 + signal)
  expect(codes).toContain((await ended)[0])
  await expect.poll(() => pids.map(isRunning)).toEqual([false, false])
})
