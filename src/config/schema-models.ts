import * as z from 'zod'
import { SERVER_KINDS, type ServerKind } from '../core/model-server.ts'
import { nearMatch } from '../core/near-match.ts'
import { text, url } from './schema-parts.ts'

const access = {
  apiKey: text.exactOptional().describe('A server with a baseUrl may need none.'),
  baseUrl: url
    .exactOptional()
    .describe(
      'Its address, with the path before /chat/completions, or before /v1/messages. Default: the public API of OpenAI or Anthropic.',
    ),
}

/** A block whose name is its kind. */
function serverOfKind(name: ServerKind) {
  const error = `must be ${name} under this name; give a server of another kind a name of its own`
  return z.strictObject({ kind: z.literal(name, { error }).default(name), ...access })
}

const modelServer = z.strictObject({
  kind: z
    .enum(SERVER_KINDS, { error: ({ input, path }) => wrongKind(input, String(path?.at(-2))) })
    .describe(
      'Needed: the API that the server speaks. openai: Chat Completions, as Ollama, vLLM, LM Studio, OpenRouter and most do; anthropic: the Messages API.',
    ),
  ...access,
})

function wrongKind(given: unknown, server: string): string {
  const typed = given === undefined ? server : String(given)
  const near = nearMatch(typed, SERVER_KINDS)
  const api = `${given === undefined ? 'is missing; it' : ''} must be ${SERVER_KINDS.join(' or ')}, the API that the server speaks`
  const meant = given === undefined ? `models.${near}` : near
  return near === undefined
    ? `${api}: openai for Ollama, vLLM, LM Studio, OpenRouter and most others`.trim()
    : `${api}; did you mean \`${meant}\`?`.trim()
}

/** The servers of models. */
export const models = z
  .object({
    anthropic: serverOfKind('anthropic')
      .exactOptional()
      .describe(
        'The variable ANTHROPIC_API_KEY is used without this block. With a baseUrl the server gets it too, unless this block has a key of its own.',
      ),
    openai: serverOfKind('openai')
      .exactOptional()
      .describe(
        'The variable OPENAI_API_KEY is used without this block. With a baseUrl the server gets the key of this block, or none.',
      ),
  })
  .catchall(modelServer.describe('A further server, by a name of yours; a model on it is <name>/<model> for agents.'))
  .prefault({})
