import { expect, test } from 'vitest'
import { EXIT, ParleyError } from '../../src/core/errors.ts'
import type { ConversionReport } from '../../src/core/store-conversion.ts'
import { convertConfigured } from '../../src/daemon/convert-store.ts'
import { rig } from './rig.ts'

const report: ConversionReport = {
  form: 'encrypted',
  databases: ['/state/parley.db', '/state/parley.db.before-v7'],
  files: 3,
  left: ['/state/parley.db.mine: is a plain database that somebody put there'],
}

const returning = (given: Partial<ConversionReport>) =>
  rig({ convertStore: async (_loaded, { to }) => ({ ...report, form: to, ...given }) })

test('store encrypt says what was encrypted, what stays, and what a disk may hold', async () => {
  const parley = await returning({})
  expect(await parley.run('store', 'encrypt')).toBe(EXIT.ok)
  expect(parley.out().trimEnd().split('\n')).toEqual([
    '/state/parley.db: encrypted',
    '/state/parley.db.before-v7: encrypted',
    '3 files of conversations: encrypted',
    '/state/parley.db.mine: is a plain database that somebody put there',
    'What was there before is overwritten. An SSD, or a file system with snapshots, may hold it on; only an encrypted disk does not.',
    'Keep store.key in another place too: without it nobody can read any of this.',
  ])
})

test('store decrypt says what to do with the key, and --json prints the report', async () => {
  const parley = await returning({ left: [], files: 0 })
  expect(await parley.run('store', 'decrypt')).toBe(EXIT.ok)
  expect(parley.out()).toBe(
    '/state/parley.db: decrypted\n/state/parley.db.before-v7: decrypted\nTake store.key out of the configuration before the next start.\n',
  )
  const json = await returning({})
  expect(await json.run('store', 'decrypt', '--json')).toBe(EXIT.ok)
  expect(JSON.parse(json.out())).toEqual({ ...report, form: 'plain' })
})

test.each([
  ['encrypt', 'All is encrypted already.'],
  ['decrypt', 'There is nothing encrypted.'],
])('store %s where there is nothing to do says so', async (command, words) => {
  const parley = await returning({ databases: [], files: 0, left: [] })
  expect(await parley.run('store', command)).toBe(EXIT.ok)
  expect(parley.out()).toContain(words)
})

test('C48: without a key both end with 78 and how to come by one, and so does a key that is elsewhere', async () => {
  const parley = await rig({ convertStore: ({ config }, options) => convertConfigured(config, options) })
  expect(await parley.run('store', 'encrypt')).toBe(EXIT.config)
  expect(parley.err()).toContain('store.key is not set; make one with: openssl rand -hex 32')
  expect(await parley.run('store', 'decrypt')).toBe(EXIT.config)
  expect(parley.err()).toContain('set it to the key with which the store was encrypted')
  const { store, ...config } = parley.loaded.config
  const absent = 'store.key: the variable STORE_KEY is not set; set it or change the reference'
  await expect(
    convertConfigured({ ...config, store: { ...store, keyAbsent: absent } }, { to: 'encrypted' }),
  ).rejects.toThrow(absent)
})

test('a daemon that runs keeps its store', async () => {
  const parley = await rig({
    convertStore: () => Promise.reject(new ParleyError('store_locked', 'another process uses the database')),
  })
  expect(await parley.run('store', 'encrypt')).toBe(EXIT.locked)
})
