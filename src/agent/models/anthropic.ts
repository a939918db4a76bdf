import type Anthropic from '@anthropic-ai/sdk'
import { silentLogger } from '../../core/logger.ts'
import { MOST_SHOWN_BYTES } from '../../core/media.ts'
import type { Model } from '../../core/model.ts'
import { PUBLIC_APIS } from '../../core/model-server.ts'
import { buildRequest, type MessagesBody } from './anthropic-request.ts'
import { beginReading, endOf, isWhole, type Reading, readEvent } from './anthropic-stream.ts'
import { createModelFetch } from './model-fetch.ts'
import { withoutPrinting } from './sdk-warnings.ts'
import { type ServerPlace, serverName } from './server-place.ts'
import { createTraitBook } from './traits.ts'
import { type Protocol, type WireOptions, wireModel } from './wire-model.ts'

/**
 * A model behind the Messages API, by the official SDK, which is loaded only here. The SDK retries nothing: there is no
 * idempotency key, so a repeated call is billed and generated again and `retry-model.ts` alone decides. It takes
 * nothing from the environment.
 */
export async function createAnthropic(options: WireOptions): Promise<Model> {
  const sdk = await import('@anthropic-ai/sdk')
  const { name = 'anthropic', apiKey = '', baseUrl = PUBLIC_APIS.anthropic, model, logger = silentLogger } = options
  const server: ServerPlace = { name, kind: 'anthropic', baseUrl, apiKey }
  const client = new sdk.Anthropic({
    // The SDK demands a key; without one, no header of it goes out.
    apiKey: apiKey || 'none',
    authToken: null,
    webhookKey: null,
    baseURL: baseUrl,
    maxRetries: 0,
    logLevel: 'off',
    fetch: createModelFetch(server),
  })
  const id = `${name}/${model}`
  const traits = (options.traits ?? createTraitBook()).of(id)
  const protocol: Protocol<MessagesBody, Anthropic.RawMessageStreamEvent, Reading> = {
    // The API refuses larger images; its limit is on what is sent, which is base64.
    pictureBytes: MOST_SHOWN_BYTES,
    build: (request, images) => buildRequest(request, images, { id, model, traits }),
    async open(body, signal) {
      const asked = body as Anthropic.MessageCreateParamsStreaming
      const created = withoutPrinting(() => client.messages.create(asked, { signal }), logger)
      const { data, response } = await created.withResponse()
      return { pieces: data, response }
    },
    begin: () => beginReading(id),
    read: (event, reading) => readEvent(event, name, reading),
    isWhole,
    end: (reading) => endOf(reading, { id, server: serverName(server) }),
  }
  return wireModel({ id, server, protocol, traits, options })
}
