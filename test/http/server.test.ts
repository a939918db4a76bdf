import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { chmod, chown, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Clock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { WhyReport } from '../../src/core/operator.ts'
import { bindSocket } from '../../src/http/bind-socket.ts'
import { type LocalApi, type LocalApiOptions, startLocalApi } from '../../src/http/local-api.ts'
import { deferred } from '../../src/rehearsal/deferred.ts'
import { steppedClock } from '../delivery/stepped-clock.ts'
import { localFolder } from '../fakes/local-folder.ts'
import { fakeOperator, sampleWhy } from '../fakes/operator.ts'

const AS_ROOT = process.geteuid?.() === 0
const NOBODY = 65534

async function serve(socketPath: string, given: Partial<LocalApiOptions> = {}): Promise<LocalApi> {
  const api = await startLocalApi({ socketPath, service: fakeOperator(), logger: silentLogger, ...given })
  onTestFinished(() => api.close())
  return api
}

async function statusOf(socketPath: string, agent?: Agent, path = '/healthz'): Promise<number | undefined> {
  const [response] = (await once(get({ socketPath, path, agent: agent ?? false }), 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  return response.statusCode
}

/** Leaves a socket file as a SIGKILL does: bound, and nobody behind it. */
async function leaveDeadSocket(socketPath: string): Promise<void> {
  const code = `require('node:net').createServer().listen(${JSON.stringify(socketPath)}, () => console.log('up'))`
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
}

describe('the socket', () => {
  test.each([0o000, 0o022, 0o077])('under umask %o it is 0600, in a folder it made 0700', async (umask) => {
    const socketPath = join(await localFolder(), 'made', 'parley.sock')
    const before = process.umask(umask)
    try {
      await serve(socketPath)
    } finally {
      process.umask(before)
    }
    const [socket, folder] = await Promise.all([stat(socketPath), stat(join(socketPath, '..'))])
    expect([socket.mode & 0o777, folder.mode & 0o777]).toEqual([0o600, 0o700])
    expect(await readdir(join(socketPath, '..', '..')), 'nothing beside the folder').toEqual(['made'])
    expect(await readdir(join(socketPath, '..')), 'nothing but the socket').toEqual(['parley.sock'])
  })

  test('one that a killed daemon left is replaced', async () => {
    const socketPath = join(await localFolder(), 'parley.sock')
    await leaveDeadSocket(socketPath)
    expect((await stat(socketPath)).isSocket()).toBe(true)
    await serve(socketPath)
    expect(await statusOf(socketPath)).toBe(200)
  })

  test.runIf(AS_ROOT)('a dead one of somebody else in a folder of ours is refused and left there', async () => {
    const socketPath = join(await localFolder(), 'parley.sock')
    await leaveDeadSocket(socketPath)
    await chown(socketPath, NOBODY, NOBODY)
    await expect(serve(socketPath)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining(`parley.sock belongs to user ${NOBODY}`),
    })
    expect((await stat(socketPath)).uid).toBe(NOBODY)
  })

  test.runIf(AS_ROOT)('of a daemon of root in the folder of another user is that user’s', async () => {
    const folder = await localFolder()
    await chown(folder, NOBODY, NOBODY)
    await serve(join(folder, 'parley.sock'))
    expect((await stat(join(folder, 'parley.sock'))).uid).toBe(NOBODY)
  })

  test('one that cannot be moved to its name leaves nothing behind', async () => {
    const folder = await localFolder()
    const socketPath = join(folder, 'parley.sock')
    const server = createServer().once('listening', () => mkdirSync(socketPath))
    await expect(bindSocket(server, socketPath)).rejects.toMatchObject({ code: 'config' })
    expect(await readdir(folder)).toEqual(['parley.sock'])
  })

  test('one that another daemon answers is refused and goes on answering', async () => {
    const socketPath = join(await localFolder(), 'parley.sock')
    await serve(socketPath)
    await expect(serve(socketPath)).rejects.toMatchObject({
      code: 'store_locked',
      message: expect.stringContaining(socketPath),
    })
    expect(await statusOf(socketPath)).toBe(200)
  })

  test.each([
    ['a file', (path: string) => writeFile(path, 'precious')],
    ['a folder', (path: string) => mkdir(path)],
    ['a dangling link', (path: string) => symlink('nowhere', path)],
  ])('%s in its place is refused with the path and left alone', async (_what, make) => {
    const socketPath = join(await localFolder(), 'parley.sock')
    await make(socketPath)
    await expect(serve(socketPath)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining(socketPath),
    })
    expect(await readdir(join(socketPath, '..'))).toEqual(['parley.sock'])
  })

  test('a path longer than 107 bytes is refused with the remedy, one of 107 is served', async () => {
    const folder = await localFolder()
    const fits = join(
      folder,
      'x'.repeat(107 - Buffer.byteLength(folder) - '/'.length - '/parley.sock'.length),
      'parley.sock',
    )
    expect(Buffer.byteLength(fits)).toBe(107)
    await serve(fits)
    expect(await statusOf(fits)).toBe(200)
    const long = join(folder, 'ü'.repeat(40), 'parley.sock')
    await expect(serve(long)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('Set a shorter folder by store.url'),
    })
  })

  test('a path that fits, in a folder too deep for the name it is made under, is refused with the remedy', async () => {
    const folder = await localFolder()
    const path = join(folder, 'x'.repeat(107 - Buffer.byteLength(folder) - '/'.length - '/s'.length), 's')
    expect(Buffer.byteLength(path)).toBe(107)
    await expect(serve(path)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('Set a shorter folder by store.url'),
    })
  })

  test('a folder that cannot be made is named', async () => {
    const folder = await localFolder()
    await writeFile(join(folder, 'file'), '')
    const socketPath = join(folder, 'file', 'parley.sock')
    await expect(serve(socketPath)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(/file is no folder\. Choose another folder: store\.url/),
    })
  })

  test('the mode of a folder that was there is left alone', async () => {
    const folder = await localFolder()
    await chmod(folder, 0o755)
    await serve(join(folder, 'parley.sock'))
    expect((await stat(folder)).mode & 0o777).toBe(0o755)
  })
})

interface Grace extends Clock {
  /** Resolves once the close has set its limit, with what fires it. */
  readonly set: Promise<() => void>
}

/** Time that passes only when the test fires it. */
function heldGrace(): Grace {
  const set = deferred<() => void>()
  return {
    set: set.promise,
    now: () => 0,
    elapsed: () => 0,
    after(_ms, callback) {
      set.resolve(callback)
      return () => {}
    },
  }
}

describe('close', () => {
  test('takes the socket away and drops idle, silent and half-sent connections at once', async () => {
    const socketPath = join(await localFolder(), 'parley.sock')
    const api = await serve(socketPath, { clock: heldGrace() })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const open = ['', 'GET /healthz HTTP/1.1\r\nHost: ', 'garbage'].map((text) => {
      const socket = connect(socketPath, () => socket.write(text))
      socket.on('error', () => {}).resume()
      return once(socket, 'close')
    })
    expect(await statusOf(socketPath, agent)).toBe(200)
    await Promise.all([api.close(), api.close(), ...open])
    await expect(stat(socketPath)).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(statusOf(socketPath)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('lets an answer in the making leave whole', async () => {
    const socketPath = join(await localFolder(), 'parley.sock')
    const asked = deferred<void>()
    const answer = deferred<WhyReport[]>()
    const why = (): Promise<WhyReport[]> => {
      asked.resolve()
      return answer.promise
    }
    const clock = heldGrace()
    const api = await serve(socketPath, { service: fakeOperator({ why }), clock })
    const responded = once(get({ socketPath, path: '/v1/why?message=1' }), 'response')
    await asked.promise
    const closed = api.close()
    await clock.set
    const large = [{ ...sampleWhy, reason: 'x'.repeat(4_000_000) }]
    answer.resolve(large)
    const [response] = (await responded) as [IncomingMessage]
    let body = ''
    for await (const chunk of response.setEncoding('utf8')) body += chunk
    expect(JSON.parse(body)).toEqual(large)
    await closed
  })

  test('waits for an answer that never comes no longer than the grace', async () => {
    const socketPath = join(await localFolder(), 'parley.sock')
    const asked = deferred<void>()
    const status = (): Promise<never> => {
      asked.resolve()
      return new Promise(() => {})
    }
    const clock = heldGrace()
    const api = await serve(socketPath, { service: fakeOperator({ status }), clock })
    const hungUp = expect(once(get({ socketPath, path: '/v1/status' }), 'response')).rejects.toMatchObject({
      code: 'ECONNRESET',
    })
    await asked.promise
    const closed = api.close()
    const fire = await clock.set
    fire()
    await Promise.all([closed, hungUp])
  })
})

describe('before the daemon is ready', () => {
  /** Sends a request, and resolves once the server has it. */
  async function asked(socketPath: string) {
    const call = get({ socketPath, path: '/v1/status', agent: false, headers: { expect: '100-continue' } })
    const ended = Promise.race([
      once(call, 'response').then(([response]: IncomingMessage[]) => response?.resume().statusCode),
      once(call, 'close').then(() => 'closed'),
    ])
    ended.catch(() => {})
    await once(call, 'continue')
    return { call, ended }
  }

  test('whoever waits is answered once it is; nothing is done for whoever has hung up meanwhile', async () => {
    const [socketPath, ready] = [join(await localFolder(), 'parley.sock'), deferred<void>()]
    let answered = 0
    const operator = fakeOperator()
    const status = () => {
      answered++
      return operator.status()
    }
    await serve(socketPath, { ready: ready.promise, service: { ...operator, status } })
    const gone = await asked(socketPath)
    gone.call.destroy()
    const waits = await asked(socketPath)
    expect(answered).toBe(0)
    ready.resolve()
    expect(await waits.ended).toBe(200)
    expect(answered).toBe(1)
  })

  test('probes are answered at once, also while another request waits', async () => {
    const socketPath = join(await localFolder(), 'parley.sock')
    await serve(socketPath, { ready: new Promise<void>(() => {}) })
    const { call, ended } = await asked(socketPath)
    expect(await statusOf(socketPath)).toBe(200)
    expect(await statusOf(socketPath, undefined, '/readyz')).toBe(503)
    call.destroy()
    await expect(ended).rejects.toMatchObject({ code: 'ECONNRESET' })
  })

  test('whoever waits keeps a daemon that does not come up from no end', async () => {
    const [socketPath, clock] = [join(await localFolder(), 'parley.sock'), steppedClock()]
    const api = await serve(socketPath, { ready: new Promise<void>(() => {}), clock })
    const { ended } = await asked(socketPath)
    const closed = api.close()
    await expect.poll(clock.nextDue).toBeLessThan(Number.POSITIVE_INFINITY)
    clock.moveTo(clock.nextDue())
    await closed
    await expect(ended).rejects.toMatchObject({ code: 'ECONNRESET' })
    await expect(stat(socketPath)).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
