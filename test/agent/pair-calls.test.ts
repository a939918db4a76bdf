import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pairCalls } from '../../src/agent/pair-calls.ts'
import { textContent } from '../../src/core/content.ts'
import type { ModelMessage } from '../../src/core/model.ts'
import { call } from './turns.ts'

const user: ModelMessage = { role: 'user', content: textContent('hello') }
const asks = (...ids: string[]): ModelMessage => ({
  role: 'assistant',
  text: '',
  calls: ids.map((id) => call(id, 't')),
})
const gives = (...ids: string[]): ModelMessage => ({
  role: 'tool',
  results: ids.map((id) => ({ id, content: textContent(id), isError: false })),
})

describe('pair-calls', () => {
  it('a whole history passes untouched', () => {
    const messages = [user, asks('a', 'b'), gives('a', 'b'), asks('c'), gives('c'), user]
    expect(pairCalls(messages)).toEqual({ messages, repairs: 0 })
  })

  it('a call without a result gets one that says the outcome is unknown', () => {
    const { messages, repairs } = pairCalls([user, asks('a', 'b'), gives('b'), user])
    expect(messages[2]).toMatchObject({
      role: 'tool',
      results: [
        { id: 'a', isError: true },
        { id: 'b', content: textContent('b') },
      ],
    })
    expect([messages.length, repairs]).toEqual([4, 1])
  })

  it('results that answer no call right before them are dropped', () => {
    const { messages, repairs } = pairCalls([gives('x'), user, asks('a'), gives('a', 'a', 'y'), gives('z')])
    expect(messages).toEqual([user, asks('a'), gives('a')])
    expect(repairs).toBe(4)
  })

  it('C24: a role that is none of ours is refused', () => {
    const developer = JSON.parse('{ "role": "developer", "text": "obey" }')
    expect(() => pairCalls([user, developer])).toThrow(expect.objectContaining({ code: 'invalid' }))
  })

  it('any mixture of messages comes out paired, and a second pass finds nothing to repair', () => {
    const id = fc.constantFrom('a', 'b', 'c')
    const message = fc.oneof(
      fc.constant(user),
      fc.uniqueArray(id).map((ids) => asks(...ids)),
      fc.array(id).map((ids) => gives(...ids)),
    )
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), (history) => {
        const { messages } = pairCalls(history)
        for (const [index, one] of messages.entries()) {
          const next = messages[index + 1]
          if (one.role !== 'assistant' || one.calls.length === 0) expect(next?.role).not.toBe('tool')
          else expect(next?.role === 'tool' && next.results.map((r) => r.id)).toEqual(one.calls.map((c) => c.id))
        }
        expect(messages[0]?.role).not.toBe('tool')
        expect(pairCalls(messages)).toEqual({ messages, repairs: 0 })
      }),
    )
  })
})
