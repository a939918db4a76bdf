import { DOORS } from '../../core/doors.ts'
import { errorCode, ParleyError } from '../../core/errors.ts'
import { readBytes, readFirstBytes } from '../../core/read-bytes.ts'
import { readJson } from '../../core/read-json.ts'

type Fields = Readonly<Record<string, unknown>>

/** The codes of one large server for what all others call otherwise. */
const CODES: Readonly<Record<string, string>> = {
  bad_refresh_token: 'invalid_grant',
  bad_verification_code: 'invalid_grant',
  incorrect_client_credentials: 'invalid_client',
}

/** Kinds of tokens that are worth nothing without a key; any other word is one more name for a bearer token. */
const BOUND = /^(dpop|mac|pop)$/i

/** Fields that the library insists on in a description, and that nothing here reads. */
const UNREAD = { response_types_supported: ['code'], subject_types_supported: [] }

/**
 * Returns a `fetch` whose answers from an authorization server have the form that the library reads: empty fields are
 * left out, tokens may come as a form, without their kind or with a time as text, an error may come as a success, and a
 * page in place of a description is no description. Throws `unavailable` for tokens that no request can use, and
 * `too_long`.
 */
export function plainAnswers(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (response.body === null) return response
    const { status, ok, headers } = response
    // The rest of a long page is not read: it is no description in any case.
    const { bytes } = await readFirstBytes(response.body, DOORS.toolLogin.bytes)
    const text = bytes.toString('utf8')
    const isAsked = init?.method === 'POST'
    const found = read(text, isAsked)
    if (found === undefined) return new Response(text, { status: ok && !isAsked ? 404 : status, headers })
    if (!isFields(found)) return new Response(text, { status })
    if (!isAsked) return Response.json(described(filled(found)), { status })
    const plain = tokens(filled(found))
    return Response.json(plain, { status: ok && 'error' in plain ? 400 : status })
  }
}

function isFields(found: unknown): found is Fields {
  return typeof found === 'object' && found !== null && !Array.isArray(found)
}

/** Returns a value of JSON, or what stands in a form; undefined for a page. Throws `too_long`. */
function read(text: string, isAsked: boolean): unknown {
  try {
    return readJson(text, DOORS.toolLogin)
  } catch (error) {
    if (errorCode(error) === 'too_long') throw error
    const form = new URLSearchParams(text)
    return isAsked && (form.has('access_token') || form.has('error')) ? Object.fromEntries(form) : undefined
  }
}

function filled(found: Fields): Fields {
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== null && value !== ''))
}

function tokens({ expires_in: seconds, token_type: kind = 'Bearer', scope, ...rest }: Fields): Fields {
  if (typeof rest.error === 'string') return { ...rest, error: CODES[rest.error] ?? rest.error }
  if (typeof kind === 'string' && BOUND.test(kind))
    throw new ParleyError('unavailable', `The authorization server gives tokens of the kind ${kind} alone.`)
  return {
    ...{ ...rest, token_type: String(kind) },
    ...(Number(seconds) > 0 && Number.isFinite(Number(seconds)) ? { expires_in: Number(seconds) } : {}),
    ...(scope === undefined ? {} : { scope: Array.isArray(scope) ? scope.join(' ') : scope }),
  }
}

function described(fields: Fields): Fields {
  const { token_endpoint, issuer } = fields
  if (typeof token_endpoint !== 'string') return fields
  return { ...UNREAD, id_token_signing_alg_values_supported: [], jwks_uri: issuer, ...fields }
}

/** Returns the JSON of an answer; undefined for one without a body. Throws as `readJson` does. */
export async function answerIn({ body }: Response): Promise<unknown> {
  return body === null ? undefined : readJson(await readBytes(body, DOORS.toolLogin.bytes), DOORS.toolLogin)
}
