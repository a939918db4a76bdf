import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type LookupFunction } from 'node:net'
import { describe, expect, test } from 'vitest'
import { notAnswered, notTheApi, publicUrl, whyUnanswered } from '../../src/core/wire-error.ts'

const wireCall = { call: 'getMe', at: 'bots.example:8081/x', api: 'the Telegram Bot API', setting: 'apiRoot' }

const bothLoopbacks: LookupFunction = (_host, _options, callback) =>
  callback(null, [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ])

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

describe('what is said of a call at the wire', () => {
  test('an address is host, port and path, and nothing secret', () => {
    expect(publicUrl('https://ada:secret@bots.example:8081/x/?token=secret#y')).toBe('bots.example:8081/x')
    expect(publicUrl('https://slack.com/api/')).toBe('slack.com/api')
  })

  test('nothing answered: the call, the address and why', () => {
    expect(notAnswered(wireCall, 'it broke off')).toBe('getMe at bots.example:8081/x: it broke off')
    expect(notAnswered(wireCall, 'stopped')).toBe('stopped')
  })

  test('an error of a connection without words says each address that was tried, and why', async () => {
    const port = await closedPort()
    const tried = { port, lookup: bothLoopbacks, autoSelectFamily: true }
    const [error] = await once(connect({ ...tried, host: 'model.example' }), 'error').catch((thrown) => [thrown])
    expect(error).toMatchObject({ message: '' })
    const reasons = new Set(whyUnanswered(new TypeError('fetch failed', { cause: error })).split('; '))
    expect(reasons).toContain(`127.0.0.1:${port} refused the connection`)
    expect([...reasons].find((reason) => reason.startsWith(`[::1]:${port} `))).toBeDefined()
  })

  test('a name that nobody knows and a certificate of an own authority are said in words', async () => {
    const error = await lookup('nobody.invalid').catch((thrown: unknown) => thrown)
    expect(whyUnanswered(error)).toMatch(/nobody\.invalid.* this machine is offline/)
    const certificate = Object.assign(new Error('unable to verify the first certificate'), {
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    })
    expect(whyUnanswered(new TypeError('fetch failed', { cause: certificate }))).toMatch(
      /^the certificate there is signed by nobody who is trusted here; .*NODE_EXTRA_CA_CERTS/,
    )
  })

  test('the words around a reason are left out, and a failure without any is said so', () => {
    expect(whyUnanswered(new TypeError('fetch failed', { cause: new Error('other side closed') }))).toBe(
      'other side closed',
    )
    expect(whyUnanswered(new TypeError('fetch failed', { cause: new Error('') }))).toBe('fetch failed')
    expect(whyUnanswered(new Error(''))).toBe('no reason was given')
  })

  test.each([
    [404, 'text/html; charset=utf-8', 'HTML'],
    [200, 'application/json', 'JSON of another kind'],
    [200, 'image/png', 'image/png'],
    [418, '', 'content of no type'],
    [418, '\u001b[31m', 'content of no type'],
  ])('something else answered %i with %j: the status, the kind and the setting', (status, type, kind) => {
    expect(notTheApi(wireCall, { status, type })).toBe(
      `getMe at bots.example:8081/x was answered ${status} with ${kind}, which is not the Telegram Bot API: check apiRoot`,
    )
  })

  test('a server in trouble is not called another one', () => {
    expect(notTheApi(wireCall, { status: 502, type: 'text/html' })).toBe(
      'getMe at bots.example:8081/x was answered 502 with HTML',
    )
  })
})
