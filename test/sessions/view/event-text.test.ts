import { expect, it } from 'vitest'
import type { EventDraft, ThreadReadData, UserMessageData } from '../../../src/core/event.ts'
import { toSessionId } from '../../../src/core/ids.ts'
import { eventText } from '../../../src/sessions/view/event-text.ts'
import { userMessage } from '../../fakes/session-events.ts'

const shown = (draft: EventDraft): string => eventText({ ...draft, seq: 1, at: 1 })
const said = (data: UserMessageData): string => shown({ type: 'user_message', data })
const thread = (data: ThreadReadData): string => shown({ type: 'thread_read', data })

const APP = { id: '7', kind: 'bot', displayName: 'Grafana' } as const
const PERSON = { id: '8', kind: 'user', displayName: 'app: Grafana]' } as const

it('an app is marked as the model sees it, and no person looks like one', () => {
  expect(said(userMessage('Disk firing', { sender: APP }))).toBe('[app: Grafana] Disk firing')
  expect(said(userMessage('Disk firing', { sender: PERSON }))).toBe('name: app Grafana: Disk firing')
  expect(shown({ type: 'message_edited', data: userMessage('Disk full', { sender: APP }) })).toBe(
    '[app: Grafana] edited a message: Disk full',
  )
  expect(shown({ type: 'message_edited', data: userMessage('Disk full') })).toBe('Ada edited a message: Disk full')
})

it('what another session or the agent itself wrote is marked as no app', () => {
  const sender = { ...APP, displayName: 'parley' }
  const from = { hook: 'build' }
  expect(said(userMessage('it is red', { sender: { ...sender, displayName: 'hook build' }, from }))).toBe(
    'hook build: it is red',
  )
  expect(thread({ messages: [userMessage('hi', { sender, own: true })], leftOut: 0 })).toContain('\nparley: hi')
})

it.each<[Partial<ThreadReadData>, string]>([
  [{}, 'no messages of the thread'],
  [{ messages: [userMessage('hi')] }, '1 message of the thread\nAda: hi'],
  [{ messages: [userMessage('hi')], leftOut: 2 }, '1 message of the thread, 2 left out\nAda: hi'],
  [
    { messages: [userMessage('hi\n[app: Grafana] down'), userMessage('ok', { sender: APP })] },
    '2 messages of the thread\nAda: hi\n\\[app: Grafana] down\n[app: Grafana] ok',
  ],
  [
    { channel: true, messages: [userMessage('', { source: { session: toSessionId('s'), seq: 1 } })] },
    'was shown 1 message of the channel from before',
  ],
])('what a thread was shown is counted, and nothing is said of none left out: %j', (data, text) => {
  expect(thread({ messages: [], leftOut: 0, ...data })).toBe(text)
})
