import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Clock } from '../../src/core/clock.ts'
import { createNotifier, type Notifier, startWatchdog } from '../../src/platform/sd-notify.ts'

const { PATH } = process.env

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-notify-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** A stand-in for the tool that writes down how it was called, for hosts without systemd. */
function recordingTool(exitCode = 0): { readonly path: string; calls(): string[] } {
  const log = join(folder, 'calls')
  const tool = join(folder, 'systemd-notify')
  writeFileSync(
    tool,
    `#!/bin/sh\nprintf '%s|' "$@" >>'${log}'\nenv | sort | grep -v -e ^PWD= -e ^_= -e ^SHLVL= -e ^OLDPWD= | tr '\\n' ' ' >>'${log}'\necho >>'${log}'\nexit ${exitCode}\n`,
  )
  chmodSync(tool, 0o755)
  return { path: `${folder}:/usr/bin:/bin`, calls: () => readFileSync(log, 'utf8').trimEnd().split('\n') }
}

describe('without a service manager', () => {
  test('nothing is started and there is no watchdog', async () => {
    const { path } = recordingTool()
    const notifier = createNotifier({ PATH: path, WATCHDOG_USEC: '60000000' })

    await notifier.ready('up')
    await notifier.stopping()
    await notifier.status('well')
    await notifier.watchdog()

    expect(() => readFileSync(join(folder, 'calls'))).toThrow(/ENOENT/)
    expect(notifier.watchdogMs).toBeUndefined()
  })
})

describe('what the tool is given', () => {
  test('F-J06: the assignments, and of the environment only the socket and the path', async () => {
    const { path, calls } = recordingTool()
    const env = { NOTIFY_SOCKET: '/run/notify', PATH: path, TELEGRAM_BOT_TOKEN: '5:canary' }
    const notifier = createNotifier(env)

    await notifier.ready('1 channel\nREADY=1')
    await notifier.watchdog()
    await notifier.stopping()

    const seen = `NOTIFY_SOCKET=/run/notify PATH=${path} `.trim()
    expect(calls().map((line) => line.trim())).toEqual([
      `READY=1|STATUS=1 channel READY=1|${seen}`,
      `WATCHDOG=1|${seen}`,
      `STOPPING=1|${seen}`,
    ])
  })

  test.each([
    ['a tool that is not there', () => join(folder, 'nowhere'), 'ENOENT'],
    ['a tool that fails', () => recordingTool(1).path, 'ended with 1'],
  ])('%s is reported and nothing rejects', async (_, path, reason) => {
    const failures: string[] = []
    const notifier = createNotifier({ NOTIFY_SOCKET: '/run/notify', PATH: path() }, ({ message }) =>
      failures.push(message),
    )

    await notifier.ready()

    expect(failures).toEqual([expect.stringContaining(reason)])
  })
})

/** What the service manager would read, from a real datagram socket. */
async function listen(): Promise<{ socket: string; next(): Promise<unknown>; stop(): Promise<void> }> {
  const socket = join(folder, 'notify.sock')
  const script = fileURLToPath(new URL('datagram-socket.py', import.meta.url))
  const child: ChildProcess = spawn('python3', [script, socket], { stdio: ['ignore', 'pipe', 'inherit'] })
  if (!child.stdout) throw new Error('no output')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<unknown> => JSON.parse(String((await lines.next()).value))
  expect(await next()).toBe('listening')
  const stop = async (): Promise<void> => {
    const gone = once(child, 'exit')
    child.kill()
    await gone
  }
  return { socket, next, stop }
}

describe.runIf(has('systemd-notify') && has('python3'))('over a real socket', () => {
  test('READY, STATUS, WATCHDOG and STOPPING arrive', async () => {
    const manager = await listen()
    const notifier = createNotifier({ NOTIFY_SOCKET: manager.socket, PATH })
    const arrived: string[] = []
    const until = async (text: string): Promise<void> => {
      for (;;) {
        const datagram = String(await manager.next())
        if (!datagram.startsWith('BARRIER')) arrived.push(datagram)
        if (datagram.includes(text)) return
      }
    }

    await Promise.all([notifier.ready('up: telegram'), until('READY=1')])
    await Promise.all([notifier.watchdog(), until('WATCHDOG=1')])
    await Promise.all([notifier.stopping(), until('STOPPING=1')])
    await manager.stop()

    expect(arrived.map((text) => text.trim().split('\n').sort())).toEqual([
      ['READY=1', 'STATUS=up: telegram'],
      ['WATCHDOG=1'],
      ['STOPPING=1'],
    ])
  })
})

describe('the watchdog', () => {
  test.each([
    ['a third of what the unit allows', { WATCHDOG_USEC: '60000000' }, 20_000],
    ['for this process', { WATCHDOG_USEC: '60000000', WATCHDOG_PID: String(process.pid) }, 20_000],
    ['not for another process', { WATCHDOG_USEC: '60000000', WATCHDOG_PID: '1' }, undefined],
    ['not where the unit sets none', {}, undefined],
    ['not for nonsense', { WATCHDOG_USEC: 'soon' }, undefined],
  ])('signs of life: %s', (_, env, expected) => {
    expect(createNotifier({ NOTIFY_SOCKET: '/run/notify', ...env }).watchdogMs).toBe(expected)
  })

  test('signs are given while healthy, withheld while not, and end with the daemon', async () => {
    const clock = steppedClock()
    const { notifier, given } = countingNotifier(20_000)
    const answers = [true, false, 'broken', true] as const
    let asked = 0
    const stop = startWatchdog({
      notifier,
      clock,
      async healthy() {
        const answer = answers[asked++]
        if (answer === 'broken') throw new Error('the store is stuck')
        return answer === true
      },
    })

    for (const expected of [1, 1, 1, 2]) {
      await clock.step(20_000)
      expect(given()).toBe(expected)
    }
    stop()
    expect(clock.pending()).toBe(0)
  })

  test('no timer runs where no watchdog waits', () => {
    const clock = steppedClock()

    startWatchdog({ notifier: countingNotifier(undefined).notifier, clock, healthy: async () => true })()

    expect(clock.pending()).toBe(0)
  })
})

function countingNotifier(every: number | undefined): { readonly notifier: Notifier; given(): number } {
  let count = 0
  const nothing = async (): Promise<void> => {}
  const notifier: Notifier = {
    ready: nothing,
    stopping: nothing,
    status: nothing,
    watchdog: async () => {
      count++
    },
    ...(every === undefined ? {} : { watchdogMs: every }),
  }
  return { notifier, given: () => count }
}

/** Time that passes only by `step`, which waits until what it set off has settled. */
function steppedClock(): Clock & { step(ms: number): Promise<void>; pending(): number } {
  const timers = new Map<() => void, number>()
  let now = 0
  return {
    now: () => now,
    elapsed: () => now,
    after(ms, callback) {
      timers.set(callback, now + ms)
      return () => timers.delete(callback)
    },
    async step(ms) {
      now += ms
      for (const [callback, at] of timers) {
        if (at > now) continue
        timers.delete(callback)
        callback()
      }
      await new Promise((resolve) => setImmediate(resolve))
    },
    pending: () => timers.size,
  }
}

function has(tool: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${tool}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
