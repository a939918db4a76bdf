import { expect, it } from 'vitest'
import { type ErrorCode, ParleyError } from '../../src/core/errors.ts'
import { createModelHealth } from '../../src/daemon/model-health.ts'

const health = (unconfigured: ReadonlyMap<string, string>) =>
  createModelHealth({ clock: { now: () => 1 }, where: undefined, notify: () => {}, unconfigured } as never)

it.each<[ErrorCode, string]>([
  ['model_auth', 'near answered 401: no. Check models.near.apiKey.'],
  ['model_failed', 'POST /x at near: connect ECONNREFUSED. Check models.near.baseUrl and that its server runs.'],
  ['model_unconfigured', 'near answered 404: none. Check the model name of the agent and models.near.baseUrl.'],
])('%s: what to look at is said once', (code, said) => {
  const { called, troubles } = health(new Map())
  called('near/x', new ParleyError(code, said))
  const line = troubles().map(({ cause, remedy }) => `${cause} ${remedy}`)[0]
  expect(line?.split('models.near.')).toHaveLength(2)
  expect(line?.match(/check/gi) ?? []).toHaveLength(code === 'model_auth' ? 0 : 1)
})

it('a model without a key from the start names its own server, once', () => {
  const { troubles } = health(new Map([['near/x', 'models.near.apiKey: NEAR is not set.']]))
  expect(troubles()[0]?.remedy).toBe(
    'Or choose another model with `/model`. After a change of the configuration start the daemon again.',
  )
})
