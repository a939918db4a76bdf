import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { runCommand } from '../../src/hooks/run-command.ts'
import { steppedClock } from '../delivery/stepped-clock.ts'
import { isRunning } from '../fakes/running.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

const env = { PATH: process.env.PATH ?? '' }
const never = new AbortController().signal

const shell = (code: string, folder = '/', clock = systemClock) =>
  runCommand({ kind: 'command', command: 'sh', args: ['-c', code], env, folder }, '{}', { clock, signal: never })

const run = (script: string, signal = never, folder = tempFolder()) =>
  runCommand({ kind: 'command', command: process.execPath, args: ['-e', script], env: {}, folder }, 'in', {
    clock: systemClock,
    signal,
  })

const pipes = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'PipeWrap').length

it('R8: the answer of a program counts though it left another behind, which ends with it', async () => {
  const folder = tempFolder()
  // No clock is waited for: what is left behind ends at once.
  expect(await shell('sleep 600 & echo $! > pid; echo "{}"', folder, steppedClock())).toBe('{}\n')
  const left = Number(readFileSync(join(folder, 'pid'), 'utf8'))
  await expect.poll(() => isRunning(left)).toBe(false)
})

it('R8: a program that cannot be ended and holds the output costs no call its answer, and no descriptor', async (test) => {
  test.skip(process.platform !== 'linux', 'setsid is a program of Linux')
  const before = pipes()
  const folder = tempFolder()
  const left = 'setsid sh -c "echo \\$\\$ > away; exec sleep 600" & until [ -s away ]; do sleep 0.01; done'
  const clock = steppedClock()
  const answer = shell(`${left}; echo "{}"`, folder, clock)
  await expect.poll(() => clock.nextDue()).toBeLessThan(Number.POSITIVE_INFINITY)
  await expect
    .poll(() => (isRunning(Number(readFileSync(join(folder, 'away'), 'utf8'))) ? 'alive' : 'ended'))
    .toBe('alive')
  clock.moveTo(clock.nextDue())
  expect(await answer).toBe('{}\n')
  await expect.poll(pipes).toBe(before)
  process.kill(Number(readFileSync(join(folder, 'away'), 'utf8')))
})

it('R8: a program that floods its standard error is ended', async () => {
  await expect(shell('yes >&2')).rejects.toThrow('it complained at more than 1048576 bytes')
})

it('R8: a program that prints more than 256 KiB has answered nothing, and is ended', async () => {
  expect(await run('process.stdout.write("x".repeat(262144))')).toHaveLength(262_144)
  const endless = 'setInterval(() => {}, 1000); process.stdout.write("x".repeat(262145))'
  await expect(run(endless)).rejects.toThrow('it printed more than 262144 bytes')
})

it('R8: a program that fails is told with what it complained of, and so is one that is not there', async () => {
  await expect(run('console.error("no luck"); process.exit(3)')).rejects.toThrow('it ended with 3: no luck')
  const at = { kind: 'command', command: '/nowhere/at/all', args: [], env: {}, folder: tempFolder() } as const
  await expect(runCommand(at, '', { clock: systemClock, signal: never })).rejects.toThrow('it cannot be started')
})

it('R8: whatever a program has started ends with it when it is late', async () => {
  const folder = tempFolder()
  const late = new AbortController()
  const child = `require('fs').writeFileSync('started', String(process.pid)); setInterval(() => {}, 1000)`
  const script = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: 'ignore' }); setInterval(() => {}, 1000)`
  const running = run(script, late.signal, folder)
  const started = join(folder, 'started')
  await expect.poll(() => existsSync(started) && readFileSync(started, 'utf8') !== '').toBe(true)
  late.abort()
  await expect(running).rejects.toThrow('it did not end in time')
  await expect.poll(() => isRunning(Number(readFileSync(started, 'utf8')))).toBe(false)
})

it('R8: a program for which no descriptor is left fails its call, and not the process', () => {
  const folder = tempFolder()
  const outfile = join(folder, 'run-command.mjs')
  const entry = fileURLToPath(new URL('../../src/hooks/run-command.ts', import.meta.url))
  buildSync({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', outfile })
  const script = `
    import { closeSync, openSync } from 'node:fs'
    import { runCommand } from ${JSON.stringify(outfile)}
    const open = []
    try { for (;;) open.push(openSync('/dev/null')) } catch {}
    const clock = { after: () => () => {} }
    const command = { kind: 'command', command: '/bin/true', args: [], env: {}, folder: '/' }
    const called = runCommand(command, '{}', { clock, signal: new AbortController().signal })
    for (const file of open) closeSync(file)
    await called.catch(({ code, message }) => console.log(code, message))`
  writeFileSync(join(folder, 'script.mjs'), script)
  const { stdout } = spawnSync('sh', ['-c', 'ulimit -n 100; exec "$0" script.mjs', process.execPath], {
    ...{ cwd: folder, encoding: 'utf8' },
  })
  expect(stdout).toBe('unavailable it cannot be started: spawn /bin/true EMFILE\n')
})
