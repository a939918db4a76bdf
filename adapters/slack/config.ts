import * as z from 'zod'
import type { ChannelTraits } from '../../src/core/channel-traits.ts'

const token = (kind: string, prefix: string) =>
  z.string().trim().startsWith(prefix, `must be ${kind}, which begins with ${prefix}`)

/**
 * One account under `channels.slack.accounts`: one app installed in one workspace. The numbers under `limits` are the
 * platform's own (about one message a second in a channel, a few hundred a minute in a workspace).
 */
export const slackAccountSchema = z
  .strictObject({
    /** "Bot User OAuth Token" on the app's page OAuth & Permissions. */
    botToken: token('the bot token', 'xoxb-').describe('xoxb-…, on the page OAuth & Permissions of the app.'),
    /** "App-Level Token" with the scope connections:write; for mode socket. */
    appToken: token('the app-level token', 'xapp-')
      .exactOptional()
      .describe('xapp-… with connections:write, on the page Basic Information; for mode socket.'),
    /** On the app's page Basic Information; for mode http. */
    signingSecret: z
      .string()
      .trim()
      .min(1, 'the signing secret is empty')
      .exactOptional()
      .describe('On the page Basic Information; for mode http.'),
    apiRoot: z
      .url({ protocol: /^https?$/ })
      .exactOptional()
      .describe('Another server that speaks the API.'),
    mode: z
      .enum(['socket', 'http'])
      .default('socket')
      .describe('http needs signingSecret, and a reverse proxy before listen.'),
    /** The address that receives events in mode http; a reverse proxy with TLS stands before it. */
    listen: z
      .strictObject({
        host: z.string().min(1).default('127.0.0.1'),
        port: z.int().min(0).max(65_535).default(7276),
        path: z.string().startsWith('/').default('/slack/events'),
      })
      .prefault({})
      .describe('Where events are received in mode http.'),
    /** Shows an answer while it is being written, by edits. */
    streaming: z.boolean().default(true).describe('Shows an answer while it is being written.'),
    limits: z
      .strictObject({
        perSecond: z.number().min(0.01).default(5),
        perChatPerSecond: z.number().min(0.01).default(1),
        perGroupPerMinute: z.number().min(0.01).default(60),
      })
      .prefault({})
      .describe('The most that is sent: over all, in one chat, and in one group.'),
  })
  .refine(({ mode, appToken }) => mode !== 'socket' || appToken !== undefined, {
    path: ['appToken'],
    error: 'is needed for mode "socket"; the app\'s page Basic Information gives one with connections:write',
  })
  .refine(({ mode, signingSecret }) => mode !== 'http' || signingSecret !== undefined, {
    path: ['signingSecret'],
    error: 'is needed for mode "http"; it is on the app\'s page Basic Information',
  })

export type SlackConfig = z.infer<typeof slackAccountSchema>

/** Says how an account receives. */
export function receivesBy({ mode, listen: { host, port } }: SlackConfig): string {
  return mode === 'socket' ? 'by Socket Mode' : `by HTTP events, taken at ${host}:${port}`
}

/** A thread hangs in its channel and is kept apart from it; an id is somebody else's in another workspace. */
export const slackTraits: ChannelTraits = {
  commandMark: '!',
  claimMark: '!',
  name: 'Slack',
  topics: 'threads',
  rootBeginsThreads: true,
  files: {
    mostBytes: 1_000_000_000,
    pictures: { mostBytes: 1_000_000_000, types: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] },
    voices: ['audio/ogg', 'audio/mpeg', 'audio/wav', 'audio/mp4'],
  },
  dimensions: ['chat', 'topic'],
  ids: {
    caseSensitive: false,
    ofTeams: true,
    form: /^(?:[te][a-z0-9]*\/)?[uwb][a-z0-9]*$/i,
    formInWords: 'begins with U, W or B',
    shared: [],
    directChatIsPerson: false,
    examples: ['012ab3cd', '012ab3cde', '012a3cde', '012ab3c4'],
  },
  listensIn: 'http',
  token: /^x(?:ox[a-z]|app)-/,
  variables: [
    { setting: 'botToken', variable: 'SLACK_BOT_TOKEN' },
    { setting: 'appToken', variable: 'SLACK_APP_TOKEN', hint: 'the app-level token with connections:write' },
  ],
}
