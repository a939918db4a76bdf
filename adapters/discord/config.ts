import * as z from 'zod'
import type { ChannelTraits } from '../../src/core/channel-traits.ts'

/**
 * One account under `channels.discord.accounts`. The platform's own limits are 50 requests a second over all and
 * buckets it names in its answers, about 5 messages in 5 seconds a channel; there is none by the minute.
 */
export const discordAccountSchema = z.strictObject({
  /** Developer Portal → Bot → Reset Token. Files end with a line break, hence the trim. */
  token: z
    .string()
    .trim()
    .min(1, 'the token is empty; Developer Portal → Bot → Reset Token gives one')
    .describe('Developer Portal → Bot → Reset Token.'),
  /** The root of `/v10/…`; the gateway is found through it. */
  apiRoot: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Another server that speaks the API.'),
  /** Shows an answer while it is being written, by edits. */
  streaming: z.boolean().default(true).describe('Shows an answer while it is being written.'),
  limits: z
    .strictObject({
      perSecond: z.number().min(0.01).default(45),
      perChatPerSecond: z.number().min(0.01).default(1),
      perGroupPerMinute: z.number().min(0.01).default(60),
    })
    .prefault({})
    .describe('The most that is sent: over all, in one chat, and in one group.'),
})

export type DiscordConfig = z.infer<typeof discordAccountSchema>

/** A thread hangs in its channel and is kept apart from it. */
export const discordTraits: ChannelTraits = {
  claimMark: '!',
  name: 'Discord',
  topics: 'threads',
  // The least that every server takes: boosted ones take more.
  files: {
    mostBytes: 10 * 1024 * 1024,
    pictures: { mostBytes: 10 * 1024 * 1024, types: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] },
    voices: ['audio/ogg', 'audio/mpeg', 'audio/wav', 'audio/mp4'],
  },
  dimensions: ['chat', 'topic'],
  ids: {
    caseSensitive: false,
    ofTeams: false,
    form: /^[1-9]\d*$/,
    formInWords: 'is a number',
    shared: [],
    directChatIsPerson: false,
    examples: [],
  },
  token: /^(?:Bot\s+)?[\w-]{18,}\.[\w-]{4,}\.[\w-]{20,}$/,
  variables: [{ setting: 'token', variable: 'DISCORD_BOT_TOKEN' }],
}
