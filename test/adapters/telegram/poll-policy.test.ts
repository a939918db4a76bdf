import { describe, expect, test } from 'vitest'
import { confirming, readTrouble } from '../../../adapters/telegram/connection/poll-policy.ts'

const batch = (...ids: unknown[]) => ids.map((update_id) => ({ update_id }))

describe('confirming', () => {
  test('is the offset behind the last update that is committed', () => {
    expect(confirming(batch(10, 11, 12), 3)).toBe(13)
    expect(confirming(batch(10, 11, 12), 1)).toBe(11)
  })

  test('F-G05: is the last id, not the highest', () => {
    expect(confirming(batch(900, 5), 2)).toBe(6)
  })

  test('F-G05: never says what the platform would take for "forget the rest"', () => {
    expect(confirming(batch(-5), 1)).toBeUndefined()
    expect(confirming(batch(0), 1)).toBe(1)
  })

  test.each([2 ** 53, 2 ** 63, 1.5, '7', null, undefined])('passes over the id %s', (id) => {
    expect(confirming(batch(7, id), 2)).toBe(8)
    expect(confirming(batch(id), 1)).toBeUndefined()
  })

  test('is nothing when nothing is committed', () => {
    expect(confirming(batch(10), 0)).toBeUndefined()
    expect(confirming([null, 5, []], 3)).toBeUndefined()
  })
})

describe('readTrouble', () => {
  const refused = (code: number, description: string, retryAfterSeconds?: number) =>
    readTrouble({
      kind: 'refused',
      code,
      description,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    })

  test('F-B04: a conflict is waited out with long polls only', () => {
    expect(refused(409, 'Conflict: terminated by other getUpdates request')).toEqual({
      detail: 'another instance polls this token: stop it, or give each instance a bot of its own',
      capMs: 30_000,
      probe: false,
    })
  })

  test.each([
    [401, 'Unauthorized'],
    [404, 'Not Found'],
  ])('F-C09: %i is a refused token, tried again once a minute', (code, description) => {
    expect(refused(code, description)).toMatchObject({ capMs: 60_000, detail: expect.stringContaining('token') })
  })

  test('F-C04: a time to wait is kept, and one is assumed where none is given', () => {
    expect(refused(429, 'Too Many Requests: retry after 35', 35)).toMatchObject({ retryAfterMs: 35_000 })
    expect(refused(429, 'Too Many Requests')).toMatchObject({ retryAfterMs: 5000 })
  })

  test('anything else is shown as it was said', () => {
    expect(refused(400, 'Bad Request: odd')).toMatchObject({ detail: expect.stringContaining('400: Bad Request: odd') })
    expect(
      readTrouble({
        kind: 'failed',
        reason: 'getUpdates at api.telegram.org: getaddrinfo ENOTFOUND',
        bytesMayHaveLeft: false,
      }),
    ).toMatchObject({
      detail: 'Telegram: getUpdates at api.telegram.org: getaddrinfo ENOTFOUND',
      capMs: 30_000,
      probe: true,
    })
  })
})
