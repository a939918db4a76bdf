import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { HookSettings } from '../../src/config/config.ts'
import { CASE } from './rounds.ts'
import { ADA, KILLED, startScene } from './scene.ts'

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
})
