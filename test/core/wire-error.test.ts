import { describe, expect, test } from 'vitest'
import { notAnswered, notTheApi, publicUrl } from '../../src/core/wire-error.ts'

const wireCall = { call: 'getMe', at: 'bots.example:8081/x', api: 'the Telegram Bot API', setting: 'apiRoot' }

describe('what is said of a call at the wire', () => {
  test('an address is host, port and path, and nothing secret', () => {
    expect(publicUrl('https://ada:secret@bots.example:8081/x/?token=secret#y')).toBe('bots.example:8081/x')
    expect(publicUrl('https://slack.com/api/')).toBe('slack.com/api')
  })

  test('nothing answered: the call, the address and why', () => {
    expect(notAnswered(wireCall, 'connect ECONNREFUSED')).toBe('getMe at bots.example:8081/x: connect ECONNREFUSED')
    expect(notAnswered(wireCall, 'stopped')).toBe('stopped')
  })

  test.each(['getaddrinfo ENOTFOUND bots.example', 'getaddrinfo EAI_AGAIN bots.example'])(
    '%s is said in words as well',
    (why) => {
      expect(notAnswered(wireCall, why)).toBe(
        `getMe at bots.example:8081/x: ${why} (there is no such host, or this machine is offline)`,
      )
    },
  )

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
