import * as z from 'zod'
import { CHANNEL_IDS } from '../core/ids.ts'
import { DIMENSIONS } from '../core/session.ts'

/** Words, not empty. */
export const text = z.string().trim().min(1)

/** A platform's id. YAML reads `-100123` as a number; `12.50` must be quoted, or its zero would be lost. */
export const id = z.union([text, z.int()], 'must be an id: text in quotes, or a whole number').transform(String)

export const dimensions = z.array(z.enum(DIMENSIONS)).describe('What tells sessions apart, in this order.')

export const audience = z
  .enum(['owner', 'allowlist', 'public'])
  .describe('owner; allowlist: everybody named under people; public: anyone.')

/** Not any text: a rule with a mistyped channel would never match, and deny nothing. */
export const channel = z.enum(CHANNEL_IDS)

/** Which places a rule is about; a field left out does not restrict. */
export const place = {
  channel: channel.exactOptional(),
  account: text.exactOptional(),
  space: id.exactOptional(),
  chat: id.exactOptional(),
  topic: id.exactOptional(),
}

export const url = z.url({ protocol: /^https?$/ })
