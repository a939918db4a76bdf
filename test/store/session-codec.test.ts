import { expect, it } from 'vitest'
import { OVERRIDE_COLUMNS, overridesIn, patchedParams } from '../../src/store/session-codec.ts'
import type { SqlRow } from '../../src/store/sql.ts'

/** A row of an older database: no setting has been kept in `settings` yet. */
const OLDER: SqlRow = {
  send_override: 'deny',
  thinking_level: 'high',
  verbose_level: null,
  model: 'scripted/echo',
  settings: null,
}

it('T26: a row written before there was `settings` reads as before', () => {
  expect(OVERRIDE_COLUMNS).toEqual(Object.keys(OLDER))
  const overrides = { sendPolicy: 'deny', thinkingLevel: 'high', model: 'scripted/echo' }
  expect(overridesIn(OLDER)).toEqual(overrides)
  expect(patchedParams({}, { set: overridesIn(OLDER), inherit: [] })).toEqual(Object.values(OLDER))
})

it('T26: a setting without a column of its own is kept in `settings`, beside the others', () => {
  const columns = { sendPolicy: 'send_override' }
  const overrides = { sendPolicy: 'deny', thinkingLevel: 'low', model: 'scripted/echo' } as const
  const params = patchedParams({}, { set: overrides, inherit: [] }, columns)
  expect(params).toEqual(['deny', '{"thinkingLevel":"low","model":"scripted/echo"}'])
  expect(overridesIn({ send_override: 'deny', settings: params[1] ?? null }, columns)).toEqual(overrides)
  expect(patchedParams({}, { set: {}, inherit: [] }, columns)).toEqual([null, null])
})

it('a stored value that its setting does not take counts as not set, and a send policy as a denial', () => {
  const { verboseLevel: _, ...others } = overridesIn(OLDER)
  expect(overridesIn({ ...OLDER, verbose_level: 'loud' })).toEqual(others)
  expect(overridesIn({ ...OLDER, settings: '{"model":1}' }, {})).toEqual({})
  expect(overridesIn({ ...OLDER, settings: '{' })).toEqual(overridesIn(OLDER))
  expect(overridesIn({ ...OLDER, send_override: 'whisper' }).sendPolicy).toBe('deny')
  expect(overridesIn({ ...OLDER, settings: '{"later":1}' })).toEqual(overridesIn(OLDER))
})

it('a patch leaves what a later version stored, and what this one cannot read, as it is', () => {
  const columns = { sendPolicy: 'send_override', thinkingLevel: 'thinking_level' }
  const row: SqlRow = {
    ...{ send_override: 'whisper', thinking_level: 'extreme' },
    settings: '{"maxReplyLength":500,"model":"scripted/echo","verboseLevel":"on"}',
  }
  expect(patchedParams(row, { set: { verboseLevel: 'full' }, inherit: [] }, columns)).toEqual([
    'whisper',
    'extreme',
    '{"maxReplyLength":500,"model":"scripted/echo","verboseLevel":"full"}',
  ])
  expect(patchedParams(row, { set: {}, inherit: ['sendPolicy', 'model', 'verboseLevel'] }, columns)).toEqual([
    null,
    'extreme',
    '{"maxReplyLength":500}',
  ])
})

it.each(['{broken', '"text"', '[1,2]', 'null', '{"number":12345678901234567890}'])(
  'settings stored as %s stay byte for byte unless a patch names one of them',
  (settings) => {
    const row: SqlRow = { ...OLDER, settings }
    expect(patchedParams(row, { set: { model: 'scripted/echo' }, inherit: ['sendPolicy'] }).at(-1)).toBe(settings)
  },
)
