import { describe, expect, it } from 'vitest'
import type { SessionEvent, UserMessageData } from '../../src/core/event.ts'
import { sliceOf, sourcesOf } from '../../src/memory/slice.ts'

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

it('S34: a checkpoint reads the newest 32,000 characters, of each message the first 2,000', () => {
  const long = (words: number) => Array.from({ length: 20 }, (_, at) => message(at + 1, 'x'.repeat(words)))
  expect(textsOf(...long(1_994))).toHaveLength(16)
  const cut = textsOf(...long(2_001))
  expect([cut.length, cut[0]]).toEqual([15, `[Ada] ${'x'.repeat(2_000)} [cut]`])
  expect(textsOf(message(1, 'old'), ...long(1_994), message(22, 'new')).at(-1)).toBe('[Ada] new')
  expect(sliceOf([message(1, 'old'), ...long(1_994)]).upTo).toBe(20)
})

it('S34: a checkpoint reads what was quoted, but no answer of the agent once more', () => {
  const quoted = { messageId: '0', text: 'dinner at seven', own: false } as const
  expect(textsOf(message(1, 'yes', { quoted }))).toEqual(['[Ada] [in reply to: dinner at seven] yes'])
  expect(textsOf(message(1, 'yes', { quoted: { ...quoted, own: true } }))).toEqual(['[Ada] yes'])
})

it('S34: a checkpoint reads what its writers have said in voice notes, and no recording that was passed on', () => {
  const note = { attachments: [{ ref: 'r1', kind: 'voice' }] } as const
  const read = (seq: number): SessionEvent => ({
    ...{ seq, at: seq, type: 'files_read' },
    data: { files: [{ ref: 'r1', spoken: 'Bo gets a kite' }] },
  })
  expect(textsOf(message(1, '', note), read(2))).toEqual(['[Ada] [voice note] Bo gets a kite'])
  expect(sliceOf([message(1, '', note), read(2)]).sources).toEqual(new Map([[1, { messageId: '1' }]]))
  expect(textsOf(message(1, '', { ...note, forwarded: {} }), read(2)).join()).not.toContain('kite')
  const deleted: SessionEvent = { seq: 3, at: 3, type: 'message_deleted', data: { messageId: '1' } }
  expect(textsOf(message(1, '', note), read(2), deleted)).toEqual([])
})

it('S39: a text that has no telling word of any line is made of all of them', () => {
  const slice = sliceOf([message(1, 'the gate opens with bluebird'), message(2, 'tea at seven')])
  expect(sourcesOf('The bluebird opens it.', [], slice)).toEqual([{ messageId: '1' }])
  expect(sourcesOf('Xyzzy.', [], slice)).toEqual([{ messageId: '1' }, { messageId: '2' }])
})

describe('S34, C23: a checkpoint reads nothing of a message that was deleted since', () => {
  const deleted = (seq: number, messageId: string): SessionEvent => ({
    ...{ seq, at: seq, type: 'message_deleted' },
    data: { messageId },
  })

  it('not the words that an edit gave it', () => {
    const { data } = message(1, 'the gate opens with bluebird') as { readonly data: UserMessageData }
    const edit: SessionEvent = { seq: 2, at: 2, type: 'message_edited', data }
    expect(textsOf(message(1, 'hello'), edit, message(3, 'and then'), deleted(4, '1'))).toEqual(['[Ada] and then'])
    expect(textsOf(edit, deleted(4, '1'))).toEqual([])
  })

  it('not what a reply quotes of it', () => {
    const quoted = { messageId: '1', text: 'the gate opens with bluebird', own: false } as const
    expect(textsOf(message(2, 'thanks', { quoted }), deleted(3, '1'))).toEqual(['[Ada] thanks'])
    expect(textsOf(message(2, 'thanks', { quoted }), deleted(3, '7'))).toEqual([
      '[Ada] [in reply to: the gate opens with bluebird] thanks',
    ])
  })

  it('not where it was read with a thread', () => {
    const said = [message(1, 'bluebird'), message(2, 'tea')].flatMap((one) =>
      one.type === 'user_message' ? [one.data] : [],
    )
    const read: SessionEvent = { seq: 3, at: 3, type: 'thread_read', data: { messages: said, leftOut: 0 } }
    expect(textsOf(read, deleted(4, '1'))).toEqual(['[Ada] tea'])
  })
})
