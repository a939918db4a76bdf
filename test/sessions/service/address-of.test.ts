import { describe, expect, it } from 'vitest'
import type { ChannelId } from '../../../src/core/ids.ts'
import { toAccountId, toAgentId, toScopeKey, toSessionId } from '../../../src/core/ids.ts'
import type { Session } from '../../../src/core/session.ts'
import { addressOf } from '../../../src/sessions/service/address-of.ts'

function session(metadata: Session['metadata'], channel: ChannelId = 'telegram'): Session {
  const agent = toAgentId('main')
  return {
    id: toSessionId('telegram:2026-11-21-00000000'),
    scopeKey: toScopeKey('sk_v1_'),
    scope: { version: 1, agent, channel, account: toAccountId('second'), dimensions: [], values: {} },
    agentId: agent,
    kind: 'group',
    displayKey: 'k',
    chatType: 'group',
    source: { kind: 'channel', interactive: true },
    metadata,
    createdAt: 0,
    lastActivityAt: 0,
    messageCount: 0,
    turnCount: 0,
    preview: '',
    description: '',
    descriptionSource: 'fallback',
    lastSeq: 0,
  }
}

describe('the chat a session lives in', () => {
  it('is what its last entrance left: chat, topic and space', () => {
    const metadata = {
      channel: 'slack',
      account: 'default',
      chat_id: 'C1',
      chat_type: 'channel',
      topic_id: '17.5',
      space: 'team:T01',
    }
    expect(addressOf(session(metadata))).toEqual({
      channel: 'slack',
      account: 'default',
      chatType: 'channel',
      chat: 'C1',
      topic: '17.5',
      space: { type: 'team', id: 'T01' },
    })
  })

  it('of a schedule is where it delivers to', () => {
    expect(addressOf(session({ deliver_to: 'telegram:group:-1/7' }))).toMatchObject({ chat: '-1', topic: '7' })
  })

  it('of a session without a chat is its own id, on the channel of its scope', () => {
    expect(addressOf(session({ chat_type: 'loft', space: 'x' }, 'api'))).toEqual({
      channel: 'api',
      account: 'second',
      chatType: 'group',
      chat: 'telegram:2026-11-21-00000000',
    })
  })
})
