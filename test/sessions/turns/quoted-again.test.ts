import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { Dispatch } from '../../../src/core/dispatch.ts'
import { recordSpeakers } from '../../../src/sessions/people/participants.ts'
import { isOfForgotten, withKnownQuote } from '../../../src/sessions/turns/said-again.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { deliveryOf, dispatchOf, ids, inboxRow, messageOf, sessionDraft } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const MESSAGE = messageOf(1, 7)

async function rig() {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const add = (event: Dispatch['event']) =>
    store.write((tx) =>
      tx.inbox.add(inboxRow(1, 7, { dispatch: { ...dispatchOf(1, 7), event }, state: 'done', outcome: 'forgotten' })),
    )
  /** Returns a reply as it is kept. */
  const kept = async (changes: Partial<typeof MESSAGE>) => {
    const event = { ...messageOf(1, 9), ...changes }
    return (await withKnownQuote(store.read, CHANNELS, { ...dispatchOf(1, 9), event })).event
  }
  return { store, add, kept }
}

it('S41: nothing is quoted of an answer of ours that is not on record any more', async () => {
  const { store, kept } = await rig()
  const quoted = { messageId: '31', text: 'echo', own: true }
  expect(await kept({ quoted })).toMatchObject({ quoted: { messageId: '31' } })
  expect(await kept({ quoted })).not.toHaveProperty('quoted.text')
  const said = deliveryOf(ids.turn(), { address: MESSAGE.address, state: 'sent', messageId: '31' })
  await store.write((tx) => tx.outbox.add([said]))
  expect(await kept({ quoted })).toHaveProperty('quoted.text', 'echo')
})

it('an answer that is quoted in another session brings the authors of its own', async () => {
  const { store, kept } = await rig()
  const [there, here] = [sessionDraft(1), sessionDraft(2)]
  const said = { address: MESSAGE.address, state: 'sent', messageId: '31', sessionId: there.id } as const
  await store.write(async (tx) => {
    for (const draft of [there, here]) await tx.sessions.create(draft, 1)
    await tx.outbox.add([deliveryOf(ids.turn(), said)])
    await tx.authors.add(there.id, 'telegram:444')
  })
  const event = await kept({ quoted: { messageId: '31', text: 'echo', own: true } })
  expect(event).toMatchObject({ quoted: { text: 'echo', saidIn: there.id } })
  const authorsOf = async (about: object) => {
    const dispatch = { ...dispatchOf(1, 9), event: { ...event, ...about } } as Dispatch
    await store.write((tx) => recordSpeakers(tx, here.id, dispatch, { channels: CHANNELS }))
    return (await store.read.authors.of(here.id)).toSorted()
  }
  const writer = await authorsOf({ quoted: undefined })
  expect(await authorsOf({})).toEqual([...writer, 'telegram:444'].toSorted())
})

it('S41: the files of a forgotten message go with its quotation, and those of the reply stay', async () => {
  const { add, kept } = await rig()
  const file = (ref: string) => ({ ref, kind: 'photo' }) as const
  const attachments = [{ ...file('quoted'), quoted: true }, file('own')] as const
  const reply = { quoted: { messageId: '7', text: 'tea', own: false }, attachments }
  expect(await kept(reply)).toMatchObject({ attachments })
  await add(MESSAGE)
  expect(await kept(reply)).toHaveProperty('attachments', [file('own')])
})

it('S41: an edit brings back no words of a message of which an edit alone was on record, and forgotten', async () => {
  const { store, add } = await rig()
  const edit = (nth: number, original: string) =>
    ({ ...MESSAGE, kind: 'edit', eventKey: `edit ${nth}`, original }) as Dispatch['event']
  await add(edit(1, '1:7'))
  expect(await isOfForgotten(store.read, CHANNELS, { event: edit(2, '1:7') })).toBe(true)
  expect(await isOfForgotten(store.read, CHANNELS, { event: edit(3, 'of another chat') })).toBe(false)
})
