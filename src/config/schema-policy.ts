import * as z from 'zod'
import type { ChannelId } from '../core/ids.ts'
import { audience, channelOf, dimensions, id, modelName, placeOf, text } from './schema-parts.ts'

type Ids = readonly ChannelId[]

export const people = z
  .record(
    text,
    z.strictObject({
      role: z
        .enum(['owner', 'member'])
        .default('member')
        .describe('owner may do everything; member is somebody you know.'),
      ids: z
        .array(id)
        .default([])
        .describe('<channel>:<id>, or <channel>:<team>/<id> where ids belong to a workspace; never names.'),
      timezone: text
        .exactOptional()
        .describe('The zone of their reminders, such as Europe/Berlin. Default: the machine’s.'),
    }),
  )
  .default({})
  .describe('Who is who. /whoami says the ids. Whoever is not listed is a stranger.')

const wakeWords = z
  .array(text.max(40).regex(/[\p{L}\p{N}]/u, { error: 'must have a letter or a digit' }))
  .max(20)
  .describe('Names that address the agent in groups: whole words, anywhere in the text, in any case.')

const edits = z
  .enum(['ignore', 'update', 'rerun'])
  .describe(
    'update: the agent reads a waiting message as edited, and learns of later edits with its next prompt; rerun: what is addressed to it is answered again, too.',
  )

const deletions = z
  .enum(['ignore', 'redact'])
  .describe('redact: a deleted message is in no later prompt, and not answered if it still waits.')

function groupRuleOf(channels: Ids) {
  return z.strictObject({
    match: z
      .strictObject(placeOf(channels))
      .prefault({})
      .describe('The first rule that matches decides; what is left out does not restrict.'),
    who: audience.default('owner'),
    trigger: z
      .enum(['mention', 'always', 'never'])
      .default('mention')
      .describe('What starts a turn. mention: the agent is mentioned, replied to, or given a command.'),
    precheck: z
      .strictObject({
        model: modelName.describe('A cheap model; scripted/<file> for fixed rules.'),
        ask: text.max(2_000).exactOptional().describe('What is worth an answer there, in words.'),
      })
      .exactOptional()
      .describe(
        'With trigger: always. A cheaper model reads first and decides whether the agent is asked; `why` shows its reason. What nobody answers stays context.',
      ),
    ownerAlwaysTriggers: z.boolean().exactOptional().describe('For this group, in place of the setting of routing.'),
    wakeWords: wakeWords.exactOptional(),
    followThreads: z
      .boolean()
      .default(false)
      .describe(
        'Where people begin threads: in one the agent is part of, nobody has to mention it, until 24 quiet hours.',
      ),
    edits: edits.exactOptional(),
    deletions: deletions.exactOptional(),
    bots: z
      .enum(['ignore', 'context', 'mentioned', 'allow'])
      .exactOptional()
      .describe(
        'Other bots and apps. context (the default where who is public): what they say is known and not answered, as an alert that people ask about; ignore (the default elsewhere); mentioned: those listed are answered where they mention the agent; allow: as people are.',
      ),
    botIds: z
      .array(id)
      .exactOptional()
      .describe('Which bots: <channel>:<id>, or <channel>:<team>/<id> where ids belong to a workspace; none: nobody.'),
  })
}

function dispatchRuleOf(channels: Ids) {
  return z.strictObject({
    name: text.exactOptional(),
    match: z.strictObject({ ...placeOf(channels), sender: id.exactOptional(), mentioned: z.boolean().exactOptional() }),
    agent: text.exactOptional().describe('Default: the first of agents.'),
    dimensions: dimensions.exactOptional(),
    shadow: z
      .boolean()
      .refine((shadow) => !shadow, 'is not available yet, and the rule would answer for real; take the rule out')
      .default(false),
  })
}

export function routingOf(channels: Ids) {
  return z
    .strictObject({
      access: z
        .strictObject({ direct: audience.default('owner'), groups: z.array(groupRuleOf(channels)).default([]) })
        .prefault({})
        .describe('Who may talk. No group is open to anybody but the owner unless a rule says so.'),
      ownerAlwaysTriggers: z.boolean().default(true).describe('The owner is answered in groups without a mention.'),
      wakeWords: wakeWords.default([]),
      edits: edits.default('update'),
      deletions: deletions.default('redact'),
      botBudget: z
        .strictObject({
          turns: z.int().min(1).max(1_000).default(20),
          tokens: z.int().min(1).default(200_000),
          quietMinutes: z.int().min(1).max(10_080).default(30),
        })
        .prefault({})
        .describe(
          'What other bots may use up in one chat until a person is answered there or none of them asks for a while.',
        ),
      dispatch: z.array(dispatchRuleOf(channels)).default([]).describe('Which agent answers; the first match wins.'),
    })
    .prefault({})
}

function sendRuleOf(channels: Ids) {
  return z.strictObject({
    match: z
      .strictObject({
        ...placeOf(channels),
        surface: channelOf(channels).exactOptional().describe('Another word for channel.'),
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
}

export function sendPolicyOf(channels: Ids) {
  return z
    .strictObject({
      rules: z.array(sendRuleOf(channels)).default([]),
      default: z.enum(['allow', 'deny']).default('allow'),
    })
    .prefault({})
    .describe('Any matching deny wins, then any matching allow, then the default.')
}
