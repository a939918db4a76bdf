/** A call on its way to a server, as an operator reads it: never with a token or a query. */
export interface WireCall {
  /** The method as its documentation names it. */
  readonly call: string
  /** Host, port and path of the server that was asked. */
  readonly at: string
  /** The API that the server has to speak, such as "the Telegram Bot API". */
  readonly api: string
  /** The setting that says where it is. */
  readonly setting: string
}

/** Status and content type of an answer, which are known without reading it. */
export interface SeenAnswer {
  readonly status: number
  /** The content type; empty where there is none. */
  readonly type: string
}

/** Returns host, port and path of a URL, and nothing of it that could be secret. */
export function publicUrl(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname.replace(/\/+$/, '')}`
}

/** The word for a call that we gave up ourselves, which says nothing about the server. */
const STOPPED = 'stopped'

/** Returns what to say of a call that nothing answered. */
export function notAnswered({ call, at }: Pick<WireCall, 'call' | 'at'>, why: string): string {
  return why === STOPPED ? why : `${call} at ${at}: ${why}`
}

/** An error of the system, of a name server or of a client library. */
interface Thrown extends Error {
  readonly code?: unknown
  readonly hostname?: unknown
  readonly address?: unknown
  readonly port?: unknown
  /** The errors of the addresses that were tried. */
  readonly errors?: unknown
}

/** Words of libraries around the reason, which is in the cause. */
const EMPTY = /^(connection error\.?|request timed out\.?|fetch failed|terminated)?$/i
const MOST_CAUSES = 5
const MOST_ADDRESSES = 8

/**
 * Returns in words why a call had no answer: the reason of the innermost cause that has one, and for a name with
 * several addresses the reason of each. No word of it is a secret that was not in the words of the error.
 */
export function whyUnanswered(thrown: unknown): string {
  const causes: Thrown[] = []
  for (let error = thrown; error instanceof Error && causes.length < MOST_CAUSES; error = error.cause)
    causes.unshift(error)
  const reasons = causes.map(reasonOf)
  const said = reasons.find((reason) => !EMPTY.test(reason)) ?? reasons.find((reason) => reason !== '')
  return said ?? (thrown instanceof Error ? 'no reason was given' : String(thrown))
}

function reasonOf(error: Thrown): string {
  const { code, errors, message } = error
  const each = Array.isArray(errors) ? errors.filter((one) => one instanceof Error) : []
  const reasons = new Set(each.slice(0, MOST_ADDRESSES).map(reasonOf).filter(Boolean))
  if (reasons.size > 0) return [...reasons].join('; ')
  if (typeof code !== 'string') return message
  if (UNKNOWN_ISSUER.test(code)) return `the certificate there is signed by nobody who is trusted here; ${OWN_ISSUER}`
  return connectionWords(error, code) ?? (message || code)
}

const FAILED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'broke the connection off',
  ETIMEDOUT: 'did not answer',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'lies in a network that cannot be reached from here',
  EADDRNOTAVAIL: 'cannot be reached from here',
}

/** Returns the words for an address that was tried, or a name that was looked up; undefined for anything else. */
function connectionWords({ hostname, address, port }: Thrown, code: string): string | undefined {
  if (typeof hostname === 'string' && code === 'ENOTFOUND')
    return `there is no host ${hostname}, or this machine is offline`
  if (typeof hostname === 'string' && code === 'EAI_AGAIN')
    return `the name ${hostname} cannot be looked up: this machine is offline, or its name server does not answer`
  const words = FAILED[code]
  if (typeof address !== 'string' || words === undefined) return undefined
  const host = address.includes(':') ? `[${address}]` : address
  return `${host}${typeof port === 'number' ? `:${port}` : ''} ${words}`
}

/** The codes of a certificate whose issuer nobody here knows, or that is its own. */
export const UNKNOWN_ISSUER =
  /^(SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)|CERT_UNTRUSTED)/
/** The remedy for such a certificate, for who runs this machine. */
export const OWN_ISSUER =
  "if it is your own, set NODE_EXTRA_CA_CERTS to the file of the signer's certificate and start Parley again"

/**
 * Returns what to say of an answer that is not the API's. Below 500 something else lives at that address, which looks
 * the same whatever the platform; from 500 on it may be the API in trouble.
 */
export function notTheApi(asked: WireCall, answer: SeenAnswer): string {
  const said = wasAnswered(asked, answer)
  return answer.status >= 500 ? said : `${said}, which is not ${asked.api}: check ${asked.setting}`
}

/** Returns what to say of an answer of which nothing but this is known. */
export function wasAnswered({ call, at }: Pick<WireCall, 'call' | 'at'>, { status, type }: SeenAnswer): string {
  return `${call} at ${at} was answered ${status} with ${kindOf(type)}`
}

/** Returns what to add to a setting that names a server with an API of OpenAI and has no version in its path. */
export function versionHint(baseUrl: string): string {
  return /\/v\d/.test(new URL(baseUrl).pathname) ? '' : ', which for most servers ends in /v1'
}

function kindOf(type: string): string {
  if (/html/i.test(type)) return 'HTML'
  if (/json/i.test(type)) return 'JSON of another kind'
  const plain = /^[a-z]+\/[a-z0-9.+-]{1,40}/i.exec(type)?.[0]
  return plain ?? 'content of no type'
}
