import * as z from 'zod'
import { type ChannelTraits, createChannels, type TraitsByChannel } from '../core/channel-traits.ts'
import type { ChannelId } from '../core/ids.ts'
import { DEFAULT_FILE_LIMITS, MOST_MEDIA_BYTES } from '../core/media.ts'
import { agent, tools, workspace } from './schema-agents.ts'
import { audio } from './schema-audio.ts'
import { budgets } from './schema-budgets.ts'
import { hooks, inboundHooks } from './schema-hooks.ts'
import { models } from './schema-models.ts'
import { address, dimensions, id, text } from './schema-parts.ts'
import { people, routingOf, sendPolicyOf } from './schema-policy.ts'
import { backup, retentionOf, store } from './schema-store.ts'

/**
 * By channel: what one account block under `channels.<channel>.accounts` looks like, and what the platform is like.
 * Comes from the adapters.
 */
export type ChannelCatalogue = Readonly<
  Record<ChannelId, { readonly configSchema: z.ZodType; readonly traits: ChannelTraits }>
>

/** The traits of a catalogue, in its order. */
export function traitsOf(catalogue: ChannelCatalogue): TraitsByChannel {
  return Object.fromEntries(Object.entries(catalogue).map(([channel, { traits }]) => [channel, traits]))
}

function sessionOf(channels: readonly ChannelId[]) {
  return z
    .strictObject({
      sendPolicy: sendPolicyOf(channels),
      scope: z
        .enum(['routed', 'global'])
        .default('routed')
        .describe('global: one session for all direct chats, whoever writes; its tools read no other conversation.'),
      dimensions: dimensions.default(['chat']),
      direct: z
        .enum(['chat', 'person', 'main'])
        .default('chat')
        .describe('chat: one session a direct chat; person: joined over channels; main: one for the owner.'),
      queue: z
        .strictObject({
          max: z.int().min(1).max(10_000).default(100).describe('Messages that may wait in one session.'),
          busy: z
            .enum(['queue', 'steer', 'interrupt'])
            .default('queue')
            .describe('A message for a busy session waits, goes into the running turn, or ends it.'),
        })
        .prefault({}),
      publicTurns: z
        .strictObject({
          atOnce: z.int().min(1).max(1_000).default(8).describe('Turns that run at a time for all of them.'),
          perPerson: z.int().min(1).max(100).default(1).describe('Turns that run at a time for one of them.'),
          waiting: z.int().min(0).max(10_000).default(16).describe('Turns that wait for one that runs to end.'),
        })
        .prefault({})
        .describe(
          'Bounds for people whom nobody let in by name: public direct chats, open groups. Others never wait for them.',
        ),
      answerParts: z
        .int()
        .min(1)
        .max(1_000)
        .default(20)
        .describe(
          'Messages that one answer becomes at most; the last says that it was cut. The session keeps the whole.',
        ),
      answerAsFile: z
        .int()
        .min(1)
        .max(1000)
        .exactOptional()
        .describe(
          'An answer of more messages than this goes out as one file, its beginning above it, where the platform takes files. Default: never.',
        ),
      turnCap: turnCap.exactOptional(),
      maxMessages,
      maxCost: maxCost.exactOptional(),
      onExceed,
      checkpoint: checkpoint.exactOptional(),
      staleDays: z
        .int()
        .min(1)
        .max(36_500)
        .default(3)
        .describe('Days without a word after which a session is no longer listed; the next message takes it up again.'),
    })
    .prefault({})
}

const media = z
  .strictObject({
    maxBytes: z
      .int()
      .min(1)
      .max(MOST_MEDIA_BYTES)
      .default(DEFAULT_FILE_LIMITS.maxBytes)
      .describe('Bytes of one file; a larger one is named to the agent and not fetched.'),
    maxFilesPerPrompt: z
      .int()
      .min(0)
      .max(100)
      .default(DEFAULT_FILE_LIMITS.maxFilesPerPrompt)
      .describe('Files that one answer reads; the others are named.'),
    perPersonPerDay: z
      .int()
      .min(0)
      .default(DEFAULT_FILE_LIMITS.perPersonPerDay)
      .describe('Bytes of all files of one person that are fetched within a day.'),
    maxCharacters: z
      .int()
      .min(100)
      .max(1_000_000)
      .default(DEFAULT_FILE_LIMITS.maxCharacters)
      .describe(
        'Characters of the text of one file, or PDF, that the agent is shown; the rest is cut off with a mark.',
      ),
  })
  .prefault({})
  .describe('Files that come with messages.')

/** The shape of the file, references resolved. Unknown keys are refused everywhere. */
export function createFileSchema(catalogue: ChannelCatalogue) {
  const { ids } = createChannels(traitsOf(catalogue))
  return z.strictObject({
    $schema: text.exactOptional().describe('For editors: where the JSON schema lies.'),
    people,
    agents: z
      .array(agent)
      .min(1)
      .default([{ id: 'main' }])
      .describe('The first is the default.'),
    models,
    audio: audio.exactOptional(),
    budgets,
    workspaces: z
      .array(workspace)
      .exactOptional()
      .describe('Groups of sessions that clients of the API start, each with a model of its own.'),
    channels: z.strictObject(channelBlocks(catalogue)).prefault({}),
    routing: routingOf(ids),
    session: sessionOf(ids),
    retention: retentionOf(ids),
    tools,
    hooks,
    media,
    schedules,
    store,
    backup: backup.exactOptional(),
    http: http.exactOptional(),
    logging: z
      .strictObject({
        level: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
        pretty: z
          .boolean()
          .default(true)
          .describe('Lines for people on a terminal; elsewhere the log is JSON in any case.'),
      })
      .prefault({}),
  })
}

export type ConfigFile = z.output<ReturnType<typeof createFileSchema>>

function channelBlocks(catalogue: ChannelCatalogue) {
  return Object.fromEntries(
    Object.entries(catalogue).map(([channel, { configSchema }]) => [
      channel,
      channelBlock(configSchema).exactOptional(),
    ]),
  )
}

function channelBlock(account: z.ZodType) {
  return z.strictObject({
    accounts: z
      .record(accountName, account)
      .refine((accounts) => Object.keys(accounts).length > 0, 'has no account; add one or take the channel out'),
    dimensions: dimensions.exactOptional().describe('In place of session.dimensions on this channel.'),
  })
}

const accountName = z.string().regex(/^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/, {
  error: 'must be lower-case letters, digits, _ and -',
})

const cap = z.int().min(-1_000_000).max(1_000_000)

const turnCap = z
  .strictObject({
    api: cap.exactOptional(),
    cli: cap.exactOptional(),
    web: cap.exactOptional(),
    chat: cap.exactOptional(),
    schedule: cap.exactOptional(),
  })
  .describe(
    'Turns that a session has at most; then it says so, in a chat until /new, to a client until it begins another session. 0, less or none is the default: 50 for sessions of the API, the command line and the web, no cap for chats and schedules.',
  )

const maxCost = z
  .number()
  .gt(0)
  .max(1_000_000)
  .describe(
    'US dollars that one session may cost in all, until /new or another session; tasks count to the session that began them. Models without a price cost nothing. Default: no cap.',
  )

const onExceed = z
  .enum(['stop', 'ask', 'warn'])
  .default('stop')
  .describe(
    'A session that would pass maxCost ends its turn before the model; ask: and says by which command an owner lets it cost more; warn: it says so once, and continues.',
  )

const maxMessages = z
  .int()
  .min(2)
  .max(10_000)
  .default(98)
  .describe(
    'Messages of earlier turns, those of people and answers, that the model is shown at most. Older ones are left out without a word, some turns at a time; nothing is deleted.',
  )

const positive = z.int().min(1)

const checkpoint = z
  .strictObject({
    turns: positive.exactOptional().describe('Turns since the last one. Default: 5.'),
    quietGroupMessages: positive
      .exactOptional()
      .describe('Messages of a group since the last one that were not answered. Default: 20.'),
    idleMinutes: positive.exactOptional().describe('Minutes without a message. Default: 10.'),
  })
  .describe(
    'When an agent with the tools memory looks through a conversation for what is worth remembering; also at /new and by /checkpoint. Each is one or a few calls of a model, never for conversations of strangers alone.',
  )

/** A browser sends an origin in this form and no other, so that another would let no page in. */
const NO_ORIGIN =
  'must be the origin of one page, as https://app.example.org or http://localhost:3000: lower case, without a path, a slash at the end or *'

const http = z
  .strictObject({
    host: text.default('127.0.0.1').describe('The address it listens on; 0.0.0.0 is all of this machine.'),
    port: z.int().min(0).max(65_535).default(7275).describe('0: a free one, which the log names.'),
    hosts: z
      .array(text.regex(/^[^/\s@]+$/, { error: 'must be a name, as example.org or example.org:8443' }))
      .default([])
      .describe(
        'Further names by which it is reached, such as that of a proxy: [parley.example.org]. Without a port one stands for http.port, 80 and 443.',
      ),
    origins: z
      .array(
        // Not aborted, the second check would meet what is no address.
        z
          .url({ protocol: /^https?$/, error: NO_ORIGIN, abort: true })
          .refine((one) => new URL(one).origin === one && !one.includes('*'), NO_ORIGIN),
      )
      .default([])
      .describe('Web pages of others that may use it: ["https://app.example.org"].'),
    requestsPerMinute: z
      .int()
      .min(60)
      .max(10_000_000)
      .default(6_000)
      .describe('What one token may ask in a minute; more is refused (429) until the time for it has passed.'),
    hooks: inboundHooks,
  })
  .describe('Serves the API on TCP. Without it nothing listens there, and only this machine’s user reaches it.')

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
  overlap: z.enum(['skip', 'queue']).default('skip').describe('What becomes of a slot while an earlier run continues.'),
})

const schedules = z.array(schedule).default([]).describe('What the agent does by itself, and when.')
