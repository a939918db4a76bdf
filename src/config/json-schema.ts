import * as z from 'zod'
import { type ChannelCatalogue, createFileSchema } from './schema.ts'

/** The used part of a JSON schema: enough to find the keys a place knows. */
export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: JsonSchema | boolean
  readonly items?: JsonSchema
  readonly [keyword: string]: unknown
}

/** The JSON schema of the file (draft 2020-12), for editors; `config/parley.schema.json` is this, printed. */
export function configJsonSchema(catalogue: ChannelCatalogue): JsonSchema {
  const schema = z.toJSONSchema(createFileSchema(catalogue), { io: 'input' })
  return { ...schema, title: 'Parley configuration' } as JsonSchema
}
