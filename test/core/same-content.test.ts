import { expect, it } from 'vitest'
import type { InboundEvent } from '../../src/core/message.ts'
import { hasSameContent, isWordless } from '../../src/core/same-content.ts'
import { withoutText, withShortText } from '../../src/sessions/people/kept-text.ts'
import { inboxRow } from '../store/sample-rows.ts'

const { dispatch } = inboxRow(1, 7, { state: 'done' })
const said = (changes: object): InboundEvent => ({ ...dispatch.event, ...changes }) as InboundEvent

it('S41: a stranger’s poll that is kept short says the same as it does whole', () => {
  const poll = said({ text: '', enclosed: [`poll: ${'one or the other '.repeat(50)}`] })
  const { event: short } = withShortText({ ...dispatch, event: poll })
  expect(short).not.toEqual(poll)
  expect(hasSameContent(short, poll)).toBe(true)
  expect(hasSameContent(short, said({ text: '', enclosed: ['poll: another'] }))).toBe(false)
})

it('S41: a message of which nothing was kept has no words, unlike one that is a place, a file or others’ words alone', () => {
  const isEmpty = (changes: object) => isWordless(said({ text: '', ...changes }))
  expect(isWordless(withoutText(dispatch).event)).toBe(true)
  expect(isEmpty({ enclosed: ['location: 1, 2'] })).toBe(false)
  const forwarded = said({ text: '', forwarded: { name: 'Cy', text: 'the words of Cy' } })
  expect(isWordless(forwarded)).toBe(false)
  expect(isWordless(withoutText({ ...dispatch, event: forwarded }).event)).toBe(true)
  expect(isEmpty({ attachments: [{ ref: 'one', kind: 'voice' }] })).toBe(false)
})
