import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { catalogue } from '../../adapters/index.ts'
import { explainConfig } from '../../src/config/explain.ts'
import { laterChanges } from '../../src/config/later-changes.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { load, refusal, TELEGRAM } from './loading.ts'

const KEY = randomBytes(32).toString('hex')
const BY_ENV = `${TELEGRAM}store: { key: "\${env:STORE_KEY}" }\n`

describe('store.key', () => {
  it('C48: comes by reference, from the environment or a file, and no print of the configuration has it', async () => {
    const byFile = `${TELEGRAM}store: { key: "\${file:key}" }\n`
    for (const loaded of [await load(BY_ENV, { STORE_KEY: KEY }), await load(byFile, {}, { key: `${KEY}\n` })]) {
      const { config, secrets } = loaded
      expect(config.store.key?.reveal()).toBe(KEY)
      expect(secrets).toContain(KEY)
      expect(config.secrets?.map((secret) => secret.reveal())).toContain(KEY)
      expect(JSON.stringify(config) + inspect(config, { depth: 9 }) + explainConfig(config).join()).not.toContain(KEY)
      expect(explainConfig(config)).toContain('store.key: the database, its copies and the files are encrypted with it')
    }
  })

  it('that stands in the file itself is used and warned of', async () => {
    const { config } = await load(`${TELEGRAM}store: { key: "${KEY}" }\n`)
    expect(config.store.key?.reveal()).toBe(KEY)
    expect(config.warnings.join()).toContain('store.key: the secret stands in the file itself')
    expect(config.warnings.join()).not.toContain(KEY)
  })

  it('a change of it waits for the next start', async () => {
    const [{ config: before }, { config: after }] = [await load(TELEGRAM), await load(BY_ENV, { STORE_KEY: KEY })]
    expect(laterChanges(before, { ...after, store: { ...after.store, path: before.store.path } })).toEqual([
      'store.key',
    ])
    expect(explainConfig(before).find((line) => line.startsWith('store.key'))).toContain('not encrypted')
  })

  it.each([
    ['too short', KEY.slice(4), 'store.key: must be 64 hexadecimal digits and has 60 characters'],
    ['not random', 'ab'.repeat(32), 'store.key: is not random; make one with: openssl rand -hex 32'],
  ])('one that is %s is refused without being shown', async (_, key, message) => {
    const said = await refusal(BY_ENV, { STORE_KEY: key })
    expect(said).toContain(message)
    expect(said).not.toContain(key)
  })

  it('a misspelt name is refused with the right one', async () => {
    expect(await refusal(`${TELEGRAM}store: { keys: x }\n`)).toContain('key')
  })

  it('one that is not there prevents a start, and a question is told only where it needs the store itself', async () => {
    expect(await refusal(BY_ENV)).toContain('store.key: the variable STORE_KEY is not set')
    const { folder } = await load(BY_ENV, { STORE_KEY: KEY })
    const { config } = await loadConfig({
      path: 'parley.yaml',
      env: { HOME: folder },
      cwd: folder,
      catalogue,
      use: 'ask',
    })
    expect(config.store.key).toBeUndefined()
    expect(config.store.keyAbsent).toContain('store.key: the variable STORE_KEY is not set; set it or change')
  })
})
