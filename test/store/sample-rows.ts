import type { Address } from '../../src/core/address.ts'
import type { Decision, Dispatch, Route } from '../../src/core/dispatch.ts'
import type { UserMessageData } from '../../src/core/event.ts'
import {
  createIdSource,
  type InboxId,
  type ScopeKey,
  type SessionId,
  toAccountId,
  toAgentId,
} from '../../src/core/ids.ts'
import type { InboundMessage } from '../../src/core/message.ts'
import type { SessionDraft } from '../../src/core/session.ts'
import type { EventToAppend } from '../../src/store/event-port.ts'
import type { NewInboxRow } from '../../src/store/inbox-port.ts'
import type { NewDelivery } from '../../src/store/outbox-port.ts'
import type { NewTurn } from '../../src/store/turn-port.ts'

/** Rows as the daemon makes them, numbered, so that tests and the bench speak of the same things. */
let drawn = 0
export const ids = createIdSource({
  now: () => 1_800_000_000_000,
  randomBytes(count) {
    const bytes = Buffer.alloc(count)
    bytes.writeUInt32BE(++drawn)
    return bytes
  },
})

const ACCOUNT = toAccountId('default')
const AGENT = toAgentId('main')

export function addressOf(chat: number): Address {
  return { channel: 'telegram', account: ACCOUNT, chatType: 'group', chat: `-100${chat}` }
}

export function scopeKeyOf(chat: number): ScopeKey {
  return `sk_v1_${chat.toString(16).padStart(64, '0')}` as ScopeKey
}

export function sessionDraft(chat: number, changes: Partial<SessionDraft> = {}): SessionDraft {
  return {
    id: ids.session('telegram'),
    scopeKey: scopeKeyOf(chat),
    scope: routeOf(chat).scope,
    agentId: AGENT,
    kind: 'group',
    displayKey: routeOf(chat).displayKey,
    chatType: 'group',
    source: { kind: 'channel', interactive: true, platform: 'telegram' },
    metadata: { chat: `-100${chat}` },
    ...changes,
  }
}

export function routeOf(chat: number): Route {
  return {
    agent: AGENT,
    scope: {
      version: 1,
      agent: AGENT,
      channel: 'telegram',
      account: ACCOUNT,
      dimensions: ['chat'],
      values: { chat: `-100${chat}` },
    },
    scopeKey: scopeKeyOf(chat),
    displayKey: `telegram:group:-100${chat}`,
    kind: 'group',
    chatType: 'group',
    matchedBy: 'default',
  }
}

export function messageOf(chat: number, no: number, text = `message ${no}`): InboundMessage {
  return {
    kind: 'message',
    eventKey: `${chat}:${no}`,
    address: addressOf(chat),
    sender: { id: '111', kind: 'user', displayName: 'Ada', username: 'ada' },
    sentAt: 1_800_000_000_000,
    messageId: String(no),
    text,
    mentioned: true,
    mentionsOthers: false,
    attachments: [],
  }
}

export function dispatchOf(chat: number, no: number): Dispatch {
  return {
    origin: 'platform',
    traceId: ids.trace(),
    event: messageOf(chat, no),
    receivedAt: 1_800_000_000_001,
    reply: { address: addressOf(chat), replyTo: String(no) },
  }
}

export function decisionOf(chat: number): Extract<Decision, { kind: 'run' }> {
  return {
    kind: 'run',
    reason: 'mentioned',
    addressed: true,
    route: routeOf(chat),
    identity: { role: 'member' },
    trace: [
      { stage: 'sender', verdict: 'pass', because: 'a person' },
      { stage: 'access', verdict: 'pass', because: 'the group is listed', config: 'routing.access.groups[0].who' },
      { stage: 'group-rule', verdict: 'pass', because: 'mentioned' },
    ],
  }
}

export function commandOf(chat: number): Decision {
  const { identity, trace, route } = decisionOf(chat)
  return { kind: 'control', reason: 'command', command: 'stop', identity, trace, route }
}

export function inboxRow(chat: number, no: number, changes: Partial<NewInboxRow> = {}): NewInboxRow {
  return { id: ids.inbox(), dispatch: dispatchOf(chat, no), decision: decisionOf(chat), state: 'waiting', ...changes }
}

export function turnOf(sessionId: SessionId, chat: number, startedAt = 1_800_000_000_002): NewTurn {
  return { id: ids.turn(), sessionId, traceId: ids.trace(), reply: { address: addressOf(chat) }, startedAt }
}

export function userMessage(text: string, more: Partial<UserMessageData> = {}): EventToAppend {
  return {
    type: 'user_message',
    data: { text, sender: { id: '111', kind: 'user' }, owner: false, addressed: true, triggers: true, ...more },
  }
}

export function assistantMessage(text: string): EventToAppend {
  return { type: 'assistant_message', data: { text, model: 'scripted/echo', usage: { input: 10, output: 5 } } }
}

export const turnCompleted: EventToAppend = {
  type: 'turn_completed',
  data: { outcome: 'answered', usage: { input: 10, output: 5 }, steps: 1 },
}

export function deliveryOf(source: NewDelivery['source'], changes: Partial<NewDelivery> = {}): NewDelivery {
  return {
    id: ids.delivery(),
    source,
    partNo: 0,
    traceId: ids.trace(),
    address: addressOf(1),
    class: 'reply',
    op: 'send',
    part: { text: 'echo', plain: 'echo', markup: 'html' },
    state: 'planned',
    expiresAt: 1_800_086_400_000,
    ...changes,
  }
}

export const NOBODYS_ID = 'in_unknown' as InboxId
