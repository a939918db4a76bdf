import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { mediaId } from '../../../src/core/ids.ts'
import { createArchives } from '../../../src/sessions/service/archives.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { noMedia } from '../../fakes/media.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { sessionDraft, userMessage } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'
import { ADA, BOB, OPERATOR, token } from '../service-rig.ts'

removeTempFolders()

const SECRET = 'canary-4711'

async function rig() {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const draft = sessionDraft(1)
  const args = { [`key ${SECRET}`]: [`value ${SECRET}`] }
  const call = { callId: '1', tool: 'pay', class: 'once', args } as const
  await store.write(async (tx) => {
    await tx.sessions.create(draft, 1)
    await tx.events.append(draft.id, 1, [{ type: 'tool_call', data: call as never }])
    await tx.participants.add(draft.id, 'telegram:444', 1)
  })
  const redact = (text: string): string => text.replaceAll(SECRET, '[redacted]')
  return { id: draft.id, store, archives: createArchives({ store, clock: systemClock, media: noMedia, redact }) }
}

it('nobody but an owner exports, moves or forks a session, whether they took part in it or not', async () => {
  const { id, archives } = await rig()
  for (const caller of [BOB, token('telegram')]) {
    const refused = expect.objectContaining({ code: 'forbidden' })
    await expect(archives.page(caller, id, { after: 0, limit: 5 })).rejects.toEqual(refused)
    await expect(archives.file(caller, id, mediaId('0'.repeat(64)))).rejects.toEqual(refused)
    await expect(archives.exported(caller, id, { format: 'json' } as never)).rejects.toEqual(refused)
    await expect(archives.relocate(caller, id, { kind: 'move', to: id })).rejects.toEqual(refused)
  }
  for (const caller of [ADA, OPERATOR])
    expect((await archives.page(caller, id, { after: 0, limit: 5 })).events).toHaveLength(1)
})

it('C29: an export has no configured secret, in a value or in the name of an argument', async () => {
  const { id, archives } = await rig()
  const { events } = await archives.page(OPERATOR, id, { after: 0, limit: 5 })
  expect(events).toMatchObject([{ data: { args: { 'key [redacted]': ['value [redacted]'] } } }])
  expect(JSON.stringify(events)).not.toContain(SECRET)
})

it('S41: no export ends whole whose session has forgotten something since its first page was read', async () => {
  const { id, store, archives } = await rig()
  const { text } = await archives.download(OPERATOR, id, 'jsonl')
  await store.write((tx) => tx.events.append(id, 1, [{ type: 'words_forgotten', data: { by: 'x', events: 1 } }]))
  const read = async () => {
    for await (const _part of text);
  }
  await expect(read()).rejects.toMatchObject({ code: 'conflict' })
})

it('S41: no page has what is taken out of its session while it is read', async () => {
  const { id, store } = await rig()
  const taken = { type: 'message_deleted', data: { messageId: '1' } } as const
  const events: typeof store.read.events = Object.create(store.read.events, {
    since: {
      value: async (...asked: Parameters<typeof store.read.events.since>) => {
        const page = await store.read.events.since(...asked)
        await store.write((tx) => tx.events.append(id, 1, [taken]))
        return page
      },
    },
  })
  const slow = { read: { ...store.read, events }, write: store.write } as typeof store
  const archives = createArchives({ store: slow, clock: systemClock, media: noMedia, redact: (text) => text })
  await expect(archives.page(OPERATOR, id, { after: 0, limit: 5 })).rejects.toMatchObject({ code: 'conflict' })
})

it('a file is handed out by the session alone that has it in a message, though it is in the store', async () => {
  const { id, store } = await rig()
  const own = mediaId('1'.repeat(64))
  const photo = {
    ref: 'photo',
    kind: 'photo',
    media: { type: 'image', mime: 'image/png', media: own, size: 3 },
  } as const
  await store.write((tx) => tx.events.append(id, 1, [userMessage('look', { attachments: [photo] })]))
  const media = { read: async () => Buffer.from('png') }
  const archives = createArchives({ store, clock: systemClock, media, redact: (text) => text })
  expect(await archives.file(ADA, id, own)).toEqual({ media: own, base64: 'cG5n' })
  await expect(archives.file(ADA, id, mediaId('2'.repeat(64)))).rejects.toMatchObject({ code: 'not_found' })
})
