import { z } from 'zod'
import type { ChannelTraits } from '../../src/core/channel-traits.ts'

/**
 * One account under `channels.telegram.accounts`. The numbers under `limits` are the platform's own (Bots FAQ); raise
 * them only for an own Bot API server.
 */
export const telegramAccountSchema = z.strictObject({
  /** As @BotFather gives it. Files end with a line break, hence the trim. */
  token: z.string().trim().min(1, 'the token is empty; @BotFather gives one'),
  apiRoot: z.url({ protocol: /^https?$/ }).optional(),
  mode: z
    .enum(['polling', 'webhook'])
    .refine((mode) => mode === 'polling', 'webhook mode is not available yet; use "polling"')
    .default('polling'),
  /** Shows an answer while it is being written, by edits. */
  streaming: z.boolean().default(true),
  limits: z
    .strictObject({
      perSecond: z.number().positive().default(30),
      perChatPerSecond: z.number().positive().default(1),
      perGroupPerMinute: z.number().positive().default(20),
    })
    .prefault({}),
})

export type TelegramConfig = z.infer<typeof telegramAccountSchema>

/** Topics of a forum are rooms beside each other; the anonymous admin, the service account and "Channel" are everybody's. */
export const telegramTraits: ChannelTraits = {
  name: 'Telegram',
  topics: 'rooms',
  ids: {
    caseSensitive: false,
    ofTeams: false,
    form: /^-?[1-9]\d*$/,
    shared: ['1087968824', '777000', '136817688'],
    directChatIsPerson: true,
    examples: [],
  },
  token: /^\d{5,}:[\w-]{20,}$/,
  variables: [{ setting: 'token', variable: 'TELEGRAM_BOT_TOKEN' }],
  firstSteps: 'write to @BotFather in Telegram, send /newbot, and start again with its token',
  claimLink: 'https://t.me/<username>?start=<code>',
}
