import OpenAI from 'openai'
import { expect, it } from 'vitest'
import { type ErrorCode, ParleyError } from '../../src/core/errors.ts'
import { ChatRefused } from '../../src/core/operate-chat.ts'
import { answerAt, chatErrorAnswer, isChatPath, noSuchPath } from '../../src/http/chat-errors.ts'
import { ERROR_CODES, type HttpStatus } from '../../src/http/errors.ts'

/** A repeat of the same request may be answered: the state of the daemon or of a model's server passes. */
const PASSES: Readonly<Partial<Record<ErrorCode, HttpStatus>>> = {
  ...{ too_many: 429, queue_full: 429 },
  ...{ unavailable: 503, store_locked: 503, model_overloaded: 503 },
  ...{ internal: 500, model_stalled: 502, model_empty: 502, model_bad_call: 502, model_failed: 502 },
}
/** No client repeats these by itself: `STATUS_NO_RETRY` of LangChain less those that the others repeat. */
const NOT_REPEATED = [400, 401, 402, 403, 404, 413]

it.each(ERROR_CODES)(
  'the failure %s has a status that clients repeat if, and only if, a repeat may mend it',
  (code) => {
    for (const error of [new ParleyError(code, 'because'), new ChatRefused(code, 'because')]) {
      const { status, headers, body } = chatErrorAnswer(error)
      if (code in PASSES) expect(status).toBe(PASSES[code])
      else expect(NOT_REPEATED).toContain(status)
      if (headers['x-should-retry'] === 'true') expect([status, headers]).toMatchObject([expect.any(Number), AGAIN])
      expect(body.error).toEqual({
        message: expect.any(String),
        type: TYPE,
        code: expect.stringMatching(/^\w+$/),
        param: null,
      })
    }
  },
)
const AGAIN = { 'retry-after': expect.stringMatching(/^\d+$/) }
const TYPE = expect.stringMatching(
  /^(invalid_request|authentication|permission|rate_limit|server)_error$|^insufficient_quota$/,
)

it('whoever asks while the daemon stops is told when to ask again, at either door', () => {
  for (const path of ['/v1/chat/completions', '/v1/sessions/api:notes/messages'])
    expect(answerAt(path, new ParleyError('unavailable', 'because'))).toMatchObject({ status: 503, headers: AGAIN })
})

it.each([
  ['invalid', OpenAI.BadRequestError, 'invalid_value'],
  ['unauthorized', OpenAI.AuthenticationError, 'invalid_api_key'],
  ['forbidden', OpenAI.PermissionDeniedError, 'forbidden'],
  ['not_found', OpenAI.NotFoundError, 'not_found'],
  ['queue_full', OpenAI.RateLimitError, 'rate_limit_exceeded'],
  ['budget_spent', OpenAI.APIError, 'insufficient_quota'],
  ['model_context_length', OpenAI.BadRequestError, 'context_length_exceeded'],
  ['model_refused', OpenAI.BadRequestError, 'content_policy_violation'],
  ['model_overloaded', OpenAI.InternalServerError, 'model_overloaded'],
] as const)('%s is the official client’s %o with the code %s', (code, kind, name) => {
  const { status, body } = chatErrorAnswer(new ParleyError(code, 'because'))
  const thrown = OpenAI.APIError.generate(status, body, undefined, new Headers())
  expect(thrown).toBeInstanceOf(kind)
  expect(thrown).toMatchObject({ status, code: name })
})

it('a conversation that is too long says so in the words by which clients know it', () => {
  for (const error of [
    new ParleyError('model_context_length', 'Start a fresh one. (tr_1)'),
    new ChatRefused('invalid', 'Start a fresh one. (tr_1)', { name: 'context_length_exceeded', param: 'messages' }),
  ]) {
    const { message } = chatErrorAnswer(error).body.error
    // LangChain looks for "maximum context length", LiteLLM for the whole.
    expect(message.toLowerCase()).toContain("this model's maximum context length is")
    expect(message).toMatch(/Start a fresh one\. \(tr_1\)$/)
  }
})

it('a failure that nobody expected keeps its words for the log', () => {
  const { status, body } = chatErrorAnswer(new Error('secret'))
  expect([status, body.error.code]).toEqual([500, 'internal'])
  expect(JSON.stringify(body)).not.toContain('secret')
})

it.each([
  ['/v1/models/', true],
  ['/v1/chat/completions/', true],
  ['/models', true],
  ['/chat/completions', true],
  ['//v1/models', true],
  ['/v1/v1/chat/completions', true],
  ['/api/v1/models', true],
  ['/openai/v1/chat/completions', true],
  ['/v1/completions', true],
  ['/openai/deployments/main/chat/completions', true],
  ['/v1/engines/main/completions', true],
  ['/v1/responses', true],
  ['/v1/embeddings', true],
  ['/v1/audio/speech', true],
  ['/v1/images/generations', true],
  ['/v1/sessions/models', false],
  ['/v1/sessions/api:chat/messages', false],
  ['/v1/modelsx', false],
  ['/v1/hooks/chat', false],
  ['/', false],
])('the path %s is one that OpenAI’s clients ask: %s', (path, is) => {
  expect(isChatPath(path)).toBe(is)
  const { body } = chatErrorAnswer(noSuchPath({ method: 'POST', path }))
  expect(body.error.code).toBe(is ? 'unknown_url' : 'not_found')
  expect(body.error.message.includes('POST /v1/chat/completions')).toBe(is)
})
