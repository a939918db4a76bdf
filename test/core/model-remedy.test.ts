import { expect, it } from 'vitest'
import type { ErrorCode } from '../../src/core/errors.ts'
import { modelRemedy, turnRemedy } from '../../src/core/model-remedy.ts'

it.each<[ErrorCode, string, string]>([
  ['model_failed', 'It refused. Check models.near.baseUrl (h:1) and that its server runs.', 'The next message is'],
  ['model_unconfigured', 'It answered 404. Check models.near.baseUrl.', 'Or choose another model with `/model`.'],
])('%s: a setting that the failure names itself is not named again', (code, said, rest) => {
  const remedy = modelRemedy(code, 'near/x', said)
  expect(remedy).toContain(rest)
  expect(remedy).not.toContain('models.')
  // Another server's words say nothing about this one.
  expect(modelRemedy(code, 'nearby/x', said)).toContain('models.nearby')
})

it('what does not depend on a setting is the same behind any words', () => {
  expect(modelRemedy('model_refused', 'near/x', 'Check models.near.apiKey.')).toBe('Ask in other words.')
})

it.each(['turn_limit', 'model_context_length'] as const)('%s: only a chat is told of a command', (code) => {
  expect(turnRemedy(code, { channel: 'telegram' })).toBe(modelRemedy(code))
  expect(modelRemedy(code)).toContain('/new')
  expect(turnRemedy(code, { channel: 'web' })).toMatch(/session of another name/)
  expect(turnRemedy(code, { channel: 'web' })).not.toContain('/new')
})

it('turn_limit: a client is told which cap is its own', () => {
  expect(turnRemedy('turn_limit', { channel: 'api' })).toContain('session.turnCap.api.')
})
