import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { HookSettings } from '../../src/config/config.ts'
import { CASE } from './rounds.ts'
import { ADA, BOB, KILLED, startScene } from './scene.ts'

/** Kills the daemon that calls it, once. */
function killsOnce(on: 'before_save' | 'before_tool' | 'session_save', mark: string): HookSettings {
  const code = `[ -e "${mark}" ] && exit 0; touch "${mark}"; kill -9 "$PPID"`
  return {
    name: 'killer',
    on: [on],
    at: { kind: 'command', command: '/bin/sh', args: ['-c', code], env: {}, folder: '/' },
    timeoutMs: 5_000,
  }
}

/** Takes as long for a slow text as a file is not there. */
function waitsFor(mark: string): HookSettings {
  const code = `PATH=/usr/bin:/bin; case "$(cat)" in *slow*) while [ ! -e "${mark}" ]; do sleep 0.1; done;; esac`
  return {
    name: 'slow',
    on: ['before_save'],
    at: { kind: 'command', command: '/bin/sh', args: ['-c', code], env: {}, folder: '/' },
    timeoutMs: 60_000,
  }
}

describe.concurrent('R8: a kill while a hook is called', CASE, () => {
  for (const on of ['before_save', 'session_save'] as const) {
    it(`${on}: the message is answered once`, async (test) => {
      const mark = join(process.cwd(), 'dist', `hook-${on}-${process.pid}-${Date.now()}`)
      const scene = await startScene(test, { hooks: [killsOnce(on, mark)] })
      await scene.daemon.start()
      scene.telegram.world.say({ from: ADA, text: 'once' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent('once')
      await scene.settle([ADA])
      await scene.finish()
      expect(scene.texts(ADA).filter((text) => text.includes('once'))).toHaveLength(1)
    })
  }

  it('before_save, which holds a message: other chats and commands go on, and each is answered once, in its order', async (test) => {
    const mark = join(process.cwd(), 'dist', `hook-slow-${process.pid}-${Date.now()}`)
    test.onTestFinished(() => writeFileSync(mark, ''))
    const scene = await startScene(test, { hooks: [waitsFor(mark)] })
    const { world } = scene.telegram
    await scene.daemon.start()
    world.say({ from: ADA, text: 'a slow one' })
    await scene.telegram.ledger.listening()
    world.say({ from: ADA, text: 'behind it' })
    world.say({ from: BOB, text: 'elsewhere' })
    await scene.sent('echo elsewhere', { chat: BOB })
    world.say({ from: ADA, text: '/whoami' })
    await scene.sent('telegram:111', { chat: ADA })
    expect(scene.texts(ADA).join(), 'it is held').not.toContain('slow')
    expect(await scene.daemon.kill()).toEqual(KILLED)
    writeFileSync(mark, '')
    await scene.daemon.start()
    await scene.sent('behind it', { chat: ADA })
    await scene.settle([ADA, BOB])
    const { inbox } = await scene.finish()
    expect(inbox).toHaveLength(6)
    expect(
      scene
        .texts(ADA)
        .join('\n')
        .match(/slow one|behind it/g),
    ).toEqual(['slow one', 'behind it'])
    expect(scene.texts(BOB)).toEqual(['echo elsewhere', 'echo goodbye'])
  })
})
