import * as z from 'zod'
import type { ChannelId } from '../core/ids.ts'
import { placeOf, text } from './schema-parts.ts'

/** A platform may repeat a message for a week, and the row of the first time is how it is known. */
const LEAST_DAYS = 8

export const store = z
  .strictObject({
    url: text
      .default('sqlite:parley.db')
      .describe(
        "sqlite:<file>, relative to systemd's StateDirectory, else $XDG_STATE_HOME/parley (~/.local/state/parley).",
      ),
    key: text
      .exactOptional()
      .describe(
        '64 hexadecimal digits (openssl rand -hex 32), by reference: the database, its copies and the files are encrypted. Needs the package better-sqlite3-multiple-ciphers, and "parley store encrypt" for a store that is there already.',
      ),
    keepRefusedDays: z
      .int()
      .min(LEAST_DAYS, {
        error: `must be at least ${LEAST_DAYS}: a platform may repeat a message for a week, and its record is how the repetition is known`,
      })
      .max(36_500)
      .default(30)
      .describe('Days for which messages that were refused or ignored, commands and their answers are kept.'),
  })
  .prefault({})

const KEEP = /^ *\d{1,3} *[hdwmy] *(?:, *\d{1,3} *[hdwmy] *)*$/

export const backup = z
  .strictObject({
    every: z
      .union([z.enum(['day', 'week']), z.int().min(1).max(8_760)], {
        error: 'must be day, week or a number of hours',
      })
      .describe('How often a copy is made: day, week (on Mondays), or every so many hours.'),
    at: z
      .string()
      .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, { error: 'must be a time of day in quotes, such as "03:00"' })
      .default('03:00')
      .describe('The time of day, in the zone of the machine. After a night off it is made at the start.'),
    to: text.exactOptional().describe('The folder of the copies. Default: backups, in the state folder.'),
    keep: z
      .string()
      .regex(KEEP, { error: 'must be numbers of h, d, w, m or y, such as 7d,4w,12m' })
      .default('7d,4w')
      .describe('The newest copy of each of so many hours, days, weeks, months and years is kept.'),
  })
  .describe('Copies of the store that the daemon makes by itself; config/maintenance.md. Default: none.')

const limitDays = z.int().min(1).max(36_500)

export function retentionOf(channels: readonly ChannelId[]) {
  return z
    .strictObject({
      days: limitDays
        .exactOptional()
        .describe('Days after which what was said is forgotten, with its files, memories and answers. Default: never.'),
      rules: z
        .array(
          z.strictObject({ match: z.strictObject(placeOf(channels)), days: z.union([limitDays, z.literal('keep')]) }),
        )
        .default([])
        .describe(
          'Limits of some conversations; the first that matches counts. keep: they are kept. Of chats that are one session the longest counts.',
        ),
    })
    .prefault({})
    .describe('How long conversations are kept. A limit that is new or shorter is reported to owners, and waits a day.')
}
