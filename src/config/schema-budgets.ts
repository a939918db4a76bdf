import * as z from 'zod'
import { modelName, text } from './schema-parts.ts'

const limit = z
  .strictObject({
    usd: z.number().gt(0).max(1_000_000).exactOptional().describe('US dollars.'),
    tokens: z.int().min(1).max(1e12).exactOptional().describe('Tokens read and written, cached ones too.'),
  })
  .refine(({ usd, tokens }) => usd !== undefined || tokens !== undefined, 'has no limit; write usd, tokens or both')

const limits = z
  .strictObject({ day: limit.exactOptional(), month: limit.exactOptional() })
  .refine(({ day, month }) => day !== undefined || month !== undefined, 'has no limit; write day, month or both')

const own = z.union([limits, z.literal('unlimited')])

function rulesOf(key: string) {
  return z
    .strictObject({
      each: limits.exactOptional().describe('Each of them apart.'),
      only: z
        .record(text, own)
        .exactOptional()
        .describe(`Those of single ones, by ${key}, in the place of each; or unlimited.`),
    })
    .refine(({ each, only }) => each !== undefined || only !== undefined, 'has no budget; write each, only or both')
}

/** The budgets of strangers where the file has none: some dozen answers a day for each of them. */
export const STRANGERS = {
  each: { day: { tokens: 200_000 } },
  client: { day: { tokens: 1_000_000 } },
  together: { day: { tokens: 2_000_000 } },
}

const price = z.strictObject({
  input: z.number().min(0).max(100_000).describe('US dollars for a million tokens, as all of these.'),
  output: z.number().min(0).max(100_000),
  cacheRead: z.number().min(0).max(100_000).exactOptional().describe('Default: as input.'),
  cacheWrite: z.number().min(0).max(100_000).exactOptional().describe('Default: as input.'),
})

/** The limits of calls of models. */
export const budgets = z
  .strictObject({
    timezone: text
      .exactOptional()
      .describe("The IANA zone whose days and months count, such as Europe/Berlin. Default: the machine's own."),
    warnAt: z
      .int()
      .min(1)
      .max(100)
      .default(80)
      .describe('Percent of a budget at which its place, or the owner, is notified once.'),
    cheaperModel: modelName
      .exactOptional()
      .describe('Answers between that and the end of a budget, where it costs less than the usual model.'),
    total: limits.exactOptional().describe('Everything.'),
    chat: rulesOf('address: <channel>:<direct|group|channel>:<chat>').exactOptional(),
    topic: rulesOf('address: <channel>:<group|channel>:<chat>/<topic>').exactOptional(),
    person: rulesOf('their name under people, or <channel>:<id>').exactOptional(),
    schedule: rulesOf('the id of the schedule').exactOptional(),
    strangers: z
      .union([
        z.strictObject({
          each: own.default(STRANGERS.each).describe('Each of them apart.'),
          client: own
            .default(STRANGERS.client)
            .describe(
              'Those for whom the tokens of one namespace speak: they have the names that its program gives them.',
            ),
          together: own.default(STRANGERS.together).describe('All of them.'),
        }),
        z.literal('unlimited'),
      ])
      .default(STRANGERS)
      .describe('People whom nobody let in by name: public direct chats, open groups.'),
    prices: z
      .record(modelName, price)
      .default({})
      .describe(
        'Prices of models that have none by themselves, or another one here: <server>/<model>, audio/<model> for the audio endpoint (1,000 tokens a minute heard, a token for a character spoken).',
      ),
  })
  .prefault({})
  .describe(
    'Limits of what calls of models cost: answers, checks, summaries, checkpoints, recordings. A call that may go beyond is not made.',
  )
