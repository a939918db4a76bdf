import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { Dispatch } from '../../../src/core/dispatch.ts'
import { NO_PLAN, NOTHING_FORGOTTEN } from '../../../src/core/forgetting.ts'
import { madeAt, type ScheduleId, type SourceId, toAccountId, toSessionId } from '../../../src/core/ids.ts'
import { admittedKey } from '../../../src/sessions/people/admitted-key.ts'
import { type AcceptDeps, acceptDispatch, refuseStale } from '../../../src/sessions/turns/accept-dispatch.ts'
import { inThreadKey } from '../../../src/sessions/turns/in-thread-key.ts'
import { isGone, isOfForgotten, saysNothingNew, withKnownQuote } from '../../../src/sessions/turns/said-again.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { deliveryOf, ids, inboxRow } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const SUPERGROUP = 1_000_000_001

/** A message that is stored, with this outcome; its group counts messages once for all bots. */
async function stored(outcome: 'forgotten' | 'aged' | 'refused: stranger', chat = SUPERGROUP, changes: object = {}) {
  const store = await openSqliteStore({ path: join(tempFolder(), 'parley.db'), clock: systemClock })
  onTestFinished(() => store.close())
  const { dispatch, ...given } = inboxRow(chat, 7, { state: 'done', outcome })
  const row = { ...given, dispatch: { ...dispatch, event: { ...dispatch.event, ...changes } as Dispatch['event'] } }
  await store.write((tx) => tx.inbox.add(row))
  const { event } = row.dispatch
  const anew: Dispatch = { ...row.dispatch, event: { ...event, eventKey: admittedKey(event.eventKey) } }
  return { store, row, anew }
}

it('S41: a message that was read to be handled, since its author is let in, is not if it was forgotten then', async () => {
  const forgotten = await stored('forgotten')
  expect(await isOfForgotten(forgotten.store.read, CHANNELS, forgotten.anew)).toBe(true)
  const waits = await stored('refused: stranger')
  expect(await isOfForgotten(waits.store.read, CHANNELS, waits.anew)).toBe(false)
})

it('S41: a message is gone from the request on, though its row is emptied later', async () => {
  const { store, row, anew } = await stored('refused: stranger')
  expect(await isGone(store.read, CHANNELS, row.dispatch.event)).toBe(false)
  const plan = { ...NO_PLAN, inbox: [row.id] }
  await store.write((tx) =>
    tx.forgetting.begin({ id: 'one', state: 'running', plan, counts: NOTHING_FORGOTTEN, askedAt: 1 }),
  )
  expect([
    await isGone(store.read, CHANNELS, row.dispatch.event),
    await isOfForgotten(store.read, CHANNELS, anew),
  ]).toEqual([true, true])
})

it('S41: a message is not kept whose deletion comes while it waits for a hook: admitted, or in a thread that is read', async () => {
  const { store, row, anew } = await stored('refused: stranger')
  const { event, ...dispatch } = row.dispatch
  const { address, sender, sentAt, eventKey } = event
  const deletion = (nth: number, original: string): Dispatch => ({
    ...dispatch,
    event: { kind: 'delete', eventKey: `deletion ${nth}`, messageId: '7', address, sender, sentAt, original },
  })
  const gone = async () => [await isGone(store.read, CHANNELS, event), await isOfForgotten(store.read, CHANNELS, anew)]
  const comes = (nth: number, original: string) =>
    store.write((tx) =>
      tx.inbox.add({ ...inboxRow(SUPERGROUP, 7, { state: 'done' }), dispatch: deletion(nth, original) }),
    )
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
  expect(await isGone(store.read, CHANNELS, event)).toBe(true)
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
        const { event } = await withKnownQuote(store.read, CHANNELS, {
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
    isGone(store.read, CHANNELS, {
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

it.each([
  ['is not kept, however late', 'forgotten'],
  ['is kept where it has gone from that one for its age alone', 'aged'],
] as const)('S41: a message of a group that comes late to another bot of ours %s', async (_what, outcome) => {
  const { store, row } = await stored(outcome)
  const { event } = row.dispatch
  const late = (address: object, days = 0, changes: object = {}) => {
    const one = { ...event, ...changes, eventKey: 'of another bot', address: { ...event.address, ...address } }
    const dispatch = { ...row.dispatch, receivedAt: event.sentAt + days * 86_400_000, event: one } as Dispatch
    return isOfForgotten(store.read, CHANNELS, dispatch)
  }
  const isAsked = outcome === 'forgotten'
  expect([await late({ account: 'second' }), await late({ account: 'second' }, 30)]).toEqual([isAsked, isAsked])
  expect(await late({ account: 'second', chatType: 'direct' })).toBe(false)
  expect(await late({ account: 'second' }, 0, { sentAt: event.sentAt - 1 })).toBe(false)
})

it('S41: an edit brings back no words that have gone for their age', async () => {
  const { store, row } = await stored('aged')
  const { event } = row.dispatch
  const edit = { ...event, kind: 'edit', original: event.eventKey, eventKey: 'an edit' } as Dispatch['event']
  expect(await isOfForgotten(store.read, CHANNELS, { ...row.dispatch, event: edit })).toBe(true)
})

it('S41: an edit of what has gone for its age takes the message from no bot that keeps it for longer', async () => {
  const { store, row } = await stored('aged')
  const { event } = row.dispatch
  const edit = { ...event, kind: 'edit', original: event.eventKey, eventKey: 'an edit' } as Dispatch['event']
  const edited = { dispatch: { ...row.dispatch, event: edit }, decision: row.decision }
  await store.write((tx) => acceptDispatch(tx, edited, { ids, channels: CHANNELS } as AcceptDeps))
  const address = { ...event.address, account: toAccountId('second') }
  expect(await isGone(store.read, CHANNELS, { ...event, eventKey: 'of another bot', address })).toBe(false)
})

it('S41: a quotation stays where nothing is forgotten of what is quoted but a reaction to it', async () => {
  const { store, row } = await stored('refused: stranger')
  const { address, sender } = row.dispatch.event
  const further = inboxRow(SUPERGROUP, 7, { state: 'done', outcome: 'forgotten' })
  const about = { eventKey: 'a reaction', address, messageId: '7', sentAt: 1 }
  const reaction = { ...about, kind: 'reaction', sender, added: ['👍'], removed: [] } as const
  await store.write((tx) => tx.inbox.add({ ...further, dispatch: { ...row.dispatch, event: reaction } }))
  const quotes = (at: object) => {
    const quoted = { messageId: '7', text: 'echo', own: false, sender }
    const event = { ...row.dispatch.event, messageId: '9', address: { ...address, ...at }, quoted } as Dispatch['event']
    return withKnownQuote(store.read, CHANNELS, { ...row.dispatch, event })
  }
  for (const at of [{}, { account: 'second' }])
    expect(await quotes(at)).toMatchObject({ event: { quoted: { text: 'echo' } } })
})

it('S41: a quotation stays where the bot itself has another message of that number, or keeps it for longer', async () => {
  const { store, row } = await stored('forgotten')
  const { event } = row.dispatch
  const address = { ...event.address, account: toAccountId('second') }
  const quoted = { messageId: '7', text: 'echo', own: false, sender: event.sender }
  const quote = async () => {
    const one = { ...event, eventKey: 'a reply', messageId: '9', address, quoted } as Dispatch['event']
    const { event: left } = await withKnownQuote(store.read, CHANNELS, { ...row.dispatch, event: one })
    return 'quoted' in left ? left.quoted?.text : 'none'
  }
  expect(await quote()).toBeUndefined()
  const own = inboxRow(SUPERGROUP, 7, { state: 'done' })
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
    const { event: left } = await withKnownQuote(store.read, CHANNELS, { ...row.dispatch, event: one })
    return 'quoted' in left ? left.quoted?.text : 'none'
  }
  expect([await quote('user'), await quote('bot')]).toEqual(['echo', undefined])
})

const SMALL = 1

/** A message of a small group, which another bot counts as 40; the request to forget it is there. */
const inSmallGroup = () => forgottenIn(SMALL, '40')
/** One of a group that counts messages once for all bots. */
const inSupergroup = () => forgottenIn(SUPERGROUP, '7')

async function forgottenIn(chat: number, messageId: string, changes: object = {}) {
  const { store, row } = await stored('forgotten', chat, changes)
  const plan = { ...NO_PLAN, inbox: [row.id] }
  const askedAt = row.dispatch.event.sentAt + 1
  await store.write((tx) => tx.forgetting.begin({ id: 'one', state: 'done', plan, counts: NOTHING_FORGOTTEN, askedAt }))
  const address = { ...row.dispatch.event.address, account: toAccountId('second') }
  const beside = (changes: object): Dispatch => ({
    ...row.dispatch,
    event: { ...row.dispatch.event, messageId, eventKey: 'of another bot', address, ...changes } as never,
  })
  const isLate = (changes: object = {}) => isOfForgotten(store.read, CHANNELS, beside(changes))
  return { store, row, beside, isLate }
}

it('S41: where each bot counts messages by itself, one that comes late is known by its writer and its second', async () => {
  const { row, isLate } = await inSmallGroup()
  const { sentAt, address } = row.dispatch.event
  expect(await isLate()).toBe(true)
  expect(await isLate({ messageId: '7', sentAt: sentAt - 1_000 })).toBe(false)
  expect(await isLate({ sender: { id: '444', kind: 'user' } })).toBe(false)
  expect(await isLate({ address: { ...address, account: 'second', chat: '-1002' } })).toBe(false)
})

it('S41: another message of that second is kept, once the copy has come or where it is there with its words', async () => {
  const { store, row, beside, isLate } = await inSmallGroup()
  const other = inboxRow(SMALL, 8, { state: 'done' })
  const said = { ...row.dispatch.event, text: 'another', messageId: '8', eventKey: 'another' } as Dispatch['event']
  await store.write((tx) => tx.inbox.add({ ...other, dispatch: { ...row.dispatch, event: said } }))
  expect(await isLate({ text: 'another' })).toBe(false)
  expect(await isLate({ text: 'a third' })).toBe(true)
  const copy = { ...inboxRow(SMALL, 9, { state: 'done', outcome: 'forgotten' }), dispatch: beside({}) }
  await store.write((tx) => tx.inbox.add(copy))
  expect(await isLate({ text: 'a third', eventKey: 'a third' })).toBe(false)
})

it('S41: so is its edit, where the bot that gets the edit has the message', async () => {
  const { store, beside, isLate } = await inSmallGroup()
  const own = beside({ text: 'another', messageId: '41', eventKey: 'another' })
  await store.write((tx) => tx.inbox.add({ ...inboxRow(SMALL, 41, { state: 'done' }), dispatch: own }))
  const edit = { kind: 'edit', text: 'a third', eventKey: 'an edit' }
  expect(await isLate({ ...edit, original: 'another', messageId: '41' })).toBe(false)
  expect(await isLate({ ...edit, original: 'the copy', messageId: '40' })).toBe(true)
})

it.each([
  ['counts messages by itself', inSmallGroup],
  ['has the same number', inSupergroup],
])('S41: an edit of a forgotten message is known by when that was sent, where each bot %s', async (_, forgotten) => {
  const { row, isLate } = await forgotten()
  const { sentAt, eventKey } = row.dispatch.event
  const edit = { kind: 'edit', eventKey: 'an edit', original: eventKey, text: 'again', sentAt: sentAt + 60_000 }
  expect(await isLate({ ...edit, saidAt: sentAt })).toBe(true)
  expect(await isLate({ ...edit, saidAt: sentAt - 1_000 })).toBe(false)
})

it('S41: where each bot counts messages by itself, a message is known also from an edit, the only one that has come', async () => {
  const saidAt = 1_000_000
  const edit = { kind: 'edit', original: 'unknown', sentAt: saidAt + 60_000, saidAt }
  const { store, row, beside, isLate } = await forgottenIn(SMALL, '40', edit)
  const message = { kind: 'message', original: undefined, saidAt: undefined }
  expect(await isLate({ ...message, sentAt: saidAt })).toBe(true)
  expect(await isLate({ ...message, sentAt: saidAt + 60_000 })).toBe(false)
  const quoted = { messageId: '40', text: 'echo', own: false, sender: row.dispatch.event.sender, sentAt: saidAt }
  const quotes = beside({ ...message, messageId: '50', sentAt: saidAt + 90_000, quoted })
  const { event } = await withKnownQuote(store.read, CHANNELS, quotes)
  expect('quoted' in event && event.quoted?.text).toBeUndefined()
})

it('S41: where each bot counts messages by itself, a forgotten edit is no second message of its second', async () => {
  const { store, row, beside, isLate } = await inSmallGroup()
  const { event } = row.dispatch
  const edit = { ...event, kind: 'edit', eventKey: 'an edit', original: event.eventKey, saidAt: event.sentAt } as const
  const edited = { ...row.dispatch, event: { ...edit, sentAt: event.sentAt + 1_000 } as Dispatch['event'] }
  const add = (dispatch: Dispatch, no: number) =>
    store.write((tx) => tx.inbox.add({ ...inboxRow(SMALL, no, { state: 'done', outcome: 'forgotten' }), dispatch }))
  await add(edited, 7)
  expect(await isLate()).toBe(true)
  await add(beside({}), 9)
  expect(await isLate({ text: 'a third', eventKey: 'a third', messageId: '41' })).toBe(false)
})

it('S41: where each bot counts messages by itself, a quotation is known by its writer and the second of what is quoted', async () => {
  const { store, row, beside } = await inSmallGroup()
  const { sentAt, sender } = row.dispatch.event
  const quote = async (changes: object) => {
    const quoted = { messageId: '39', text: 'echo', own: false, sender, sentAt, ...changes }
    const { event } = await withKnownQuote(store.read, CHANNELS, beside({ quoted, sentAt: sentAt + 60_000 }))
    return 'quoted' in event ? event.quoted?.text : 'none'
  }
  expect(await quote({})).toBeUndefined()
  expect(await quote({ sentAt: sentAt + 1_000 })).toBe('echo')
  expect(await quote({ sender: { id: '444', kind: 'user' } })).toBe('echo')
  expect(await quote({ sentAt: undefined })).toBe('echo')
  const other = inboxRow(SMALL, 8, { state: 'done' })
  const said = { ...row.dispatch.event, text: 'another echo', messageId: '8', eventKey: 'another' } as Dispatch['event']
  await store.write((tx) => tx.inbox.add({ ...other, dispatch: { ...row.dispatch, event: said } }))
  expect([await quote({}), await quote({ text: 'of what went' })]).toEqual(['echo', undefined])
})

it('S41: a supergroup has one number for all bots from the first, though its new id was known here later', async () => {
  const { store, row, isLate } = await inSupergroup()
  const { event } = row.dispatch
  const { channel, chat } = event.address
  await store.write((tx) => tx.chatMoves.add({ channel, from: '-5', to: chat }, event.sentAt + 60_000))
  const other = { ...event, text: 'again', messageId: '8', eventKey: 'the other' } as Dispatch['event']
  const dispatch = { ...row.dispatch, event: other }
  await store.write((tx) => tx.inbox.add({ ...inboxRow(SUPERGROUP, 8, { state: 'done' }), dispatch }))
  expect([await isLate({ text: 'again' }), await isLate({ text: 'again', messageId: '8' })]).toEqual([true, false])
})

it('S41: so is one of what was said before the group became a supergroup, in a message that comes late', async () => {
  const { store, row, beside } = await inSmallGroup()
  const { address, sentAt, sender } = row.dispatch.event
  const chat = '-1000000000009'
  await store.write((tx) =>
    tx.chatMoves.add({ channel: address.channel, from: address.chat, to: chat }, sentAt + 60_000),
  )
  const quote = async (changes: object, at: object = {}) => {
    const quoted = { messageId: '7', text: 'echo', own: false, sender, sentAt, ...changes }
    const { event } = await withKnownQuote(
      store.read,
      CHANNELS,
      beside({ quoted, address: { ...address, chat, ...at } }),
    )
    return 'quoted' in event ? event.quoted?.text : 'none'
  }
  expect([await quote({}), await quote({}, { account: 'second' })]).toEqual([undefined, undefined])
  expect(await quote({ sentAt: sentAt + 1_000 })).toBe('echo')
  expect(await quote({ sentAt: sentAt + 61_000 })).toBe('echo')
})

it('S41: so is one of an answer of another bot, by about when it was sent', async () => {
  const { store, row, beside } = await inSmallGroup()
  const said = deliveryOf(ids.turn(), { address: row.dispatch.event.address, state: 'sent', messageId: '31' })
  await store.write((tx) => tx.outbox.add([{ ...said, part: { ...said.part, text: '' } }]))
  const planned = madeAt(said.id) ?? 0
  const quote = async (sentAt: number) => {
    const quoted = { messageId: '77', text: 'echo', own: false, sender: { id: '900', kind: 'bot' }, sentAt }
    const { event } = await withKnownQuote(store.read, CHANNELS, beside({ quoted }))
    return 'quoted' in event ? event.quoted?.text : 'none'
  }
  expect(await quote(planned + 1_000)).toBeUndefined()
  expect([await quote(planned - 3_600_000), await quote(planned + 3_600_000)]).toEqual(['echo', 'echo'])
  const again = { ...deliveryOf(ids.turn(), { address: row.dispatch.event.address }), state: 'planned' } as const
  const [sentAgain, days] = [planned + 3 * 86_400_000, 86_400_000]
  await store.write(async (tx) => {
    await tx.outbox.add([again])
    await tx.outbox.begin(again.id, ['planned'], sentAgain)
    await tx.outbox.settle(again.id, { state: 'sent', at: sentAgain, messageId: '32' })
  })
  expect(await quote(sentAgain)).toBe('echo')
  await store.write((tx) => tx.forgetting.emptySent(again.source))
  expect([await quote(sentAgain), await quote(sentAgain + days)]).toEqual([undefined, 'echo'])
})

/** A stored message and what comes later of it. */
async function later(said: object, ...changes: readonly object[]) {
  const { store, row } = await stored('refused: stranger', SUPERGROUP, said)
  const { event, ...dispatch } = row.dispatch
  const edits = changes.map((change, nth): Dispatch => {
    const edit = { ...event, kind: 'edit', eventKey: `edit ${nth}`, original: event.eventKey, ...change }
    return { ...dispatch, receivedAt: dispatch.receivedAt + nth + 1, event: edit as Dispatch['event'] }
  })
  for (const [nth, edit] of edits.slice(0, -1).entries())
    await store.write((tx) => tx.inbox.add({ ...inboxRow(SUPERGROUP, 8 + nth), state: 'done', dispatch: edit }))
  const newest = edits.at(-1)
  return newest && saysNothingNew(store.read, newest)
}

it.each<[string, object, readonly object[], 'unchanged' | undefined]>([
  ['reads as before', { text: 'dinner?' }, [{ text: 'dinner?' }], 'unchanged'],
  ['has another text', { text: 'dinner?' }, [{ text: 'Dinner?' }], undefined],
  ['reads as it did before the last edit', { text: 'a' }, [{ text: 'b' }, { text: 'a' }], undefined],
  ['reads as the last edit', { text: 'a' }, [{ text: 'b' }, { text: 'b' }], 'unchanged'],
  ['quotes something else now', { text: 'a' }, [{ text: 'a', quoted: { messageId: '1', own: false } }], 'unchanged'],
  ['has a further line', { text: 'a', enclosed: ['poll: x'] }, [{ text: 'a', enclosed: ['poll: x', 'y'] }], undefined],
  ['has another file', { text: 'a' }, [{ text: 'a', attachments: [{ ref: 'f', kind: 'photo' }] }], undefined],
  ['is by somebody else', { text: 'a' }, [{ text: 'a', sender: { id: '999', kind: 'user' } }], undefined],
  ['is of a message whose words are not on record', { text: '' }, [{ text: '' }], undefined],
])('an edit after which a message %s', async (_, said, changes, outcome) => {
  expect(await later(said, ...changes)).toBe(outcome)
})

it('an edit of a text that a hook has changed for the agent is compared as people read it', async () => {
  const { store, row } = await stored('refused: stranger', SUPERGROUP, { text: 'hooked' })
  const { event, ...rest } = row.dispatch
  await store.write((tx) => tx.inbox.replaceDispatch(row.id, { ...rest, event, raw: 'dinner?' }))
  const edit = { ...event, kind: 'edit', eventKey: 'edit', original: event.eventKey } as Dispatch['event']
  expect(await saysNothingNew(store.read, { ...rest, event: edit, raw: 'dinner?' })).toBe('unchanged')
  expect(await saysNothingNew(store.read, { ...rest, event: edit, raw: 'supper?' })).toBeUndefined()
})

it.each<[string, object, 'own_message' | undefined]>([
  ['a post that a bot of ours has sent', { state: 'sent', messageId: '40' }, 'own_message'],
  ['such a post in a channel that is named', { state: 'sent', messageId: '40', chat: '@news' }, 'own_message'],
  ['a post whose sending has not been answered yet', { state: 'sending' }, 'own_message'],
  ['a post of a person', { state: 'sent', messageId: '41' }, undefined],
  ['a post while another one is sent', { state: 'sending', plain: 'weather' }, undefined],
  ['a post of that number in another channel', { state: 'sent', messageId: '40', chat: '-3' }, undefined],
])('the copy of %s', async (_, given, outcome) => {
  const { chat = '-2', plain = 'News: *today*', ...row } = given as { readonly chat?: string; readonly plain?: string }
  const { store, row: other } = await stored('refused: stranger')
  const { event, ...dispatch } = other.dispatch
  const part = { text: plain, plain, markup: 'html' as const }
  const delivery = deliveryOf('source' as SourceId, { address: { ...event.address, chat }, part, ...row })
  await store.write(async (tx) => {
    await tx.outbox.add([{ ...delivery, state: delivery.state === 'sent' ? 'sending' : delivery.state }])
    if (delivery.state === 'sent')
      await tx.outbox.settle(delivery.id, { state: 'sent', messageId: delivery.messageId ?? '', at: 1 })
  })
  const sender = { id: '-2', kind: 'anonymous', username: 'News' }
  const copy = { ...event, text: 'News: today', sender, copyOf: { chat: '-2', messageId: '40' } } as Dispatch['event']
  expect(await saysNothingNew(store.read, { ...dispatch, event: copy })).toBe(outcome)
})
