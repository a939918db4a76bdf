import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EXIT } from '../../src/core/errors.ts'
import { CASE } from '../faults/rounds.ts'
import { withDatabase } from '../store/temp-database.ts'
import { namesIn, startHouse } from './house.ts'

const root = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
/** Beside the installed packages, so that the bundle finds the native one. */
const OUT = root(`node_modules/.cache/killed-program-${process.pid}`)
const KILLED = join(OUT, 'killed-program.js')

beforeAll(async () => {
  await build({
    entryPoints: [root('test/backup/killed-program.ts')],
    ...{
      outdir: OUT,
      bundle: true,
      splitting: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      logLevel: 'error',
    },
    external: ['jiti', 'unpdf'],
    alias: {
      '@discordjs/ws': root('node_modules/@discordjs/ws/dist/index.js'),
      'whatwg-url': 'node:url',
      '@hono/zod-openapi': root('dist/routes/@hono/zod-openapi.js'),
      'hono/route': root('dist/routes/hono/route.js'),
    },
    banner: { js: "import { createRequire as __r } from 'node:module'; const require = __r(import.meta.url);" },
    define: { __FAILPOINTS__: 'true' },
  })
})
afterAll(() => rmSync(OUT, { recursive: true, force: true }))

const at = (point: string) => ({ entry: KILLED, env: { KILL_AT: point } })
const texts = (folder: string): string =>
  withDatabase(join(folder, 'parley.db'), (database) =>
    database.prepare<[], string>("SELECT data FROM events WHERE type = 'user_message'").pluck().all().join(' '),
  )

/** A store with two messages, the second of which a copy of it has not. */
async function withCopy() {
  const house = await startHouse()
  const daemon = house.daemon()
  await daemon.start()
  await house.heard('the first')
  const copies = join(house.folder, 'copies')
  const copy = await house.backup(copies)
  await house.heard('the second')
  await daemon.terminate()
  return { house, copies, copy }
}

describe('a process that is killed', CASE, () => {
  it('in a backup leaves no half copy under the name of one, and the next backup removes what is left', async () => {
    const { house, copies, copy } = await withCopy()
    const whole = (): readonly string[] => namesIn(copies).filter((name) => name.startsWith('parley-'))
    for (const point of ['CP53-backup-snapshot', 'CP54-backup-written', 'CP55-backup-renamed']) {
      const before = whole()
      expect(await house.run(['backup', copies], at(point))).toMatchObject({ signal: 'SIGKILL' })
      const made = whole().filter((name) => !before.includes(name))
      expect(made).toHaveLength(point === 'CP55-backup-renamed' ? 1 : 0)
      for (const name of whole())
        expect(await house.run(['backup', '--verify', join(copies, name)])).toMatchObject({ code: 0 })
      expect(namesIn(copies).some((name) => name.endsWith('.partial'))).toBe(point !== 'CP55-backup-renamed')
      await house.backup(copies)
      expect(namesIn(copies).filter((name) => name.endsWith('.partial'))).toEqual([])
    }
    expect(whole()).toContain(copy.slice(copies.length + 1))
  })

  it('in a restore leaves the old state or the restored one, or a start that says how to go on, and never a mix', async () => {
    const { house, copy } = await withCopy()
    const { state, folder } = house
    const old = join(folder, 'old')
    cpSync(state, old, { recursive: true })
    for (const point of [
      ...['CP57-restore-staged', 'CP58-restore-begun', 'CP58-restore-begun:2', 'CP59-restore-aside'],
      ...['CP60-restore-moved', 'CP61-restore-done'],
    ]) {
      rmSync(state, { recursive: true })
      cpSync(old, state, { recursive: true })
      expect(await house.run(['restore', copy, '--yes'], at(point))).toMatchObject({ signal: 'SIGKILL' })
      if (point === 'CP57-restore-staged') {
        expect(texts(state)).toContain('the second')
        expect(await house.run(['sessions', 'list'])).toMatchObject({ code: 0 })
      } else if (point !== 'CP61-restore-done') {
        for (const command of [['start'], ['sessions', 'list'], ['restore', copy, '--dry-run']]) {
          const refused = await house.run(command)
          expect(refused).toMatchObject({ code: EXIT.config })
          expect(refused.stderr).toContain('"parley restore <backup> --yes" once more')
        }
        expect((await house.run(['restore', copy, '--yes'])).stdout).toContain('it is at its end now')
      }
      if (point === 'CP57-restore-staged') continue
      expect(texts(state)).not.toContain('the second')
      expect(texts(state)).toContain('the first')
      expect(namesIn(state).filter((name) => /restoring/.test(name))).toEqual([])
      const [aside = ''] = namesIn(state).filter((name) => name.startsWith('before-restore-'))
      expect(texts(join(state, aside))).toContain('the second')
      const after = JSON.parse((await house.run(['status', '--json'])).stdout)
      expect(after.restored).toBeDefined()
    }
  })

  it('in a restore whose new state somebody has removed leaves the old one, and doctor names it', async () => {
    const { house, copy } = await withCopy()
    expect(await house.run(['restore', copy, '--yes'], at('CP58-restore-begun'))).toMatchObject({ signal: 'SIGKILL' })
    const doctor = await house.run(['doctor', 'database', '--offline'])
    expect(doctor.stdout).toMatch(/✗ [\s\S]*restore was interrupted/)
    rmSync(join(house.state, 'restoring'), { recursive: true })
    const refused = await house.run(['restore', copy, '--yes'])
    expect(refused).toMatchObject({ code: EXIT.config })
    expect(refused.stderr).toContain('what it had made ready is gone')
    expect(texts(house.state)).toContain('the second')
    rmSync(join(house.state, 'parley.db.restoring'))
    expect(await house.run(['restore', copy, '--yes'])).toMatchObject({ code: 0 })
  })
})

describe('what was forgotten after the copy was made', CASE, () => {
  it('is forgotten again by a restore in its place, and by one elsewhere that is given the newer folder', async () => {
    const house = await startHouse()
    const daemon = house.daemon()
    await daemon.start()
    await house.heard('xyzzy is my word')
    await house.heard('plugh is hers', 444)
    await house.heard('what stays', 445)
    const copy = await house.backup(join(house.folder, 'copies'))
    const forgot = await house.run(['forget', 'person', 'telegram:111', '--yes'])
    expect(forgot).toMatchObject({ code: 0 })
    const { sessions } = JSON.parse((await house.run(['sessions', 'list', '--all', '--json'])).stdout)
    const hers = sessions.find(({ key }: { key: string }) => key.includes('444'))
    expect(await house.run(['sessions', 'delete', hers.id])).toMatchObject({ code: 0 })
    await daemon.terminate()
    expect(readFileSync(join(copy, 'parley.db')).includes('xyzzy')).toBe(true)

    const elsewhere = { env: { XDG_STATE_HOME: join(house.folder, 'elsewhere') } }
    const given = await house.run(['restore', copy, '--yes', '--newer', house.state, '--json'], elsewhere)
    expect(given).toMatchObject({ code: 0 })
    const without = { env: { XDG_STATE_HOME: join(house.folder, 'third') } }
    expect((await house.run(['restore', copy, '--yes'], without)).stdout).toContain('no newer list of deletions')
    const inPlace = await house.run(['restore', copy, '--yes', '--json'])
    expect(JSON.parse(inPlace.stdout).forgotten).toMatchObject({ sessions: 1 })
    expect(JSON.parse(inPlace.stdout).forgotten.messages).toBeGreaterThan(0)
    for (const folder of [house.state, join(house.folder, 'elsewhere', 'parley')]) {
      const bytes = readFileSync(join(folder, 'parley.db'))
      expect(bytes.includes('xyzzy')).toBe(false)
      expect(bytes.includes('plugh')).toBe(false)
      expect(bytes.includes('what stays')).toBe(true)
    }
    expect(readFileSync(join(house.folder, 'third', 'parley', 'parley.db')).includes('xyzzy')).toBe(true)
    const again = house.daemon()
    await again.start()
    house.later()
    await house.heard('and now', 445)
    await again.terminate()
  })
})
