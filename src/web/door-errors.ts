import { ParleyError, toError } from '../core/errors.ts'

/** Returns what went wrong at the net in words: for the model, and for the operator, whose own word `configured` is. */
export function doorError(thrown: unknown, { host, configured }: { host: string; configured: boolean }): ParleyError {
  const error = toError(thrown)
  const code = codeOf(error)
  const words = certificateSentence(code, host, configured) ?? sentence(code, host)
  return new ParleyError('unavailable', words, { cause: error })
}

/** The codes of a certificate whose issuer nobody here knows, or that is its own. */
const UNKNOWN_ISSUER = /^(SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)|CERT_UNTRUSTED)/
const NOT_TLS = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)/

/** Returns why TLS did not come about; where the address is configured, with the remedy. */
function certificateSentence(code: string, host: string, configured: boolean): string | undefined {
  const saying = (what: string, remedy: string): string => `${what}${configured ? `: ${remedy}` : ''}.`
  if (code === 'CERT_HAS_EXPIRED') return saying(`The certificate of ${host} has expired`, 'it has to be renewed there')
  if (code === 'CERT_NOT_YET_VALID')
    return saying(`The certificate of ${host} is not valid yet`, 'look at the clocks of both machines')
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return saying(`The certificate of ${host} is for another name`, 'use that name in its address')
  if (UNKNOWN_ISSUER.test(code))
    return saying(`The certificate of ${host} is signed by nobody who is trusted here`, OWN_ISSUER)
  if (NOT_TLS.test(code)) return saying(`${host} does not speak TLS`, 'its address may have to begin with http://')
  return undefined
}

const OWN_ISSUER =
  "if it is your own, set NODE_EXTRA_CA_CERTS to the file of the signer's certificate and start Parley again"

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

const NO_WAY =
  /^(ENOTFOUND|ENODATA|EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT)$/

/** Returns true for an error of the door from before anything of the request has come to its host. */
export function cameNowhere({ cause }: Error): boolean {
  const code = cause instanceof Error ? codeOf(cause) : ''
  return NO_WAY.test(code) || UNKNOWN_ISSUER.test(code) || /^(CERT_|ERR_TLS_|ERR_SSL_|EPROTO$)/.test(code)
}

function codeOf(error: Error): string {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown }
  if (typeof code === 'string') return code
  return cause instanceof Error ? codeOf(cause) : error.name
}
