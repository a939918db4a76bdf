import { OPENAI_WORDS, WORDS } from './refusal-words.ts'
import type { Details, DialectName, RefusalDetails, RefusalKind, Refused } from './refused.ts'
import type { ErrorReply } from './script.ts'

const plain = ({ message, type = 'invalid_request_error', param = null, code = null, beside = {} }: Refused) => ({
  error: { message, type, param, code, ...beside },
})

const STATUS_WORDS: Readonly<Record<number, string>> = { 401: 'UNAUTHENTICATED', 404: 'NOT_FOUND', 500: 'INTERNAL' }

/** The bodies of errors. */
const BODIES: Readonly<Record<DialectName, (refused: Refused) => unknown>> = {
  openai: plain,
  groq: plain,
  ollama: plain,
  deepseek: (refused) => plain({ ...refused, code: 'invalid_request_error' }),
  azure: (refused) =>
    typeof refused.code === 'string' && /^\d+$/.test(refused.code)
      ? { error: { code: refused.code, message: refused.message } }
      : plain(refused),
  kimi: ({ message, type = 'invalid_request_error' }) => ({ error: { message, type } }),
  gemini: ({ status, message, type }) => [
    { error: { code: status, message, status: type ?? STATUS_WORDS[status] ?? 'INVALID_ARGUMENT' } },
  ],
  mistral: ({ status, message, type = 'invalid_request_error', code = null }) => ({
    ...{ object: 'error', message, type, param: null, code, raw_status_code: status },
  }),
  xai: ({ message, code }) => ({ code: code ?? 'Client specified an invalid argument', error: message }),
  'lm-studio': ({ message, inStream }) => (inStream ? { error: { message }, message } : { error: message }),
  vllm: ({ status, message, type }) => ({
    error: {
      message,
      type: type ?? (status < 500 ? 'BadRequestError' : 'InternalServerError'),
      param: null,
      code: status,
    },
  }),
  'llama-cpp': ({ status, message, type, beside = {} }) => ({
    error: {
      code: status,
      message,
      type: type ?? (status < 500 ? 'invalid_request_error' : 'server_error'),
      ...beside,
    },
  }),
  openrouter: ({ status, message, beside = {} }) => ({ error: { message, code: status, ...beside } }),
  litellm: ({ status, message, type = null, param = null }) => ({
    error: { message, type, param, code: String(status) },
  }),
}

/** The details of a refusal that a script leaves out. */
const UNSAID: Details = {
  ...{ model: 'the-model', afterSeconds: 1, tokens: 9, answer: 4, window: 8, most: 4 },
  ...{ field: 'max_tokens', value: null, message: 0 },
}

/** Returns a refusal in the words of a server, without its shape. */
export function refused(kind: RefusalKind, dialect: DialectName, details: RefusalDetails = {}): Refused {
  return (WORDS[dialect][kind] ?? OPENAI_WORDS[kind])({ ...UNSAID, ...details })
}

/** Returns a refusal for a script, as a server of the dialect sends it. */
export function refusal(kind: RefusalKind, dialect: DialectName = 'openai', details: RefusalDetails = {}): ErrorReply {
  return errorReply(dialect, refused(kind, dialect, details))
}

/** Returns a refusal in the shape of its server. */
export function errorReply(dialect: DialectName, said: Refused): ErrorReply {
  const { status, message, type, headers, inStream } = said
  const words = typeof message === 'string' ? message : JSON.stringify(message)
  const sent = { ...(headers && { headers }), ...(inStream && { inStream }) }
  return { error: { status, message: words, type: type ?? '', ...sent, body: BODIES[dialect](said) } }
}
