import type { ServerKind } from '../../core/model-server.ts'
import { publicUrl, type WireCall } from '../../core/wire-error.ts'

/** A server of models as messages and requests name it. */
export interface ServerPlace {
  /** Its key under `models`. */
  readonly name: string
  readonly kind: ServerKind
  readonly baseUrl: string
  /** Empty: none is sent. */
  readonly apiKey: string
}

const PUBLIC_HOST = { openai: /(^|\.)api\.openai\.com$/, anthropic: /(^|\.)api\.anthropic\.com$/ } as const

/** Returns true for the servers of the vendor of the protocol, whatever their region. */
export function isPublicApi({ kind, baseUrl }: Pick<ServerPlace, 'kind' | 'baseUrl'>): boolean {
  return PUBLIC_HOST[kind].test(new URL(baseUrl).hostname)
}

/** Returns the name of the server in messages: the models of a compatible one are not the vendor's. */
export function serverName(server: Pick<ServerPlace, 'kind' | 'baseUrl'>): string {
  if (!isPublicApi(server)) return new URL(server.baseUrl).host
  return server.kind === 'openai' ? 'OpenAI' : 'Anthropic'
}

/** Returns the call of an answer as messages name it. */
export function callTo({ name, kind, baseUrl }: ServerPlace): WireCall {
  const at = publicUrl(baseUrl)
  const setting = `models.${name}.baseUrl`
  return kind === 'openai'
    ? { call: 'POST /chat/completions', at, api: 'the Chat Completions API of OpenAI', setting }
    : { call: 'POST /v1/messages', at, api: "Anthropic's Messages API", setting }
}
