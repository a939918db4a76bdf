import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { addUsage, NO_USAGE } from '../../src/core/model.ts'

describe('usage', () => {
  it('adds input and output apart, and nothing changes nothing', () => {
    expect(addUsage({ input: 1, output: 20 }, { input: 300, output: 4_000 })).toEqual({ input: 301, output: 4_020 })
    expect(addUsage(NO_USAGE, { input: 1, output: 2 })).toEqual({ input: 1, output: 2 })
  })
})

describe('silent logger', () => {
  it('takes every call and its children are as silent', () => {
    const child = silentLogger.child({ subsystem: 'test' })
    expect(child).toBe(silentLogger)
    for (const level of ['debug', 'info', 'warn', 'error'] as const) expect(child[level]('a sentence')).toBeUndefined()
  })
})
