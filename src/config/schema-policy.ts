import * as z from 'zod'
import { audience, channel, dimensions, id, place, text } from './schema-parts.ts'

export const people = z
  .record(
    text,
    z.strictObject({
      role: z.enum(['owner', 'member']).default('member'),
      ids: z.array(id).default([]).describe('<channel>:<id>, on Slack slack:<team>/<user>; never names.'),
    }),
  )
  .default({})

const wakeWords = z
  .array(text.max(40).regex(/[\p{L}\p{N}]/u, { error: 'must have a letter or a digit' }))
  .max(20)
  .describe('Names that address the agent in groups: whole words, anywhere in the text, in any case.')

const groupRule = z.strictObject({
  match: z.strictObject(place).prefault({}),
  who: audience.default('owner'),
  trigger: z
    .enum(['mention', 'always', 'never'])
    .default('mention')
    .describe('What starts a turn. mention: the agent is mentioned, replied to, or given a command.'),
  ownerAlwaysTriggers: z.boolean().exactOptional(),
  wakeWords: wakeWords.exactOptional(),
  followThreads: z
    .boolean()
    .default(false)
    .describe('Slack and Discord: in a thread the agent is part of, nobody has to mention it, until 24 quiet hours.'),
})

const dispatchRule = z.strictObject({
  name: text.exactOptional(),
  match: z.strictObject({ ...place, sender: id.exactOptional(), mentioned: z.boolean().exactOptional() }),
  agent: text.exactOptional(),
  dimensions: dimensions.exactOptional(),
  shadow: z
    .boolean()
    .refine((shadow) => !shadow, 'is not available yet, and the rule would answer for real; take the rule out')
    .default(false),
})

export const routing = z
  .strictObject({
    access: z
      .strictObject({ direct: audience.default('owner'), groups: z.array(groupRule).default([]) })
      .prefault({})
      .describe('Who may talk. No group is open to anybody but the owner unless a rule says so.'),
    ownerAlwaysTriggers: z.boolean().default(true),
    wakeWords: wakeWords.default([]),
    dispatch: z.array(dispatchRule).default([]).describe('Which agent answers; the first match wins.'),
  })
  .prefault({})

const sendRule = z.strictObject({
  match: z
    .strictObject({
      ...place,
      surface: channel.exactOptional().describe('Another word for channel.'),
      chatType: z.enum(['direct', 'group', 'channel']).exactOptional(),
      person: id.exactOptional(),
      keyPrefix: text.exactOptional(),
    })
    .refine((match) => match.surface === undefined || match.channel === undefined, {
      error: 'names both surface and channel, which mean the same; keep channel',
    })
    .transform(({ surface, ...match }) => (surface === undefined ? match : { ...match, channel: surface }))
    .prefault({}),
  action: z.enum(['allow', 'deny']).exactOptional(),
})

export const sendPolicy = z
  .strictObject({ rules: z.array(sendRule).default([]), default: z.enum(['allow', 'deny']).default('allow') })
  .prefault({})
  .describe('Any matching deny wins, then any matching allow, then the default.')
