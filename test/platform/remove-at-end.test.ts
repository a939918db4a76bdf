import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { expect, it } from 'vitest'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

/** Starts a process that has half written `kept` and `let-go`, and no longer minds the latter. */
async function writing(then: string) {
  const folder = tempFolder()
  const outfile = join(folder, 'remove-at-end.mjs')
  const entry = fileURLToPath(new URL('../../src/platform/remove-at-end.ts', import.meta.url))
  buildSync({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', outfile })
  const script = `
    import { writeFileSync } from 'node:fs'
    import { removeAtEnd } from ${JSON.stringify(outfile)}
    const [half, letGo] = ['half', 'let-go'].map((name) => { writeFileSync(name, ''); return removeAtEnd(name) })
    letGo()
    writeFileSync('let-go', '')
    ${then}`
  writeFileSync(join(folder, 'script.mjs'), script)
  const child = spawn(process.execPath, ['script.mjs'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  const left = () => ['half', 'let-go'].filter((name) => existsSync(join(folder, name)))
  return { child, ended: once(child, 'exit'), left }
}

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s ends the process, and leaves nothing half written',
  async (signal) => {
    const { child, ended, left } = await writing(`console.log('ready'); setInterval(() => {}, 1000)`)
    await once(child.stdout, 'data')
    child.kill(signal)
    expect(await ended).toEqual([null, signal])
    expect(left()).toEqual(['let-go'])
  },
)

it('an end by itself leaves nothing half written', async () => {
  const { ended, left } = await writing('process.exit(3)')
  expect(await ended).toEqual([3, null])
  expect(left()).toEqual(['let-go'])
})

it('what was removed leaves the signals to others', async () => {
  const { ended } = await writing(`half(); process.exit(process.listenerCount('SIGINT'))`)
  expect(await ended).toEqual([0, null])
})
