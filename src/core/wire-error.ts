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
  return why === STOPPED ? why : `${call} at ${at}: ${why}${NO_HOST.test(why) ? OFFLINE : ''}`
}

/** No name server knows the host, or none was reached. */
const NO_HOST = /\b(?:ENOTFOUND|EAI_AGAIN)\b/
const OFFLINE = ' (there is no such host, or this machine is offline)'

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
