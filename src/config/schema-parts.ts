import * as z from 'zod'
import type { ChannelId } from '../core/ids.ts'
import { DIMENSIONS } from '../core/session.ts'

/** Words, not empty. */
export const text = z.string().trim().min(1)

/** A platform's id. YAML reads `-100123` as a number; `12.50` must be quoted, or its zero would be lost. */
export const id = z.union([text, z.int()], 'must be an id: text in quotes, or a whole number').transform(String)

export const modelName = text.regex(/^[^/\s]+\/\S+$/, {
  error: ({ input }) =>
    /\s/.test(String(input))
      ? 'has a space in it, which no name of a model has; write it as its server lists it'
      : 'must be <server>/<model>, such as anthropic/claude-sonnet-5-5 or scripted/echo; the servers stand under models',
})

export const dimensions = z.array(z.enum(DIMENSIONS)).describe('What sets sessions apart, in this order.')

export const audience = z
  .enum(['owner', 'allowlist', 'public'])
  .describe('owner; allowlist: everybody named under people; public: anyone.')

/** Which places a rule is about; a field left out does not restrict. `channels` are all there are. */
export function placeOf(channels: readonly ChannelId[]) {
  return {
    channel: channelOf(channels).exactOptional(),
    account: text.exactOptional(),
    space: id.exactOptional().describe('The guild or workspace.'),
    chat: id.exactOptional().describe('The id, with its type before it or without: group:<id>.'),
    topic: id.exactOptional(),
  }
}

/** Not any text: a rule with a mistyped channel would never match, and deny nothing. */
export function channelOf(channels: readonly ChannelId[]) {
  return z.enum(channels)
}

export const url = z.url({ protocol: /^https?$/ })

/** The address of a place. */
export const address = text
  .regex(/^[a-z][a-z0-9_-]*(@[^:]+)?:(direct|group|channel):[^/]+(\/.+)?$/, {
    error: 'must be <channel>:<direct|group|channel>:<chat>[/<topic>]',
  })
  .describe('<channel>:<direct|group|channel>:<chat>[/<topic>]')
