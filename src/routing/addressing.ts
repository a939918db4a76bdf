import type { ChannelTraits } from '../core/channel-traits.ts'
import type { Dispatch, TraceStep } from '../core/dispatch.ts'
import { hasForeignText, type InboundEvent, type InboundText } from '../core/message.ts'
import type { ChatSettings } from './chat-settings.ts'
import type { KnownCommand, RouteFacts } from './route-facts.ts'
import { pass } from './trace.ts'
import { findWakeWord } from './wake-words.ts'

/** The way a message addresses the agent. */
export type Addressing =
  | { readonly kind: 'named' }
  | { readonly kind: 'none' }
  | { readonly kind: 'wake_word' | 'followed_thread'; readonly step: TraceStep }

export const NAMED: Addressing = { kind: 'named' }
export const NOT_NAMED: Addressing = { kind: 'none' }

/**
 * A direct chat, a command, a mention and a reply to the agent address it; elsewhere only a literal false says that a
 * text does not. A command that is merely near one of ours may be another bot's: it addresses the agent by its name.
 */
export function isNamed(event: InboundEvent, command: KnownCommand | undefined): boolean {
  if (event.address.chatType === 'direct') return true
  if (event.kind === 'command') return event.mentioned || command?.near === undefined
  return (event.kind === 'message' || event.kind === 'edit') && event.mentioned !== false
}

/**
 * Finds out how a text addresses the agent without the platform's own mention: by a wake word in the sender's own
 * words, or by being in a thread the agent is part of, unless it is said to others.
 */
export function findAddressing(
  { event, receivedAt, topics }: Pick<Dispatch, 'event' | 'receivedAt'> & Pick<ChannelTraits, 'topics'>,
  { wake, follows }: ChatSettings,
  facts: Pick<RouteFacts, 'follows'>,
): Addressing {
  if (event.kind !== 'message' && event.kind !== 'edit') return NOT_NAMED
  const spoken = wake.words.length > 0 && !hasForeignText(event)
  const word = spoken ? findWakeWord(withoutNames(event), wake.words) : undefined
  if (word !== undefined) return { kind: 'wake_word', step: pass('group-rule', `the wake word "${word}"`, wake.path) }
  // Rooms are everybody's: nobody began them to speak with the agent.
  const thread = topics === 'threads' && event.address.topic !== undefined
  if (follows === undefined || event.mentionsOthers || !thread) return NOT_NAMED
  return facts.follows(event.address, receivedAt) ? { kind: 'followed_thread', step: follows } : NOT_NAMED
}

/** Returns a text without the names of whoever and whatever else it mentions, which may be a wake word, too. */
function withoutNames({ text, mentions = [] }: Pick<InboundText, 'text' | 'mentions'>): string {
  const marks = mentions.flatMap(({ name }) => (name === undefined || name === '' ? [] : [`@${name}`, `#${name}`]))
  return marks.reduce((rest, mark) => rest.replaceAll(mark, mark.charAt(0)), text)
}
