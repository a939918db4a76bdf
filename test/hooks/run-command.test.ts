import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { runCommand } from '../../src/hooks/run-command.ts'
import { steppedClock } from '../delivery/stepped-clock.ts'

const env = { PATH: process.env.PATH ?? '' }
const never = new AbortController().signal

const shell = (code: string, folder = '/', clock = systemClock) =>
  runCommand({ kind: 'command', command: 'sh', args: ['-c', code], env, folder }, '{}', { clock, signal: never })

const pipes = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'PipeWrap').length

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-hook-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

it('R8: the answer of a program counts though it left another behind, which ends with it', async () => {
  const folder = tempFolder()
  expect(await shell('sleep 600 & echo $! > pid; echo "{}"', folder)).toBe('{}\n')
  const left = Number(readFileSync(join(folder, 'pid'), 'utf8'))
  await expect.poll(() => isAlive(left)).toBe(false)
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
    .poll(() => (isAlive(Number(readFileSync(join(folder, 'away'), 'utf8'))) ? 'alive' : 'ended'))
    .toBe('alive')
  clock.moveTo(clock.nextDue())
  expect(await answer).toBe('{}\n')
  await expect.poll(pipes).toBe(before)
  process.kill(Number(readFileSync(join(folder, 'away'), 'utf8')))
})

it('R8: a program that floods its standard error is ended', async () => {
  await expect(shell('yes >&2')).rejects.toThrow('it complained at more than 1048576 bytes')
})
