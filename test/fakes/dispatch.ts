import type { Address } from '../../src/core/address.ts'
import { NO_BOT_SPENDING } from '../../src/core/bot-budget.ts'
import type { Dispatch } from '../../src/core/dispatch.ts'
import { type TraceId, toAccountId } from '../../src/core/ids.ts'
import type { InboundCommand, InboundEdit, InboundEvent, InboundMessage, Sender } from '../../src/core/message.ts'
import type { RouteFacts } from '../../src/routing/route-facts.ts'

/** A store that knows nobody and a daemon without commands. */
export function routeFacts(changes: Partial<RouteFacts> = {}): RouteFacts {
  return {
    ownerKnown: true,
    personOf: () => undefined,
    formerChat: () => undefined,
    sendOverride: () => undefined,
    mutedUntil: () => undefined,
    admission: () => undefined,
    command: () => undefined,
    follows: () => false,
    botSpending: () => NO_BOT_SPENDING,
    ...changes,
  }
}

export function user(id: string, changes: Partial<Sender> = {}): Sender {
  return { id, kind: 'user', ...changes }
}

/** A Telegram group of the default account. */
export function group(chat = '-100', changes: Partial<Address> = {}): Address {
  return { channel: 'telegram', account: toAccountId(''), chatType: 'group', chat, ...changes }
}

export function direct(chat: string, changes: Partial<Address> = {}): Address {
  return group(chat, { chatType: 'direct', ...changes })
}

/** A Slack channel in the workspace T01. */
export function slackChannel(chat = 'C1', changes: Partial<Address> = {}): Address {
  return group(chat, { channel: 'slack', chatType: 'channel', space: { type: 'team', id: 'T01' }, ...changes })
}

/** An unaddressed text by Ada in a group. */
export function message(changes: Partial<InboundMessage> = {}): InboundMessage {
  return {
    kind: 'message',
    eventKey: 'e1',
    address: group(),
    sender: user('111'),
    sentAt: 0,
    messageId: 'm1',
    text: 'hello',
    mentioned: false,
    mentionsOthers: false,
    attachments: [],
    ...changes,
  }
}

export function command(name: string, changes: Partial<InboundCommand> = {}): InboundCommand {
  return { ...message(), kind: 'command', text: `/${name}`, name, args: '', ...changes }
}

export function edit(changes: Partial<InboundEdit> = {}): InboundEdit {
  return { ...message(), kind: 'edit', original: 'e1', eventKey: 'e2', ...changes }
}

export function dispatchOf(event: InboundEvent, changes: Partial<Dispatch> = {}): Dispatch {
  return {
    origin: 'platform',
    traceId: 'tr_1' as TraceId,
    event,
    receivedAt: 0,
    reply: { address: event.address },
    ...changes,
  }
}
