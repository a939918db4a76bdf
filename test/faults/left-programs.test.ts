import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { isRunning } from '../fakes/running.ts'
import { CASE } from './rounds.ts'
import { ADA, KILLED, startScene } from './scene.ts'

const LEAVING = fileURLToPath(new URL('../mcp/leaving-server.mjs', import.meta.url))

describe('a kill of the daemon', CASE, () => {
  it('leaves a tool server that ignores the end of its input until the next start, which ends it', async (test) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-left-'))
    test.onTestFinished(() => rmSync(folder, { recursive: true }))
    const record = join(folder, 'record')
    const at = { kind: 'program', command: process.execPath, args: [LEAVING, 'deaf', record], env: {} } as const
    const mcp = [{ name: 'deaf', at, inside: [], timeoutMs: 20_000 }]
    const scene = await startScene(test, { tools: ['mcp.deaf'], mcp })
    await scene.daemon.start()
    scene.telegram.world.say({ from: ADA, text: 'hello' })
    await scene.sent('hello')
    const pids = [...readFileSync(record, 'utf8').matchAll(/^\d+/gm)].map(Number)
    expect(pids.map(isRunning)).toEqual([true, true])
    expect(await scene.daemon.kill()).toEqual(KILLED)
    expect(pids.map(isRunning)).toEqual([true, true])
    await scene.daemon.start()
    await expect.poll(() => pids.map(isRunning)).toEqual([false, false])
    const told = /"Processes that tool servers of a killed daemon had left were ended","processes":2/
    expect(scene.daemon.logTail()).toMatch(told)
    await scene.finish()
  })
})
