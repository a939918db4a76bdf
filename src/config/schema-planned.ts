import * as z from 'zod'
import { text, url } from './schema-parts.ts'

/**
 * The parts of the configuration whose feature does not run yet: read strictly all the same, so that a file written
 * for a later version is checked today. `no-effect.ts` says so for each that is used.
 */
export const openai = z
  .strictObject({ apiKey: text.exactOptional(), baseUrl: url.exactOptional() })
  .describe('No effect yet.')

const positive = z.int().min(1)

export const turnCap = z
  .strictObject({
    api: positive.exactOptional(),
    cli: positive.exactOptional(),
    web: positive.exactOptional(),
    chat: positive.exactOptional(),
    schedule: positive.exactOptional(),
  })
  .describe('No effect yet.')

export const checkpoint = z
  .strictObject({
    turns: positive.exactOptional(),
    quietGroupMessages: positive.exactOptional(),
    idleMinutes: positive.exactOptional(),
  })
  .describe('No effect yet.')

export const http = z
  .strictObject({
    host: text.default('127.0.0.1'),
    port: z.int().min(0).max(65_535).default(7275),
  })
  .describe('No effect yet.')
