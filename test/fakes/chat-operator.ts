import type { ChatOperator } from '../../src/core/operate-chat.ts'

/** Answers with the last words of the request, and remembers what it was asked. */
export function fakeChat(asked: unknown[]): ChatOperator {
  return {
    models() {
      asked.push('models')
      return [{ id: 'main', createdAt: 1_700_000_000_000 }]
    },
    async answer(request, { grew }) {
      asked.push(request)
      const text = `answer to ${request.messages.at(-1)?.text}`
      grew(text)
      return { traceId: 'tr_1', text, usage: { input: 3, output: 2 } }
    },
  }
}
