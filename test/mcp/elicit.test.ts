import { expect, it } from 'vitest'
import type { SessionId, TurnId } from '../../src/core/ids.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { createElicits } from '../../src/mcp/elicit.ts'

it('F-H07: a question that waits behind another is put to nobody once its call has ended', async () => {
  const over = new AbortController()
  const put: string[] = []
  const { answer } = createElicits({
    people: {
      async ask({ text }) {
        put.push(text)
        over.abort()
        return { kind: 'open', because: 'ended' }
      },
    },
    server: 'asker',
    turn: { id: 'turn' as TurnId, sessionId: 'session' as SessionId, agentId: toAgentId('main'), callId: 'call' },
    signal: over.signal,
  })
  const asked = ['first', 'second', 'third'].map((message) => answer({ message, requestedSchema: { type: 'object' } }))
  expect(await Promise.all(asked)).toEqual(Array(3).fill({ action: 'cancel' }))
  expect(put).toEqual(['first'])
})
