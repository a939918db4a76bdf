import { expect, it } from 'vitest'
import type { SessionEvent, UserMessageData } from '../../src/core/event.ts'
import { sliceOf } from '../../src/memory/slice.ts'

const message = (seq: number, text: string, more: Partial<UserMessageData> = {}): SessionEvent => ({
  ...{ seq, at: seq, type: 'user_message' },
  data: {
    ...{ text, owner: false, addressed: true, triggers: true, messageId: `${seq}` },
    ...{ sender: { id: '111', kind: 'user', displayName: 'Ada' } },
    ...more,
  },
})

const textsOf = (...events: readonly SessionEvent[]): readonly string[] => sliceOf(events).lines.map(({ text }) => text)

it('S34: a checkpoint reads nothing that was refused', () => {
  const refused = { refused: 'turn_limit' } as unknown as Partial<UserMessageData>
  expect(textsOf(message(1, 'one'), message(2, 'two', refused))).toEqual(['[Ada] one'])
})

it('S34: a checkpoint reads what was quoted, but no answer of the agent once more', () => {
  const quoted = { messageId: '0', text: 'dinner at seven', own: false } as const
  expect(textsOf(message(1, 'yes', { quoted }))).toEqual(['[Ada] [in reply to: dinner at seven] yes'])
  expect(textsOf(message(1, 'yes', { quoted: { ...quoted, own: true } }))).toEqual(['[Ada] yes'])
})
