import { expect, it } from 'vitest'
import { parseNamespace } from '../../../src/core/caller.ts'
import type { Dispatch, Identity } from '../../../src/core/dispatch.ts'
import { toPersonId } from '../../../src/core/ids.ts'
import { payersOf } from '../../../src/sessions/turns/payers.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { direct, dispatchOf, message, user } from '../../fakes/dispatch.ts'

const GUEST: Identity = { role: 'guest' }
const BOB: Identity = { person: toPersonId('bob'), role: 'member' }

const row = (changes: Partial<Dispatch>, identity = GUEST, isPublic = false) => ({
  dispatch: dispatchOf(message({ address: direct('9'), sender: user('9') }), changes),
  decision: { identity, ...(isPublic ? { public: true as const } : {}) },
})
const byToken = {
  origin: 'api',
  posted: { client: parseNamespace('api:shop'), participant: 'api:shop:eve' },
} as Partial<Dispatch>
const stranger = { kind: 'stranger', id: 'telegram:7' } as const

it('C33: what a token asks in a guest’s name is for strangers, and its namespace pays too; in a person’s name it is not', () => {
  expect(payersOf(CHANNELS, [row(byToken)])).toEqual({
    askers: [{ kind: 'person', id: 'api:shop:eve' }],
    strangers: true,
    clients: ['api:shop'],
  })
  expect(payersOf(CHANNELS, [row(byToken, BOB)])).toMatchObject({
    askers: [{ kind: 'person', id: 'bob' }],
    strangers: false,
  })
})

it('C33: what no token has asked is charged to nobody, in whoever’s name it is', () => {
  const posted = { participant: 'api:shop:eve' } as Dispatch['posted'] & object
  expect(payersOf(CHANNELS, [row({ origin: 'tool', posted })])).toMatchObject({ askers: [], clients: [] })
})

it('C33: work that a stranger’s turn began elsewhere is for strangers still, whoever it is read as there', () => {
  expect(payersOf(CHANNELS, [row({ origin: 'tool', payer: stranger })])).toMatchObject({
    askers: [stranger],
    strangers: true,
  })
  const known = { kind: 'person', id: 'bob' } as const
  expect(payersOf(CHANNELS, [row({ origin: 'tool', payer: known }, GUEST, true)])).toMatchObject({
    askers: [known],
    strangers: false,
  })
})

it('C33: one message of somebody known makes an answer one for them, and nobody’s is not for strangers', () => {
  const rows = [row({ origin: 'platform' }, GUEST, true), row({ origin: 'platform' }, BOB)]
  expect(payersOf(CHANNELS, rows)).toMatchObject({ strangers: false })
  expect(payersOf(CHANNELS, rows.slice(0, 1))).toMatchObject({ strangers: true })
  expect(payersOf(CHANNELS, [])).toEqual({ askers: [], strangers: false, clients: [] })
})
