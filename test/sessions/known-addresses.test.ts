import { describe, expect, it } from 'vitest'
import { textContent } from '../../src/core/content.ts'
import type { EventDraft, SessionEvent, UserMessageData } from '../../src/core/event.ts'
import { NOTHING_LEAVES } from '../../src/core/forgetting.ts'
import type { SessionId, TurnId } from '../../src/core/ids.ts'
import type { Session } from '../../src/core/session.ts'
import { createKnownAddresses } from '../../src/sessions/view/known-addresses.ts'

const TURN = 'turn-2' as TurnId
const URL_OF = 'https://e.org/a'

const said = (text: string, more: Partial<UserMessageData> = {}): EventDraft => ({
  type: 'user_message',
  data: {
    ...{ text, messageId: '1', owner: false, addressed: true, triggers: true },
    sender: { id: '7', kind: 'user' },
    ...more,
  },
})
const edited = (text: string, more: Partial<UserMessageData> = {}): EventDraft => ({
  ...(said(text, more) as Extract<EventDraft, { type: 'user_message' }>),
  type: 'message_edited',
})
const result = (tool: string, text: string, isError = false): EventDraft => ({
  type: 'tool_result',
  data: { callId: 'c', tool, content: textContent(text), isError },
})
const listed = (...urls: readonly unknown[]): string =>
  JSON.stringify({ results: urls.map((url) => ({ title: `see ${URL_OF}`, url, text: URL_OF })) })
const usage = { inputTokens: 0, outputTokens: 0 } as never

/** Returns whether the address is known in a session of these events, those of a turn after `turn` in it. */
async function known(drafts: readonly (EventDraft & { readonly turnId?: TurnId })[], url = URL_OF): Promise<boolean> {
  const events = drafts.map((draft, at): SessionEvent => ({ turnId: TURN, ...draft, seq: at + 1, at }))
  const reader = createKnownAddresses({
    events: {
      latestOf: async (_session, types, limit) => events.filter(({ type }) => types.includes(type)).slice(-limit),
      since: async () => [],
    },
    sessions: { get: async () => undefined },
    forgetting: { leaving: async () => NOTHING_LEAVES },
  })
  return reader.isKnown({ sessionId: 's' as SessionId, turnId: TURN }, new URL(url))
}

describe('an address is known', () => {
  it.each<[string, EventDraft[]]>([
    ['where a person writes it', [said(`look at ${URL_OF}.`)]],
    [
      'where one of two people writes it',
      [said('hi'), said(URL_OF, { messageId: '2' }), said('ok', { messageId: '3' })],
    ],
    ['where nobody has to answer it', [said(URL_OF, { triggers: false, addressed: false })]],
    ['by the newest text of a message', [said('look'), edited(URL_OF)]],
    ['where it stands beside words that were passed on', [said(URL_OF, { forwarded: { text: 'their words' } })]],
    [
      'from before the first turn of a thread',
      [{ type: 'thread_read', data: { messages: [(said(URL_OF) as { data: UserMessageData }).data], leftOut: 0 } }],
    ],
    ['where a search of the turn lists it', [result('web_search', listed('https://f.org', URL_OF))]],
  ])('%s', async (_name, events) => expect(await known(events)).toBe(true))
})

it('an address is known to a task where a person wrote it in the conversation that began it', async () => {
  const event: SessionEvent = { ...said(URL_OF), seq: 1, at: 1 } as SessionEvent
  const reader = createKnownAddresses({
    events: { latestOf: async (session) => (session === 'parent' ? [event] : []), since: async () => [] },
    sessions: { get: async (id) => ({ id, parent: id === 'task' ? 'parent' : undefined }) as Session },
    forgetting: { leaving: async () => NOTHING_LEAVES },
  })
  const isKnown = (id: string) => reader.isKnown({ sessionId: id as SessionId, turnId: TURN }, new URL(URL_OF))
  expect([await isKnown('task'), await isKnown('other')]).toEqual([true, false])
})

it('of a conversation full of addresses the newest count: to look through it has an end', async () => {
  const flood = said(`${URL_OF}/x `.repeat(1_000))
  expect(await known([said(URL_OF, { messageId: '2' }), flood])).toBe(true)
  expect(
    await known([said(URL_OF, { messageId: '2' }), flood, said(`${URL_OF}/y `.repeat(1_000), { messageId: '3' })]),
  ).toBe(false)
  expect(
    await known([flood, said(`${URL_OF}/y `.repeat(1_000), { messageId: '3' }), said(URL_OF, { messageId: '2' })]),
  ).toBe(true)
})

describe('an address is not known', () => {
  const thread = (data: UserMessageData): EventDraft => ({
    type: 'thread_read',
    data: { messages: [data], leftOut: 0 },
  })
  const own = (said(URL_OF) as { data: UserMessageData }).data

  it.each<[string, (EventDraft & { readonly turnId?: TurnId })[]]>([
    ['that nobody wrote', []],
    ['of an earlier text of a message', [said(URL_OF), edited('never mind')]],
    ['of a deleted message', [said(URL_OF), { type: 'message_deleted', data: { messageId: '1' } }]],
    [
      'of a message that was edited and deleted',
      [said('x'), edited(URL_OF), { type: 'message_deleted', data: { messageId: '1' } }],
    ],
    ['of an edit by somebody else', [said('x'), edited(URL_OF, { sender: { id: '8', kind: 'user' } })]],
    ['of a deleted message of a thread', [thread(own), { type: 'message_deleted', data: { messageId: '1' } }]],
    ['of a bot', [said(URL_OF, { sender: { id: '7', kind: 'bot' } })]],
    ['of an id that many share', [said(URL_OF, { sender: { id: '7', kind: 'anonymous' } })]],
    ['of a hook', [said(URL_OF, { from: { hook: 'mail' } })]],
    [
      'of another session',
      [said(URL_OF, { from: { session: 's2' as SessionId, displayKey: 'x', agent: 'main' as never, hops: 1 } })],
    ],
    ['of a refused message', [said(URL_OF, { refused: true })]],
    ['in words that were passed on', [said(URL_OF, { forwarded: { name: 'Cy' } })]],
    ['in words passed on beside their own', [said('look', { forwarded: { text: URL_OF } })]],
    ['in a quote', [said('and that?', { quoted: { messageId: '0', text: URL_OF, own: false } })]],
    ['of an inline bot', [said(URL_OF, { via: { id: '9', kind: 'bot' } })]],
    ['in the data of a schedule', [said('sum up', { data: URL_OF })]],
    ['in a task that the agent has worded, unless a person wrote it', [said(URL_OF, { addresses: ['e.org/b'] })]],
    [
      'of an imported conversation',
      [
        {
          type: 'user_message',
          data: {
            text: URL_OF,
            sender: { id: 'imported', kind: 'user' },
            owner: false,
            addressed: true,
            triggers: true,
          },
        },
      ],
    ],
    ['in words of the assistant', [{ type: 'assistant_message', data: { text: URL_OF, model: 'm', usage } }]],
    ['that was posted here', [{ type: 'assistant_posted', data: { text: URL_OF, traceId: 't' as never } }]],
    ['in a page', [result('web_fetch', listed(URL_OF))]],
    ['in another conversation', [result('sessions_history', URL_OF)]],
    ['in the words of a result', [result('web_search', listed('https://f.org'))]],
    ['in a search that failed', [result('web_search', listed(URL_OF), true)]],
    ['in a search that was cut', [result('web_search', listed(URL_OF).slice(0, -1))]],
    ['in results of another form', [result('web_search', '{"results":7}'), result('web_search', listed(7, 'e.org/a'))]],
    ['of an earlier turn', [{ ...result('web_search', listed(URL_OF)), turnId: 'turn-1' as TurnId }]],
  ])('%s', async (_name, events) => expect(await known(events)).toBe(false))

  it.each(['https://e.org/', 'https://e.org/a?b', 'https://e.org/ab', 'https://e.org:8080/a', 'https://www.e.org/a'])(
    'near to one that was written: %s',
    async (url) => expect(await known([said(URL_OF)], url)).toBe(false),
  )
})
