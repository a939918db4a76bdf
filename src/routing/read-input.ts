import { mayGive } from '../core/command.ts'
import type { Identity, IgnoreReason, TraceStep } from '../core/dispatch.ts'
import type { InboundEvent, InboundText } from '../core/message.ts'
import type { KnownCommand } from './route-facts.ts'
import { pass, stop } from './trace.ts'

/** The request in an admitted event. */
export type Input =
  | { readonly kind: 'text'; readonly event: InboundText; readonly step: TraceStep }
  | { readonly kind: 'control'; readonly event: InboundText; readonly command: string; readonly step: TraceStep }
  | { readonly kind: 'ignore'; readonly reason: IgnoreReason; readonly step: TraceStep }

const MESSAGE = pass('command', 'no command')
const EDIT = pass('command', 'an edit')
const EMPTY: Input = { kind: 'ignore', reason: 'empty', step: stop('command', 'neither text nor attachment') }

/**
 * A known control command is recognised by the platform's entity, never by the text (T28); an owner's command says
 * nothing to others. A command nobody knows is a message like any other, unless it is near one that its sender may
 * give, and said to the bot: that is a slip, which an answer names.
 */
export function readInput(event: InboundEvent, identity: Identity, known: KnownCommand | undefined): Input {
  switch (event.kind) {
    case 'message':
      return isEmpty(event) ? EMPTY : { kind: 'text', event, step: MESSAGE }
    case 'edit':
      return isEmpty(event) ? EMPTY : { kind: 'text', event, step: EDIT }
    case 'command':
      if (known === undefined || (known.near !== undefined && !isSlip(event, identity, known)))
        return { kind: 'text', event, step: pass('command', `/${event.name} is no command of ours`) }
      if (!mayGive(identity, known)) {
        return { kind: 'ignore', reason: 'command_for_owner', step: stop('command', `/${event.name} is for the owner`) }
      }
      return { kind: 'control', event, command: event.name, step: pass('command', meant(event.name, known)) }
    default:
      return { kind: 'ignore', reason: 'unsupported_event', step: stop('command', `a ${event.kind} asks for nothing`) }
  }
}

function isSlip({ address, mentioned }: InboundText, identity: Identity, known: KnownCommand): boolean {
  return (address.chatType === 'direct' || mentioned) && mayGive(identity, known)
}

function meant(name: string, { near }: KnownCommand): string {
  return near === undefined ? `/${name}` : `/${name} is no command of ours, and near /${near}`
}

function isEmpty({ text, attachments, enclosed }: InboundText): boolean {
  return attachments.length === 0 && enclosed === undefined && text.trim() === ''
}
