import { afterEach, describe, expect, it } from 'vitest'
import { armFailpoints, type Failpoint, failpoint } from '../../src/core/failpoint.ts'

const build = globalThis as { __FAILPOINTS__?: boolean }

afterEach(() => {
  delete build.__FAILPOINTS__
})

describe('failpoints', () => {
  it('do nothing until armed, then report each point that is reached, except in what users run', () => {
    const reached: Failpoint[] = []
    failpoint('CP1-received')
    armFailpoints((point) => reached.push(point))
    failpoint('CP2-committed')
    build.__FAILPOINTS__ = true
    failpoint('CP3-acked')
    build.__FAILPOINTS__ = false
    failpoint('CP4-claimed')
    expect(reached).toEqual(['CP2-committed', 'CP3-acked'])
  })
})
