import type Anthropic from '@anthropic-ai/sdk'
import { type Logger, silentLogger } from '../../core/logger.ts'
import { MOST_SHOWN_BYTES } from '../../core/media.ts'
import type { Model } from '../../core/model.ts'
import { PUBLIC_APIS } from '../../core/model-server.ts'
import { buildRequest, type MessagesBody } from './anthropic-request.ts'
import { beginReading, endOf, isWhole, type MessageReading, readEvent } from './anthropic-stream.ts'
import type { ServerPlace } from './failure.ts'
import { createModelFetch } from './model-fetch.ts'
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
  const traits = (options.traits ?? createTraitBook()).of(id, ['thoughts-apart'])
  const protocol: Protocol<MessagesBody, MessageReading> = {
    // The API refuses larger images; its limit is on what is sent, which is base64.
    pictureBytes: MOST_SHOWN_BYTES,
    build: (request, images, most) => buildRequest(request, images, { id, model, traits, most }),
    open(body, signal) {
      const asked = body as Anthropic.MessageCreateParamsStreaming
      return withoutPrinting(() => client.messages.create(asked, { signal }), logger).asResponse()
    },
    begin: () => beginReading(id),
    read: (event, reading) => readEvent(event, server, reading),
    isOver: ({ over }) => over,
    isWhole,
    end: (reading) => endOf(reading, { id, server }),
  }
  return wireModel({ id, server, protocol, traits, options })
}

/** Texts that were logged; a provider has a handful of them. */
const logged = new Set<string>()

/**
 * Makes a call of an SDK and passes what it prints meanwhile to the log, each text once. The SDKs warn of old models on
 * the console at every call, where it would stand between the lines of the log and no setting would stop it. Only the
 * synchronous part of the call is watched, so nobody else's output is taken.
 */
export function withoutPrinting<Result>(call: () => Result, logger: Logger): Result {
  const { warn } = console
  console.warn = (...words: readonly unknown[]) => {
    const text = words.join(' ')
    if (logged.has(text)) return
    logged.add(text)
    logger.warn('The library of a model provider warns', { text })
  }
  try {
    return call()
  } finally {
    console.warn = warn
  }
}
