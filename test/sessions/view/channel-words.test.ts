import { describe, expect, it } from 'vitest'
import type { EventDraft, SessionEvent, UserMessageData } from '../../../src/core/event.ts'
import { toSessionId } from '../../../src/core/ids.ts'
import { type ReadLog, referenceTo, withChannelWords } from '../../../src/sessions/view/channel-words.ts'

const LOG = toSessionId('slack:root')
const bob = { id: 'U444', kind: 'user', displayName: 'Bob' } as const

function said(text: string, more: Partial<UserMessageData> = {}): EventDraft {
  const data = { messageId: '1', text, sender: bob, owner: false, addressed: false, triggers: false, ...more }
  return { type: 'user_message', data }
}

const edited = (text: string, more: Partial<UserMessageData> = {}): EventDraft =>
  ({ ...said(text, more), type: 'message_edited' }) as EventDraft

/** Returns what a thread is shown of the first of these events, and how the log was read. */
async function shownOf(drafts: readonly EventDraft[]) {
  const events = drafts.map((draft, at) => ({ ...draft, seq: at + 1, at }) as SessionEvent)
  const reads: (readonly [number, number])[] = []
  const read: ReadLog = async (_session, after, limit) => {
    reads.push([after, limit])
    return events.filter(({ seq }) => seq > after).slice(0, limit)
  }
  const { data } = said('') as { readonly data: UserMessageData }
  const reference = referenceTo(data, { session: LOG, seq: 1 })
  return { shown: (await withChannelWords([reference], read)).get(reference), reads }
}

describe('a message of the channel that a thread is shown', () => {
  it('has its words, owes nothing there, and says which log has it', async () => {
    const { shown } = await shownOf([said('tea', { triggers: true, addressed: true })])
    expect(shown).toMatchObject({ text: 'tea', triggers: false, addressed: false, elsewhere: LOG })
    expect(shown?.inChannel).toBe('answered')
  })

  it('is one of ours where the agent has posted it', async () => {
    const { shown } = await shownOf([{ type: 'assistant_posted', data: { text: 'the digest', traceId: 't' } } as never])
    expect(shown).toMatchObject({ text: 'the digest', inChannel: 'own' })
  })

  it.each<[string, EventDraft[]]>([
    ['that was refused', [said('tea', { refused: true } as object)]],
    ['that is shown there by reference itself', [said('', { source: { session: LOG, seq: 9 } })]],
    ['that was deleted', [said('tea'), { type: 'message_deleted', data: { messageId: '1' } }]],
    [
      'of a log that has grown so far that a deletion could be overlooked',
      [said('tea'), ...Array.from({ length: 1_999 }, (_one, at) => said('on', { messageId: `${at + 2}` }))],
    ],
  ])('is nothing %s', async (_which, events) => {
    const { shown, reads } = await shownOf(events)
    expect(shown).toBeUndefined()
    expect(reads).toEqual([[0, 2_000]])
  })

  it('has what was read of its files there', async () => {
    const file = { ref: 'F1', kind: 'document', fileName: 'a.txt' } as const
    const read: EventDraft = { type: 'files_read', data: { files: [{ ref: 'F1', text: 'on the left' }] } }
    const { shown } = await shownOf([said('the plan', { attachments: [file] }), read])
    expect(shown?.attachments).toEqual([{ ...file, text: 'on the left' }])
  })

  const file = (ref: string) => ({ ref, kind: 'document' }) as const
  it.each<[string, Partial<UserMessageData>, EventDraft, Partial<UserMessageData>]>([
    ['its own words', {}, edited('two'), { text: 'two' }],
    ['not the preview of a page', {}, edited('two', { enclosed: ['preview'] }), { text: 'two' }],
    ['not the words of whoever it passes on by then', {}, edited('theirs', { forwarded: {} }), { text: 'one' }],
    ['its own words beside those it passes on', {}, edited('two', { forwarded: { text: 'theirs' } }), { text: 'two' }],
    [
      'the files that are left of those it came with',
      { attachments: [file('a'), file('b')] },
      edited('two', { attachments: [file('b'), file('c')] }),
      { text: 'two', attachments: [file('b')] },
    ],
    [
      'what is left of what it came with',
      { enclosed: ['a poll', 'a place'] },
      edited('two', { enclosed: ['a place', 'a preview'] }),
      { text: 'two', enclosed: ['a place'] },
    ],
  ])('has of an edit %s', async (_what, first, edit, left) => {
    const { shown } = await shownOf([said('one', first), edit])
    const { text, enclosed, forwarded, attachments } = shown ?? {}
    expect(JSON.parse(JSON.stringify({ text, enclosed, forwarded, attachments }))).toEqual(left)
  })
})
