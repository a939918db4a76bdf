import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'

/**
 * Makes a transport forgive what real servers get wrong in their first answer, for which the library would not
 * connect: a name that is missing, and capabilities that are no objects. `version` is the version of the protocol that
 * the client says it speaks; default: the newest. Returns the transport.
 */
export function lenient(transport: Transport, version?: string): Transport {
  let initialize: RequestId | undefined
  const send = transport.send.bind(transport)
  transport.send = async (message, options) => {
    if (!('method' in message) || message.method !== 'initialize' || !('id' in message)) return send(message, options)
    initialize = message.id
    const params = version === undefined ? message.params : { ...message.params, protocolVersion: version }
    return send({ ...message, ...(params === undefined ? {} : { params }) }, options)
  }
  const start = transport.start.bind(transport)
  transport.start = async () => {
    const hand = transport.onmessage
    transport.onmessage = (message, extra) => {
      const isFirst = initialize !== undefined && 'result' in message && message.id === initialize
      hand?.(isFirst ? ({ ...message, result: mended(message.result) } as JSONRPCMessage) : message, extra)
    }
    return start()
  }
  return transport
}

function mended(result: unknown): unknown {
  if (!isRecord(result)) return result
  const { serverInfo, capabilities, ...rest } = result
  const { name = 'unnamed', version = '0' } = isRecord(serverInfo) ? serverInfo : {}
  const known = Object.entries(isRecord(capabilities) ? capabilities : {}).filter(([, value]) => isRecord(value))
  return {
    ...{ ...rest, capabilities: Object.fromEntries(known) },
    serverInfo: { name: String(name), version: String(version) },
    // No model is shown what a server says of itself.
    instructions: undefined,
  }
}

/** The versions of the protocol that the library speaks besides the newest, the newest of them first. */
const OLDER = ['2025-06-18', '2025-03-26', '2024-11-05']

/** Returns the newest older version that a refusal of the newest one names, in its words or its data. */
export function olderVersion(refusal: unknown): string | undefined {
  const { message = '', data = '' } = isRecord(refusal) ? refusal : {}
  const words = `${String(message)} ${JSON.stringify(data) ?? ''}`
  return /version/i.test(words) ? OLDER.find((version) => words.includes(version)) : undefined
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
