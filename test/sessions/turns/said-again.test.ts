import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { Dispatch } from '../../../src/core/dispatch.ts'
import { NO_PLAN, NOTHING_FORGOTTEN } from '../../../src/core/forgetting.ts'
import { type ScheduleId, type SourceId, toAccountId, toSessionId } from '../../../src/core/ids.ts'
import { admittedKey } from '../../../src/sessions/people/admitted-key.ts'
import { inThreadKey } from '../../../src/sessions/turns/in-thread-key.ts'
import { refuseStale } from '../../../src/sessions/turns/made-of.ts'
import { isGone, isOfForgotten, withoutForgottenQuote } from '../../../src/sessions/turns/said-again.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { deliveryOf, ids, inboxRow } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

/** A message that is stored, with this outcome. */
async function stored(outcome: 'forgotten' | 'refused: stranger') {
  const store = await openSqliteStore({ path: join(tempFolder(), 'parley.db'), clock: systemClock })
  onTestFinished(() => store.close())
  const row = inboxRow(1, 7, { state: 'done', outcome })
  await store.write((tx) => tx.inbox.add(row))
  const { event } = row.dispatch
  const anew: Dispatch = { ...row.dispatch, event: { ...event, eventKey: admittedKey(event.eventKey) } }
  return { store, row, anew }
}

it('S41: a message that was read to be handled, since its author is let in, is not if it was forgotten then', async () => {
  const forgotten = await stored('forgotten')
  expect(await isOfForgotten(forgotten.store.read, forgotten.anew)).toBe(true)
  const waits = await stored('refused: stranger')
  expect(await isOfForgotten(waits.store.read, waits.anew)).toBe(false)
})

it('S41: a message is gone from the request on, though its row is emptied later', async () => {
  const { store, row, anew } = await stored('refused: stranger')
  expect(await isGone(store.read, row.dispatch.event)).toBe(false)
  const plan = { ...NO_PLAN, inbox: [row.id] }
  await store.write((tx) =>
    tx.forgetting.begin({ id: 'one', state: 'running', plan, counts: NOTHING_FORGOTTEN, askedAt: 1 }),
  )
  expect([await isGone(store.read, row.dispatch.event), await isOfForgotten(store.read, anew)]).toEqual([true, true])
})

it('S41: a message is not kept whose deletion comes while it waits for a hook: admitted, or in a thread that is read', async () => {
  const { store, row, anew } = await stored('refused: stranger')
  const { event, ...dispatch } = row.dispatch
  const { address, sender, sentAt, eventKey } = event
  const deletion = (nth: number, original: string): Dispatch => ({
    ...dispatch,
    event: { kind: 'delete', eventKey: `deletion ${nth}`, messageId: '7', address, sender, sentAt, original },
  })
  const gone = async () => [await isGone(store.read, event), await isOfForgotten(store.read, anew)]
  const comes = (nth: number, original: string) =>
    store.write((tx) => tx.inbox.add({ ...inboxRow(nth, 7, { state: 'done' }), dispatch: deletion(nth, original) }))
  await comes(2, 'of another chat')
  expect(await gone()).toEqual([false, false])
  await comes(3, eventKey)
  expect(await gone()).toEqual([true, true])
})

it.each([
  ['of a stranger who was let in later', admittedKey],
  ['of a thread that was read', inThreadKey],
])('S41: a message is gone once the further row %s is forgotten', async (_what, keyOf) => {
  const { store, row } = await stored('refused: stranger')
  const { event } = row.dispatch
  const further = inboxRow(1, 7, { state: 'done', outcome: 'forgotten' })
  const dispatch = { ...further.dispatch, event: { ...event, eventKey: keyOf(event.eventKey) } }
  await store.write((tx) => tx.inbox.add({ ...further, dispatch }))
  expect(await isGone(store.read, event)).toBe(true)
})

it('S41: nothing is quoted of an answer whose turn is being forgotten, nor of what it says beside it', async () => {
  const { store, row } = await stored('refused: stranger')
  const [forgotten, other] = [ids.turn(), ids.turn()]
  const { address } = row.dispatch.event
  const said = async (source: SourceId, messageId: string) => {
    const delivery = deliveryOf(source, { address, state: 'sent', messageId })
    await store.write((tx) => tx.outbox.add([delivery]))
  }
  await said(forgotten, '31')
  await said(ids.aside(forgotten), '32')
  await said(other, '33')
  const quotes = () =>
    Promise.all(
      ['31', '32', '33'].map(async (messageId) => {
        const quoted = { messageId, text: 'echo', own: true }
        const { event } = await withoutForgottenQuote(store.read, {
          ...row.dispatch,
          event: { ...row.dispatch.event, quoted } as Dispatch['event'],
        })
        return 'quoted' in event ? event.quoted?.text : 'none'
      }),
    )
  expect(await quotes()).toEqual(['echo', 'echo', 'echo'])
  const session = { id: toSessionId('telegram:2026-11-23-00000001'), empty: [], cut: [], turns: [] }
  const plan = { ...NO_PLAN, sessions: [{ ...session, running: { turn: forgotten, empty: [] } }] }
  await store.write((tx) =>
    tx.forgetting.begin({ id: 'one', state: 'running', plan, counts: NOTHING_FORGOTTEN, askedAt: 1 }),
  )
  expect(await quotes()).toEqual([undefined, undefined, 'echo'])
})

it('S41: the run of a reminder that was taken out while it waited for a hook is refused', async () => {
  const { store } = await stored('refused: stranger')
  const words = { sessions: [], since: await store.read.forgetting.removals() }
  const schedule = { id: 'reminder-1' as ScheduleId } as NonNullable<Dispatch['schedule']>
  await store.write(async (tx) => {
    await refuseStale(tx, words, {})
    await expect(refuseStale(tx, words, { schedule })).rejects.toMatchObject({ code: 'conflict' })
  })
})

it('S41: a message of a group is gone once another bot of ours has forgotten it, but nobody else’s of that number is', async () => {
  const { store, row } = await stored('forgotten')
  const { event } = row.dispatch
  const goneAs = (changes: object, address: object = { account: 'second', chatType: 'group' }) =>
    isGone(store.read, {
      ...event,
      ...changes,
      eventKey: 'of another bot',
      address: { ...event.address, ...address },
    } as never)
  expect(await goneAs({})).toBe(true)
  expect(await goneAs({ sender: { ...event.sender, id: '999' } })).toBe(false)
  expect(await goneAs({ messageId: '8' })).toBe(false)
  expect(await goneAs({ sentAt: 2 })).toBe(false)
  expect(await goneAs({}, { account: 'second', chatType: 'direct' })).toBe(false)
})

it('S41: a message of a group that comes late to another bot of ours is not kept, unless it may have gone for its age', async () => {
  const { store, row } = await stored('forgotten')
  const { event } = row.dispatch
  const late = (address: object, days = 0, changes: object = {}) => {
    const one = { ...event, ...changes, eventKey: 'of another bot', address: { ...event.address, ...address } }
    const dispatch = { ...row.dispatch, receivedAt: event.sentAt + days * 86_400_000, event: one } as Dispatch
    return isOfForgotten(store.read, dispatch)
  }
  expect(await late({ account: 'second' })).toBe(true)
  expect(await late({ account: 'second' }, 1)).toBe(false)
  expect(await late({ account: 'second', chatType: 'direct' })).toBe(false)
  expect(await late({ account: 'second' }, 0, { sentAt: event.sentAt - 1 })).toBe(false)
})

it('S41: a quotation stays where the bot itself has another message of that number, or keeps it for longer', async () => {
  const { store, row } = await stored('forgotten')
  const { event } = row.dispatch
  const address = { ...event.address, account: toAccountId('second') }
  const quoted = { messageId: '7', text: 'echo', own: false, sender: event.sender }
  const quote = async () => {
    const one = { ...event, eventKey: 'a reply', messageId: '9', address, quoted } as Dispatch['event']
    const { event: left } = await withoutForgottenQuote(store.read, { ...row.dispatch, event: one })
    return 'quoted' in left ? left.quoted?.text : 'none'
  }
  expect(await quote()).toBeUndefined()
  const own = inboxRow(1, 7, { state: 'done' })
  const dispatch = { ...own.dispatch, event: { ...own.dispatch.event, address, eventKey: 'as the second has it' } }
  await store.write((tx) => tx.inbox.add({ ...own, dispatch }))
  expect(await quote()).toBe('echo')
})

it('S41: a quotation of a person stays where another bot of ours has a forgotten answer of that number', async () => {
  const { store, row } = await stored('refused: stranger')
  const { event } = row.dispatch
  const said = deliveryOf(ids.turn(), { address: event.address, state: 'sent', messageId: '31' })
  await store.write((tx) => tx.outbox.add([{ ...said, part: { ...said.part, text: '' } }]))
  const quote = async (kind: 'user' | 'bot') => {
    const quoted = { messageId: '31', text: 'echo', own: false, sender: { id: '900', kind } }
    const address = { ...event.address, account: toAccountId('second') }
    const one = { ...event, eventKey: kind, messageId: '9', address, quoted } as Dispatch['event']
    const { event: left } = await withoutForgottenQuote(store.read, { ...row.dispatch, event: one })
    return 'quoted' in left ? left.quoted?.text : 'none'
  }
  expect([await quote('user'), await quote('bot')]).toEqual(['echo', undefined])
})
