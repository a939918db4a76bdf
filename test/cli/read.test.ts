import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connectLocal } from '../../src/cli/local-client.ts'
import { socketPathOf } from '../../src/cli/socket-path.ts'
import { ParleyError } from '../../src/core/errors.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { startLocalApi } from '../../src/http/local-api.ts'
import { fakeOperator, sampleSession, sampleStatus, sampleWhy } from '../fakes/operator.ts'
import { fakeOffline, makeStore, type Rig, rig, serveDaemon } from './rig.ts'

const READS = [
  [['status'], 'Parley 0.1.0'],
  [['why', '42'], 'telegram:group:-1001/7'],
  [['why', '42', '--trace'], 'outcome   stored'],
  [['sessions', 'list'], 'Workshop › Engines'],
  [['sessions', 'show', 'workshop › engines'], 'lunch plans'],
  [['sessions', 'show', sampleSession.key], 'lunch plans'],
  [['schedule', 'list'], 'telegram:group:-1002/7'],
  [['schedule', 'next', 'morning', '2'], '2026-11-22 14:03:22 UTC'],
] as const

async function withDaemon(operator = fakeOperator()): Promise<Rig> {
  const parley = await rig()
  await serveDaemon(parley, operator)
  return parley
}

describe('with a daemon', () => {
  test.each(READS)('%j is asked of it and printed', async (argv, text) => {
    const parley = await withDaemon()
    expect(await parley.run(...argv)).toBe(argv[0] === 'status' ? 3 : 0)
    expect(parley.out()).toContain(text)
    expect(parley.err()).toBe('')
  })

  test('status exits 0 where every channel is up, also while one starts', async () => {
    const [up] = sampleStatus.channels
    const channels = up ? [up, { ...up, account: 'third', status: 'starting' as const }] : []
    const parley = await withDaemon(fakeOperator({ status: async () => ({ ...sampleStatus, channels }) }))
    expect(await parley.run('status')).toBe(0)
  })

  test('status says its exit codes in its help', async () => {
    const parley = await rig()
    expect(await parley.run('status', '--help')).toBe(0)
    expect(parley.out()).toContain('1 no daemon runs, 3 a channel is down')
  })

  test.each([
    [['status'], sampleStatus],
    [['why', 'in_1'], [sampleWhy]],
    [['sessions', 'show', sampleSession.key], sampleSession],
    [['sessions', 'show', sampleSession.id], sampleSession],
  ])('%j --json prints the answer as it came', async (argv, answer) => {
    const parley = await withDaemon()
    expect(await parley.run(...argv, '--json')).toBe(argv[0] === 'status' ? 3 : 0)
    expect(JSON.parse(parley.out())).toEqual(answer)
  })

  test.each([
    [[], { limit: 50, offset: 0, inactive: false }],
    [['--all'], { limit: 50, offset: 0, inactive: true }],
    [['--limit', '1', '--offset', '1'], { limit: 1, offset: 1, inactive: false }],
  ])('sessions list %j asks for that page', async (argv, query) => {
    const operator = fakeOperator()
    const parley = await withDaemon(operator)
    expect(await parley.run('sessions', 'list', '--json', ...argv)).toBe(0)
    expect(operator.asked).toEqual([query])
    expect(JSON.parse(parley.out())).toEqual(await fakeOperator().sessions.list(query))
  })

  test('why of a message never received exits 1 and prints an empty list as JSON', async () => {
    const parley = await withDaemon()
    expect(await parley.run('why', '7', '--json')).toBe(1)
    expect(JSON.parse(parley.out())).toEqual([])
    expect(parley.err()).toBe('No message "7" was ever received.\n- telegram is down: the token is refused\n')
  })

  test.each(['none', '..', '%', 'a/b', '.'])(
    'sessions show %j, which is not there, exits 1 with a line',
    async (name) => {
      const parley = await withDaemon()
      expect(await parley.run('sessions', 'show', name)).toBe(1)
      expect(parley.err()).toMatch(/^There is no .*\n$/)
      expect(parley.out()).toBe('')
    },
  )

  test('an answer the daemon could not make exits 1 without detail', async () => {
    const parley = await withDaemon(fakeOperator({ status: () => Promise.reject(new Error('secret')) }))
    expect(await parley.run('status')).toBe(1)
    expect(parley.err()).toBe('The daemon failed to answer; its log says why.\n')
  })

  test('control signs of strangers reach neither the screen nor the JSON as they are', async () => {
    const evil = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e'
    const why = async () => [{ ...sampleWhy, sender: { id: '1', name: evil } }]
    const parley = await withDaemon(fakeOperator({ why }))
    await parley.run('why', '42')
    await parley.run('why', '42', '--json')
    expect(parley.out().replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
    expect(JSON.parse(parley.out().slice(parley.out().indexOf('\n[') + 1))).toEqual(await why())
  })
})

describe('without a daemon', () => {
  test.each(READS)('%j is read from the store, with a note, and the store is closed', async (argv, text) => {
    const { startedAt: _running, ...stored } = sampleStatus
    const offline = fakeOffline({ status: async () => stored })
    const parley = await rig({ openOffline: async () => offline })
    await makeStore(parley)
    expect(await parley.run(...argv)).toBe(argv[0] === 'status' ? 1 : 0)
    expect(parley.out()).toContain(text)
    expect(parley.err()).toBe('No daemon is running; read from its store.\n')
    expect(offline.closed).toBe(1)
  })

  test('what the daemon alone can do says so, and nothing of a store that was not read', async () => {
    const needs = async () => {
      throw new ParleyError('unavailable', 'Start the daemon for that.')
    }
    const parley = await rig({ openOffline: async () => fakeOffline({ status: needs }) })
    await makeStore(parley)
    expect(await parley.run('status')).toBe(1)
    expect(parley.err()).toBe('Start the daemon for that.\n')
  })

  test('the note stays out of the JSON', async () => {
    const parley = await rig({ openOffline: async () => fakeOffline() })
    await makeStore(parley)
    await parley.run('status', '--json')
    expect(JSON.parse(parley.out())).toEqual(sampleStatus)
  })

  test('a store that is not there yet exits 1 with its path and the remedy', async () => {
    const parley = await rig()
    expect(await parley.run('status')).toBe(1)
    expect(parley.err()).toContain(parley.loaded.config.store.path)
    expect(parley.err()).toContain('parley start')
  })

  test('a store that somebody holds exits 75', async () => {
    const parley = await rig({ openOffline: () => Promise.reject(new ParleyError('store_locked', 'In use.')) })
    await makeStore(parley)
    expect([await parley.run('status'), parley.err()]).toEqual([75, 'In use.\n'])
  })

  test('the store is closed when the answer fails', async () => {
    const offline = fakeOffline()
    const parley = await rig({ openOffline: async () => offline })
    await makeStore(parley)
    expect([await parley.run('sessions', 'show', 'none'), offline.closed]).toEqual([1, 1])
  })

  test('a socket that a killed daemon left counts as none', async () => {
    const parley = await rig({ openOffline: async () => fakeOffline() })
    await makeStore(parley)
    const path = JSON.stringify(socketPathOf(parley.loaded.config))
    const code = `require('node:net').createServer().listen(${path}, () => process.kill(process.pid, 'SIGKILL'))`
    await once(spawn(process.execPath, ['-e', code]), 'exit')
    await parley.run('status')
    expect(parley.err()).toContain('No daemon is running')
  })
})

describe('what answers on the socket', () => {
  async function answering(listener: Parameters<typeof createServer>[1]): Promise<string> {
    const socketPath = socketPathOf((await rig()).loaded.config)
    const server = createServer(listener ?? (() => {})).listen(socketPath)
    await once(server, 'listening')
    onTestFinished(() => {
      server.close()
      server.closeAllConnections()
    })
    return socketPath
  }

  test('too late is unavailable', async () => {
    const socketPath = await answering(() => {})
    await expect(connectLocal(socketPath, 50)).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('too late in the middle of an answer is unavailable', async () => {
    const socketPath = await answering((_request, response) => response.writeHead(200).write('{'))
    await expect(connectLocal(socketPath, 200)).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('by hanging up is unavailable', async () => {
    const socketPath = await answering((request) => request.socket.destroy())
    await expect(connectLocal(socketPath)).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('by hanging up in the middle of an answer is unavailable', async () => {
    const socketPath = await answering((request, response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('{', () => request.socket.destroy())
    })
    await expect(connectLocal(socketPath)).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('and is no Parley is said so', async () => {
    const socketPath = await answering((_request, response) => response.end('<html>'))
    await expect(connectLocal(socketPath)).rejects.toMatchObject({ message: expect.stringContaining(socketPath) })
  })

  test('and stops between two requests is unavailable', async () => {
    const parley = await rig()
    const socketPath = socketPathOf(parley.loaded.config)
    const api = await startLocalApi({ socketPath, service: fakeOperator(), logger: silentLogger })
    const daemon = await connectLocal(socketPath)
    await api.close()
    await expect(daemon?.status()).rejects.toMatchObject({ code: 'unavailable' })
  })
})
