import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CASE } from '../faults/rounds.ts'
import { withDatabase } from '../store/temp-database.ts'
import { BOB, type House, startHouse } from './house.ts'

const said = (folder: string): string =>
  withDatabase(join(folder, 'parley.db'), (database) =>
    database.prepare<[], string>("SELECT data FROM events WHERE type = 'user_message'").pluck().all().join(' '),
  )

/** Runs a daemon for as long as these messages need, each with its answer. */
async function heard(house: House, ...messages: readonly (readonly [text: string, from?: number])[]): Promise<void> {
  const daemon = house.daemon()
  await daemon.start()
  house.later()
  for (const [text, from] of messages) await house.heard(text, from)
  await daemon.terminate()
}

it(
  'the right copy after a wrong, older one has all its conversations, and what was forgotten stays forgotten',
  CASE,
  async () => {
    const house = await startHouse()
    const { state, run } = house
    const copies = join(house.folder, 'copies')
    await heard(house, ['the first'])
    const wrong = await house.backup(copies)
    await heard(house, ['the second'], ['hers stays', BOB], ['xyzzy is forgotten', BOB + 1])
    const right = await house.backup(copies)
    const daemon = house.daemon()
    await daemon.start()
    expect(await run(['forget', 'person', `telegram:${BOB + 1}`, '--yes'])).toMatchObject({ code: 0 })
    await daemon.terminate()

    expect(await run(['restore', wrong, '--yes'])).toMatchObject({ code: 0 })
    expect(said(state)).not.toContain('the second')
    const done = await run(['restore', right, '--yes'])
    expect(done).toMatchObject({ code: 0 })
    expect(done.stdout).toContain('forgotten since, and again')
    for (const words of ['the first', 'the second', 'hers stays']) expect(said(state)).toContain(words)
    expect(said(state)).not.toContain('xyzzy')
  },
)

it.for(['its folder', 'its database'])(
  'a newer copy after another tool has put an older state back (%s) has all its conversations',
  CASE,
  async (what) => {
    const house = await startHouse()
    const { state } = house
    await heard(house, ['day one'])
    const older = join(house.folder, 'older')
    cpSync(state, older, { recursive: true })
    await heard(house, ['day two'], ['hers of day two', BOB])
    const copy = await house.backup(join(house.folder, 'copies'))
    if (what === 'its folder') rmSync(state, { recursive: true })
    else for (const end of ['', '-wal', '-shm']) rmSync(join(state, `parley.db${end}`), { force: true })
    cpSync(older, state, { recursive: true, filter: (path) => what === 'its folder' || !path.endsWith('.marker') })
    await heard(house, ['day three'])

    const done = await house.run(['restore', copy, '--yes'])
    expect(done).toMatchObject({ code: 0 })
    expect(done.stdout).toContain('nothing was forgotten since')
    for (const words of ['day one', 'day two', 'hers of day two']) expect(said(state)).toContain(words)
  },
)
