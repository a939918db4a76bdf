import { execFile } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { useCompileCache } from '../../src/platform/compile-cache.ts'
import { localFolder } from '../fakes/local-folder.ts'

const PRODUCT = new URL('../../dist/main.js', import.meta.url).pathname

/** The folder that is used, if one is. */
function used(env: Readonly<Record<string, string>>, home?: string): string | undefined {
  let folder: string | undefined
  useCompileCache({ env, home }, (given) => {
    folder = given
  })
  return folder
}

describe('compiled code', () => {
  test('is kept in a folder of this user alone, made where it is missing', async () => {
    const home = await localFolder()
    const folder = used({}, home)
    expect(folder).toBe(join(home, '.cache', 'parley', 'compiled'))
    expect(statSync(String(folder)).mode & 0o777).toBe(0o700)
    expect(used({ HOME: home }, '/nowhere')).toBe(folder)
    expect(used({ XDG_CACHE_HOME: home })).toBe(join(home, 'parley', 'compiled'))
    expect(used({ XDG_CACHE_HOME: 'relative' }, home)).toBe(folder)
    expect(used({ CACHE_DIRECTORY: `${home}:/other` }, '/nowhere')).toBe(join(home, 'compiled'))
  })

  test('is not kept without a home, or where none can be made', async () => {
    const home = await localFolder()
    expect(used({})).toBeUndefined()
    expect(used({ HOME: '/proc' })).toBeUndefined()
    symlinkSync('nowhere', join(home, '.cache'))
    mkdirSync(join(home, 'readable', 'compiled'), { recursive: true })
    for (const path of ['readable', 'readable/compiled']) chmodSync(join(home, path), 0o755)
    expect(used({ CACHE_DIRECTORY: join(home, 'readable') })).toBeUndefined()
  })

  test('is not kept in a folder that others may write to, nor below one', async () => {
    const home = await localFolder()
    const folder = join(home, 'compiled')
    mkdirSync(folder)
    chmodSync(folder, 0o777)
    expect(used({ CACHE_DIRECTORY: home })).toBeUndefined()
    chmodSync(folder, 0o700)
    expect(used({ CACHE_DIRECTORY: home })).toBe(folder)
    chmodSync(home, 0o777)
    expect(used({ CACHE_DIRECTORY: home })).toBeUndefined()
  })

  test.runIf(process.geteuid?.() === 0)('is not kept in a folder of somebody else, not even by root', async () => {
    const home = await localFolder()
    chownSync(home, 65534, 65534)
    expect(used({}, home)).toBeUndefined()
    mkdirSync(join(home, 'compiled'), { mode: 0o700 })
    chownSync(join(home, 'compiled'), 65534, 65534)
    expect(used({ CACHE_DIRECTORY: home })).toBeUndefined()
    expect(readdirSync(home)).toEqual(['compiled'])
  })

  test.runIf('enableCompileCache' in nodeModule && existsSync(PRODUCT))(
    'of the built program goes there, and nothing to the folder all users share',
    async () => {
      const [home, shared] = [await localFolder(), await localFolder()]
      const env = { PATH: process.env.PATH, HOME: home, TMPDIR: shared }
      await promisify(execFile)(process.execPath, [PRODUCT, '--version'], { env })
      expect(readdirSync(shared)).toEqual([])
      expect(readdirSync(join(home, '.cache', 'parley', 'compiled'))).not.toEqual([])
    },
  )
})
