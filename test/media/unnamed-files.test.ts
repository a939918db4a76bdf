import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createMediaStore, UnnamedFiles } from '../../src/media/media-store.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { readyDatabase } from '../fakes/ready-database.ts'
import { sessionDraft } from '../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

const [ADA, BOB] = [sessionDraft(1), sessionDraft(2)]

/** A store with two sessions, and the files that their events name. */
async function rig() {
  const folder = tempFolder()
  const clock = { ...systemClock, ms: 0, elapsed: () => clock.ms }
  const unnamed = new UnnamedFiles(clock)
  const store = await openSqliteStore({
    path: readyDatabase(join(folder, 'parley.db')),
    clock: systemClock,
    named: unnamed.named,
  })
  onTestFinished(() => store.close())
  const media = createMediaStore({
    folder: join(folder, 'media'),
    clock,
    unnamed,
    used: (ids) => store.read.media.used(ids),
  })
  await store.write(async (tx) => {
    for (const draft of [ADA, BOB]) await tx.sessions.create(draft, 1)
  })
  /** What a turn has read of its files is stored. */
  const record = (session: typeof ADA, ...parts: readonly Awaited<ReturnType<typeof media.keep>>[]) =>
    store.write((tx) =>
      tx.events.append(session.id, 1, [
        { type: 'files_read', data: { files: parts.map((part, at) => ({ ref: `${at}`, media: part })) } },
      ]),
    )
  const forget = async (session: typeof ADA) => {
    const ids = await store.read.media.ofSession(session.id)
    await store.write(async (tx) => {
      const gone = await tx.sessions.remove(session.id, 2)
      await tx.events.remove(gone, 100)
      await tx.sessions.purge(gone)
    })
    return media.forget(ids)
  }
  return { clock, media, record, forget, keep: () => media.keep(Buffer.from('the same for both')) }
}

it('a file that is forgotten goes at once, though it came a moment ago', async () => {
  const { media, keep, record, forget } = await rig()
  const parts = [await keep(), await keep()]
  await record(ADA, ...parts)
  expect(await forget(ADA)).toBe(1)
  await expect(media.read(parts[0]?.media ?? expect.unreachable())).rejects.toMatchObject({ code: 'not_found' })
})

it('a file that came again stays though it is forgotten elsewhere before that is on record', async () => {
  const { media, keep, record, forget } = await rig()
  await record(ADA, await keep())
  const again = await keep()
  expect(await forget(ADA)).toBe(0)
  await record(BOB, again)
  await expect(media.read(again.media)).resolves.toHaveLength(17)
  expect(await forget(BOB)).toBe(1)
})

it('a file that came twice waits for two events', async () => {
  const { media, keep, record, forget } = await rig()
  const [first, again] = [await keep(), await keep()]
  await record(ADA, first)
  expect(await forget(ADA)).toBe(0)
  await record(BOB, again)
  await expect(media.read(again.media)).resolves.toHaveLength(17)
})

it('a file that came again and of which nothing is ever recorded goes with the sweep, after ten minutes', async () => {
  const { clock, media, keep, record, forget } = await rig()
  await record(ADA, await keep())
  await keep()
  await forget(ADA)
  expect(await media.sweep()).toBe(0)
  clock.ms = 600_001
  expect(await media.sweep()).toBe(1)
})
