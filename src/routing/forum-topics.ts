import type { Dimension } from '../core/session.ts'
import type { PlaceFacts } from './match-facts.ts'

/**
 * Forum isolation (K10-K12): where topics are rooms, as on Telegram, one becomes a suffix of the chat value, unless
 * `topic` is a dimension of its own. Only session keys see it; dispatch rules match the plain chat.
 */
export function forumSuffix({ traits, topic }: PlaceFacts, dimensions: readonly Dimension[]): string {
  return traits.topics === 'rooms' && topic !== undefined && !dimensions.includes('topic') ? `/${topic}` : ''
}
