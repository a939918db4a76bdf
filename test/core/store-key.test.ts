import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { StoreKey, storeKeyMistake } from '../../src/core/store-key.ts'

const HEX = randomBytes(32).toString('hex')

describe('the key of a store', () => {
  it('gives each use 32 bytes of its own, the same each time, from which the key cannot be seen', () => {
    const uses = ['database', 'files', 'file-names'] as const
    const made = uses.map((use) => new StoreKey(HEX).derive(use).toString('hex'))
    expect(made).toEqual(uses.map((use) => new StoreKey(HEX.toUpperCase()).derive(use).toString('hex')))
    expect(new Set([...made, HEX]).size).toBe(4)
    expect(made.map(({ length }) => length)).toEqual([64, 64, 64])
    expect(new StoreKey(randomBytes(32).toString('hex')).derive('database').toString('hex')).not.toBe(made[0])
  })

  it('never prints itself', () => {
    const key = new StoreKey(HEX)
    expect([`${key}`, JSON.stringify({ key }), inspect(key)]).toEqual(['[secret]', '{"key":"[secret]"}', '[secret]'])
    expect(inspect(key, { showHidden: true, customInspect: false })).not.toContain(HEX.slice(0, 8))
  })

  it.each([
    ['nothing amiss', HEX, undefined],
    ['base64', randomBytes(32).toString('base64'), 'has 44 characters; make one with: openssl rand -hex 32'],
    ['too short', HEX.slice(2), 'must be 64 hexadecimal digits and has 62 characters'],
    ['a passphrase', 'correct horse battery staple', 'has 28 characters'],
    ['a letter too far', `g${HEX.slice(1)}`, 'must be 64 hexadecimal digits'],
    ['zeros', '0'.repeat(64), 'is not random; make one with: openssl rand -hex 32'],
    ['made up', '0123456789abcdef'.repeat(4), 'is not random'],
  ])('%s: says what is wrong and never the key', (_, text, mistake) => {
    const said = storeKeyMistake(text)
    if (mistake === undefined) expect(said).toBeUndefined()
    else expect(said).toContain(mistake)
    expect(said ?? '').not.toContain(text)
  })
})
