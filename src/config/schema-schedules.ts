import * as z from 'zod'
import { id, text } from './schema-parts.ts'

const address = text
  .regex(/^[a-z][a-z0-9_-]*(@[^:]+)?:(direct|group|channel):[^/]+(\/.+)?$/, {
    error: 'must be <channel>:<direct|group|channel>:<chat>[/<topic>]',
  })
  .describe('<channel>:<direct|group|channel>:<chat>[/<topic>]')

const schedule = z.strictObject({
  id: id.refine((name) => /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name), {
    error: 'must be letters, digits, ".", "_" and "-", at most 64',
  }),
  cron: text.describe('Five fields (minute hour day month weekday) or an alias such as @daily.'),
  timezone: text.exactOptional().describe("IANA name; the machine's own by default."),
  agent: text.exactOptional(),
  prompt: text,
  digestOf: address
    .exactOptional()
    .describe('A conversation whose messages since the last run go with the prompt, topics included.'),
  deliverTo: address.describe('Where the answer goes: <channel>:<direct|group|channel>:<chat>[/<topic>].'),
  missed: text
    .regex(/^(skip|once|all\((100|[1-9]\d?)\))$/, {
      error: 'must be skip, once or all(<number>), at most all(100)',
    })
    .default('once')
    .describe('What becomes of slots found more than a minute late.'),
  overlap: z.enum(['skip', 'queue']).default('skip').describe('What becomes of a slot while an earlier run goes on.'),
})

export const schedules = z.array(schedule).default([]).describe('What the agent does by itself, and when.')
