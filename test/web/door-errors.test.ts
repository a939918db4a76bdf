import { expect, it } from 'vitest'
import { cameNowhere } from '../../src/web/door.ts'

const failed = (code: string): Error => new Error('it failed', { cause: Object.assign(new Error(code), { code }) })

it.each([
  'ENOTFOUND',
  'ECONNREFUSED',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'EPROTO',
])('C33: a request that ended with %s has come nowhere, so that it costs nothing', (code) =>
  expect(cameNowhere(failed(code))).toBe(true),
)

it.each(['ECONNRESET', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_SOCKET'])(
  'C33: one that ended with %s may have been done',
  (code) => expect(cameNowhere(failed(code))).toBe(false),
)

it('C33: neither is one of which nothing is known', () => {
  expect(cameNowhere(new Error('it failed'))).toBe(false)
  expect(cameNowhere(new Error('it failed', { cause: 'ENOTFOUND' }))).toBe(false)
})
