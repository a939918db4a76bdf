import type OpenAI from 'openai'
import type { Model } from '../../core/model.ts'
import { PUBLIC_APIS } from '../../core/model-server.ts'
import type { ServerPlace } from './failure.ts'
import { createModelFetch } from './model-fetch.ts'
import { buildRequest, type CompletionBody } from './openai-request.ts'
import { beginReading, type CompletionReading, endOf, readChunk } from './openai-stream.ts'
import { createTraitBook, traitsOfServer } from './traits.ts'
import { type Protocol, type WireOptions, wireModel } from './wire-model.ts'

/**
 * A model behind the Chat Completions API, of OpenAI or of any server that speaks it, by the official SDK, which is
 * loaded only here. The SDK retries nothing, for the reason that `createAnthropic` gives, and takes nothing from the
 * environment.
 */
export async function createOpenAi(options: WireOptions): Promise<Model> {
  const { default: OpenAi } = await import('openai')
  const { name = 'openai', apiKey = '', baseUrl = PUBLIC_APIS.openai, model } = options
  const server: ServerPlace = { name, kind: 'openai', baseUrl, apiKey }
  const client = new OpenAi({
    // The SDK demands a key; without one, no header of it goes out.
    apiKey: apiKey || 'none',
    baseURL: baseUrl,
    ...{ adminAPIKey: null, organization: null, project: null, webhookSecret: null },
    maxRetries: 0,
    logLevel: 'off',
    fetch: createModelFetch(server),
  })
  const id = `${name}/${model}`
  const traits = (options.traits ?? createTraitBook()).of(id, traitsOfServer(baseUrl))
  const protocol: Protocol<CompletionBody, CompletionReading> = {
    // The API takes larger images, which only fill the conversation.
    pictureBytes: 5_000_000,
    build: (request, images, most) => buildRequest(request, images, { id, model, traits, most }),
    open: (body, signal) =>
      client.chat.completions.create(body as OpenAI.ChatCompletionCreateParamsStreaming, { signal }).asResponse(),
    begin: () => beginReading(id),
    read: (chunk, reading) => readChunk(chunk, server, reading),
    // `[DONE]` ends the stream.
    isOver: () => false,
    // Behind the finish reason come the usage and the end of the stream, which an answer can do without.
    isWhole: ({ finish }) => finish !== undefined,
    end: (reading, inOrder) => endOf(reading, inOrder, { id, server }),
  }
  return wireModel({ id, server, protocol, traits, options })
}
