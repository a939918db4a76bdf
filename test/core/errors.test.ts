import { describe, expect, it } from 'vitest'
import { EXIT, errorCode, ParleyError, toError } from '../../src/core/errors.ts'

describe('errors', () => {
  it('an error of ours keeps code, message and cause', () => {
    const cause = new Error('socket closed')
    const error = new ParleyError('unavailable', 'the store is closed', { cause })
    expect(error).toMatchObject({ name: 'ParleyError', code: 'unavailable', message: 'the store is closed', cause })
    expect(errorCode(error)).toBe('unavailable')
  })

  it('anything else is internal', () => {
    expect([new Error('x'), 'x', undefined].map(errorCode)).toEqual(['internal', 'internal', 'internal'])
  })

  it('what was thrown becomes an error, an error stays itself', () => {
    const error = new TypeError('x')
    expect(toError(error)).toBe(error)
    expect(toError('plain')).toMatchObject({ message: 'plain' })
  })

  it('the exit codes are fixed: the service unit and scripts go by them', () => {
    const forStatus = { channelDown: 3 }
    expect(EXIT).toEqual({ ok: 0, failed: 1, usage: 2, ...forStatus, migration: 65, disk: 74, locked: 75, config: 78 })
  })
})
