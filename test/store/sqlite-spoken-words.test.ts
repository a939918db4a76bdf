import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { mediaId } from '../../src/core/ids.ts'
import { indexSession } from '../../src/sessions/session-tools/index-messages.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import { makeSession } from '../contracts/store/under-test.ts'
import { userMessage } from './sample-rows.ts'
import { removeTempFolders, tempFolder } from './temp-database.ts'

removeTempFolders()

const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === 'spoken-words-searched'),
)
const file = { type: 'file', mime: 'audio/ogg', size: 3, media: mediaId('0'.repeat(64)) } as const

it('a voice note that an older program has indexed without its words is found by them, and all else once', async () => {
  const path = join(tempFolder(), 'store.db')
  const old = await openSqliteStore({ path, clock: systemClock, migrations: BEFORE })
  const [spoken, written] = [await makeSession(old, 1), await makeSession(old, 2)]
  await old.write(async (tx) => {
    await tx.events.append(spoken.id, 1, [
      userMessage('the plants', { messageId: '1', attachments: [{ ref: 'a', kind: 'voice' }] }),
      { type: 'files_read', data: { files: [{ ref: 'a', media: file, spoken: 'water them' }] } },
    ])
    await tx.events.append(written.id, 1, [userMessage('the plants', { messageId: '1' })])
    for (const [{ id }, to] of [[spoken, 2] as const, [written, 1] as const])
      await tx.search.index(id, to, { added: [{ seq: 1, words: 'the plants' }], gone: [] })
  })
  await old.close()
  const store = await openSqliteStore({ path, clock: systemClock })
  onTestFinished(() => store.close())
  const find = async (words: string) =>
    (await store.read.search.find({ words, of: 'messages', limit: 9 })).map(({ sessionId }) => sessionId)
  expect(await store.read.search.behind(0, 9)).toEqual([spoken.id])
  await indexSession(store, spoken.id, 9)
  expect(await find('water')).toEqual([spoken.id])
  expect((await find('plants')).toSorted()).toEqual([spoken.id, written.id].toSorted())
})
