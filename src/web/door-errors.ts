import { ParleyError, toError } from '../core/errors.ts'

/** Returns what went wrong at the net in words for the model. */
export function doorError(thrown: unknown, host: string): ParleyError {
  const error = toError(thrown)
  return new ParleyError('unavailable', `${sentence(codeOf(error), host)}`, { cause: error })
}

function sentence(code: string, host: string): string {
  if (code === 'ENOTFOUND' || code === 'ENODATA') return `There is no host ${host}.`
  if (code === 'EAI_AGAIN') return `The name ${host} cannot be looked up at the moment.`
  if (code === 'ECONNREFUSED') return `${host} refuses the connection.`
  if (/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(code)) return `${host} cannot be reached.`
  if (/^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/.test(code)) return `${host} does not answer.`
  if (/CERT|SIGNATURE|^(EPROTO|ERR_TLS|ERR_SSL)/.test(code)) return `${host} has no connection that can be trusted.`
  if (/^(Z_|ERR__|ERR_BROTLI|ERR_PADDING)/.test(code)) return `What ${host} sent is not in the encoding it names.`
  if (/^(HPE_|HTTPParserError|UND_ERR_(HEADERS_OVERFLOW|RES_|RESPONSE))/.test(code))
    return `${host} does not answer as a web server does.`
  if (/^(ECONNRESET|EPIPE|UND_ERR_(SOCKET|ABORTED|CLOSED|DESTROYED)|ERR_STREAM)/.test(code))
    return `The connection to ${host} broke off before its answer was whole.`
  return `${host} cannot be read: ${code}.`
}

function codeOf(error: Error): string {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown }
  if (typeof code === 'string') return code
  return cause instanceof Error ? codeOf(cause) : error.name
}
