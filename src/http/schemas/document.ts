import * as z from 'zod'
import type { Shape } from './shape.ts'

/** The document of the API. What stands in it is for the reader of it to judge. */
export const document = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({}),
  paths: z.looseObject({}),
}) as z.ZodType as Shape<Readonly<Record<string, unknown>>>
