import { describe, expect, test } from 'vitest'
import type { CliPorts } from '../../src/cli/ports.ts'
import { ParleyError } from '../../src/core/errors.ts'
import { deferred } from '../../src/rehearsal/deferred.ts'
import { fakeOperator } from '../fakes/operator.ts'
import { fakeDaemon, type Rig, rig } from './rig.ts'

function startRig(daemon = fakeDaemon(), given: Partial<CliPorts> = {}): Promise<Rig> {
  return rig({ start: async () => daemon, ...given })
}

describe('start', () => {
  test.each(['SIGTERM', 'SIGINT'])('on %s stops the daemon and exits 0', async (signal) => {
    const daemon = fakeDaemon()
    const parley = await startRig(daemon)
    const up = parley.printed('Stop with Ctrl-C.')
    const ended = parley.run('start')
    daemon.settle()
    await up
    expect(daemon.stops).toBe(0)
    parley.signal(signal)
    expect(await ended).toBe(0)
    expect(daemon.stops).toBe(1)
    expect(parley.err()).toBe('')
  })

  test('prints channels, hints, claim link, model and folders once the channels have settled', async () => {
    const daemon = fakeDaemon()
    const parley = await startRig(daemon)
    const up = parley.printed('Stop with Ctrl-C.')
    const ended = parley.run('start', '--config', 'some.yaml')
    daemon.settle()
    await up
    expect(parley.out().split('\n')).toEqual([
      'Parley 0.1.0',
      'telegram: up as @parley_bot',
      'telegram: privacy mode hides group messages that do not address the bot',
      'telegram/second: down: the token is refused',
      'owner: nobody yet; become the owner with https://t.me/parley_bot?start=abc',
      'model: scripted/echo',
      `configuration: ${parley.loaded.config.file}`,
      `data: ${parley.loaded.config.dataDir}`,
      'Stop with Ctrl-C.',
      '',
    ])
    expect(parley.loads).toEqual(['some.yaml'])
    parley.signal('SIGTERM')
    await ended
  })

  test('prints nothing of the channels before they have settled', async () => {
    const parley = await startRig()
    const ended = parley.run('start')
    await new Promise(setImmediate)
    expect(parley.out()).toBe('')
    parley.signal('SIGTERM')
    expect(await ended).toBe(0)
    expect(parley.out()).toBe('Stopping; a second signal stops at once.\n')
  })

  test('F-F03: a daemon whose disk failed ends with a code of its own', async () => {
    const daemon = fakeDaemon()
    const parley = await startRig(daemon)
    const up = parley.printed('Stop with Ctrl-C.')
    const ended = parley.run('start')
    daemon.settle()
    await up
    daemon.fall(new ParleyError('store_broken', 'the disk did not confirm a write'))
    expect(await ended).toBe(74)
    expect(parley.err()).toContain('the disk did not confirm a write')
  })

  test('on a second signal exits 1 at once, whatever the drain does', async () => {
    const daemon = fakeDaemon({ drained: new Promise(() => {}) })
    const parley = await startRig(daemon)
    const [up, stopping] = [parley.printed('Stop with Ctrl-C.'), parley.printed('Stopping')]
    const ended = parley.run('start')
    daemon.settle()
    await up
    parley.signal('SIGINT')
    await stopping
    parley.signal('SIGINT')
    expect(await ended).toBe(1)
  })

  test('a signal while it still starts stops it as soon as it is up', async () => {
    const daemon = fakeDaemon()
    const up = deferred<void>()
    const begun = deferred<void>()
    const parley = await rig({
      async start() {
        begun.resolve()
        await up.promise
        return daemon
      },
    })
    const ended = parley.run('start')
    await begun.promise
    parley.signal('SIGTERM')
    up.resolve()
    expect([await ended, daemon.stops]).toEqual([0, 1])
  })

  test('a daemon that stops by itself exits 1 and says so', async () => {
    const daemon = fakeDaemon()
    const parley = await startRig(daemon)
    const ended = parley.run('start')
    daemon.fall()
    expect(await ended).toBe(1)
    expect(parley.err()).toBe('The daemon stopped by itself; its log says why.\n')
  })

  test('a daemon that falls is stopped and its error printed', async () => {
    const daemon = fakeDaemon()
    const parley = await startRig(daemon)
    const ended = parley.run('start')
    daemon.fall(new ParleyError('unavailable', 'The disk is full.'))
    expect([await ended, parley.err(), daemon.stops]).toEqual([1, 'The disk is full.\n', 1])
  })

  test.each([
    ['store_locked', 75],
    ['config', 78],
    ['unavailable', 1],
  ] as const)('that cannot start for %s exits %i', async (code, exit) => {
    const parley = await rig({ start: () => Promise.reject(new ParleyError(code, 'It cannot start.')) })
    expect([await parley.run('start'), parley.err()]).toEqual([exit, 'It cannot start.\n'])
  })

  test('a status that fails is one line, and the daemon goes on', async () => {
    const failed = deferred<void>()
    const status = (): Promise<never> => {
      failed.resolve()
      return Promise.reject(new Error('no'))
    }
    const daemon = fakeDaemon({ operator: fakeOperator({ status }) })
    const parley = await startRig(daemon)
    const ended = parley.run('start')
    daemon.settle()
    await failed.promise
    await new Promise(setImmediate)
    expect(parley.err()).toBe('Unexpected: no (PARLEY_DEBUG=1 shows the stack)\n')
    expect(daemon.stops).toBe(0)
    parley.signal('SIGTERM')
    expect(await ended).toBe(0)
  })

  test('keeps a SIGHUP that comes before the daemon has started, and reloads then', async () => {
    const [daemon, began, begin] = [fakeDaemon(), deferred<void>(), deferred<void>()]
    const start = async () => {
      began.resolve()
      await begin.promise
      return daemon
    }
    const parley = await startRig(daemon, { start })
    const ended = parley.run('start')
    expect(parley.hangUp()).toBe(1)
    await began.promise
    parley.hangUp()
    expect(daemon.reloads).toBe(0)
    begin.resolve()
    const up = parley.printed('Stop with Ctrl-C.')
    daemon.settle()
    await up
    expect(daemon.reloads).toBe(1)
    parley.hangUp()
    expect(daemon.reloads).toBe(2)
    parley.signal('SIGTERM')
    expect(await ended).toBe(0)
    expect(parley.hangUp()).toBe(0)
  })

  test('lets go of the signals when it ends', async () => {
    let handlers = 0
    const onSignal: CliPorts['onSignal'] = () => {
      handlers++
      return () => handlers--
    }
    const parley = await rig({ onSignal, start: () => Promise.reject(new ParleyError('config', 'no')) })
    await parley.run('start')
    expect(handlers).toBe(0)
  })
})
