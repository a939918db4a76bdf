import { expect, test } from 'vitest'
import { deferred } from '../../src/core/deferred.ts'
import { type SessionId, type TurnId, toAgentId } from '../../src/core/ids.ts'
import type { QuestionDraft } from '../../src/core/question.ts'
import { createElicits } from '../../src/mcp/elicit.ts'

const form = (message: string) => ({ message, requestedSchema: { type: 'object', properties: {} } })
const TURN = { id: 'turn', sessionId: 's', agentId: 'main', callId: 'call' } as never

test('F-H07: what one call asks at once is put to a person one after the other', async () => {
  const asked: QuestionDraft[] = []
  const first = deferred()
  const people = {
    async ask(draft: QuestionDraft) {
      asked.push(draft)
      if (draft.text === 'one') await first.promise
      return { kind: 'answered', text: 'Accept', name: 'Ada', choice: 0 } as const
    },
  }
  const elicits = createElicits({ people, server: 'asker', turn: TURN, signal: new AbortController().signal })
  const answers = [elicits.answer(form('one')), elicits.answer(form('two'))]
  await new Promise(setImmediate)
  expect(asked.map(({ text }) => text)).toEqual(['one'])
  first.resolve()
  expect(await Promise.all(answers)).toEqual(Array(2).fill({ action: 'accept', content: {} }))
  expect(asked.map(({ part }) => part)).toEqual([0, 1])
})

test('C29: a question and its choices are put to people without the secrets of the configuration', async () => {
  const asked: QuestionDraft[] = []
  const people = {
    async ask(draft: QuestionDraft) {
      asked.push(draft)
      return { kind: 'answered', text: 'long-canary', name: 'Ada', choice: 0 } as const
    },
  }
  const redact = (text: string) => text.replaceAll('long-canary', '[secret]')
  const signal = new AbortController().signal
  const { answer } = createElicits({ people, server: 'asker', turn: TURN, signal, redact })
  const properties = { key: { type: 'string', enum: ['long-canary', 'another'] } }
  const answered = await answer({ message: 'Is it long-canary?', requestedSchema: { type: 'object', properties } })
  expect(JSON.stringify(asked)).not.toContain('long-canary')
  expect(asked[0]?.choices).toContain('[secret]')
  expect(answered).toEqual({ action: 'accept', content: { key: 'long-canary' } })
})

test('F-H07: a question that waits behind another is put to nobody once its call has ended', async () => {
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
