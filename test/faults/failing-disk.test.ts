import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, type TestContext } from 'vitest'
import { EXIT } from '../../src/core/errors.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, startScene } from './scene.ts'

const SOURCE = fileURLToPath(new URL('failing-fsync.c', import.meta.url))

interface Disk {
  readonly env: Readonly<Record<string, string>>
  fail(): void
  mend(): void
}

/** A disk that can stop confirming writes; undefined where there is no compiler to make one (Linux, `cc`). */
function fallibleDisk(test: TestContext): Disk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'parley-disk-'))
  test.onTestFinished(() => rmSync(folder, { recursive: true }))
  const library = join(folder, 'failing-fsync.so')
  const marker = join(folder, 'fails')
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-o', library, SOURCE, '-ldl'], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  return {
    env: { LD_PRELOAD: library, FAIL_FSYNC: marker },
    fail: () => writeFileSync(marker, ''),
    mend: () => rmSync(marker),
  }
}

describe.concurrent('a disk that does not confirm what was written', CASE, () => {
  for (const _ of rounds([1])) {
    it('F-F03: the process ends with its own code and acknowledges nothing after; the next one answers', async (test) => {
      const disk = fallibleDisk(test)
      test.skip(disk === undefined || process.platform !== 'linux', 'no compiler to make the disk fail with')
      if (!disk) return
      const scene = await startScene(test, { env: disk.env })
      const { world, ledger } = scene.telegram
      await scene.daemon.start()
      world.say({ from: ADA, text: 'hello' })
      await scene.sent('echo hello')
      disk.fail()
      const lost = ledger.updateIdOf(world.say({ from: ADA, text: 'and now?' }))
      expect(await scene.daemon.exited()).toEqual({ code: EXIT.disk, signal: null })
      expect(ledger.count((entry) => entry.kind === 'confirmed' && entry.updateId === lost)).toBe(0)
      expect(scene.daemon.logTail()).toContain('The disk failed; the daemon ends at once')
      disk.mend()
      await scene.daemon.start()
      await scene.sent('echo and now?')
      await scene.finish()
    })
  }
})
