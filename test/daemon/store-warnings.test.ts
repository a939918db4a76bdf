import { expect, it } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { storeWarnings } from '../../src/daemon/store-warnings.ts'

it('C48: a store key is warned about where the driver that encrypts does not load, and is not looked for without one', async () => {
  const key = new Secret('0'.repeat(64))
  const missing = () => Promise.reject(new Error('it is not installed'))
  expect(await storeWarnings({ key }, missing)).toEqual(['a start is refused here: it is not installed'])
  expect(await storeWarnings({ key }, async () => {})).toEqual([])
  expect(await storeWarnings({}, missing)).toEqual([])
})
