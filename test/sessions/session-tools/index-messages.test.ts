import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { UserMessageData } from '../../../src/core/event.ts'
import { indexSession } from '../../../src/sessions/session-tools/index-messages.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { sessionDraft, userMessage } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

it('S41: words that are forgotten between their reading and their indexing are in no index', async () => {
  const store = await openSqliteStore({ path: join(tempFolder(), 'parley.db'), clock: systemClock })
  onTestFinished(() => store.close())
  const draft = sessionDraft(1)
  await store.write(async (tx) => {
    await tx.sessions.create(draft, 1)
    await tx.events.append(draft.id, 1, [
      userMessage('a heron', { messageId: '1' }),
      userMessage('a gull', { messageId: '2' }),
    ])
  })
  let isForgotten = false
  const since: typeof store.read.events.since = async (...of) => {
    const events = await store.read.events.since(...of)
    if (!isForgotten) await store.write((tx) => tx.forgetting.empty(draft.id, [1], 'all'))
    isForgotten = true
    return events
  }
  const events = Object.assign(Object.create(store.read.events), { since })
  await indexSession({ read: { ...store.read, events }, write: store.write.bind(store) }, draft.id, 1_000)
  const find = (words: string) => store.read.search.find({ words, of: 'messages', limit: 5 })
  expect(await find('heron')).toEqual([])
  expect(await find('gull')).toHaveLength(1)
})

it('what is said in a voice note is found, and gone with its message', async () => {
  const store = await openSqliteStore({ path: join(tempFolder(), 'parley.db'), clock: systemClock })
  onTestFinished(() => store.close())
  const draft = sessionDraft(1)
  const note = (messageId: string) => userMessage('', { messageId, attachments: [{ ref: messageId, kind: 'voice' }] })
  const heard = (ref: string, spoken: string) => ({ type: 'files_read', data: { files: [{ ref, spoken }] } }) as const
  const add = (...events: Parameters<Parameters<Parameters<typeof store.write>[0]>[0]['events']['append']>[2]) =>
    store.write((tx) => tx.events.append(draft.id, 1, events))
  const find = async (words: string) => {
    await indexSession(store, draft.id, 1_000)
    return (await store.read.search.find({ words, of: 'messages', limit: 5 })).map(({ seq }) => seq)
  }
  await store.write((tx) => tx.sessions.create(draft, 1))
  await add(note('1'), note('2'), heard('1', 'water the plants'))
  expect(await find('plants')).toEqual([1])
  const edited = userMessage('for the kitchen', { messageId: '1' }).data as UserMessageData
  await add({ type: 'message_edited', data: edited })
  expect(await find('water')).toEqual([1])
  expect(await find('kitchen')).toEqual([4])
  await add({ type: 'message_deleted', data: { messageId: '1' } })
  expect(await find('water')).toEqual([])
  await add(heard('2', 'the heron is back'))
  expect(await find('heron')).toEqual([2])
  await add({ type: 'message_deleted', data: { messageId: '2' } })
  expect(await find('heron')).toEqual([])
  await add(userMessage('the plants', { messageId: '3', attachments: [{ ref: '3', kind: 'voice' }] }))
  await add(heard('3', 'water the plants, please'))
  expect(await find('plants')).toEqual([8])
  await store.write((tx) => tx.forgetting.empty(draft.id, [8], 'all'))
  expect(await find('plants')).toEqual([])
})

it('what is said in a voice note is found however much was said before it was read', async () => {
  const store = await openSqliteStore({ path: join(tempFolder(), 'parley.db'), clock: systemClock })
  onTestFinished(() => store.close())
  const draft = sessionDraft(1)
  const files = [{ ref: 'a', spoken: 'water the plants' }]
  const between = Array.from({ length: 450 }, (_, nth) => userMessage(`message ${nth}`, { messageId: `1${nth}` }))
  await store.write(async (tx) => {
    await tx.sessions.create(draft, 1)
    await tx.events.append(draft.id, 1, [
      userMessage('', { messageId: '1', attachments: [{ ref: 'a', kind: 'voice' }] }),
      ...between,
      { type: 'files_read', data: { files } },
    ])
  })
  await indexSession(store, draft.id, 1_000)
  const found = await store.read.search.find({ words: 'plants', of: 'messages', limit: 5 })
  expect(found.map(({ seq }) => seq)).toEqual([1])
})
