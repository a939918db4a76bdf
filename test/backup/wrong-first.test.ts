import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isLater } from '../../src/backup/later-removals.ts'
import { CASE } from '../faults/rounds.ts'
import { withDatabase } from '../store/temp-database.ts'
import { BOB, namesIn, startHouse } from './house.ts'

const said = (folder: string): string =>
  withDatabase(join(folder, 'parley.db'), (database) =>
    database.prepare<[], string>("SELECT data FROM events WHERE type = 'user_message'").pluck().all().join(' '),
  )

it(
  'the right copy after a wrong, older one: all of it is there, and --newer takes what was forgotten out',
  CASE,
  async () => {
    const house = await startHouse()
    const { state, run } = house
    const copies = join(house.folder, 'copies')
    const daemon = house.daemon()
    await daemon.start()
    await house.heard('the first')
    const wrong = await house.backup(copies)
    await house.heard('the second')
    await house.heard('hers stays', BOB)
    await house.heard('xyzzy is forgotten', BOB + 1)
    const right = await house.backup(copies)
    expect(await run(['forget', 'person', `telegram:${BOB + 1}`, '--yes'])).toMatchObject({ code: 0 })
    await daemon.terminate()

    expect(await run(['restore', wrong, '--yes'])).toMatchObject({ code: 0 })
    expect(said(state)).not.toContain('the second')
    const [before = ''] = namesIn(state).filter((name) => name.startsWith('before-restore-'))
    const done = await run(['restore', right, '--yes'])
    expect(done).toMatchObject({ code: 0 })
    for (const words of ['the first', 'the second', 'hers stays']) expect(said(state)).toContain(words)
    expect(done.stdout).toContain('the state there is older than the copy')
    const again = await run(['restore', right, '--yes', '--newer', join(state, before)])
    expect(again.stdout).toContain('forgotten since, and again')
    for (const words of ['the first', 'the second', 'hers stays']) expect(said(state)).toContain(words)
    expect(said(state)).not.toContain('xyzzy')
  },
)

it('a state is later than a copy only where it has seen all that is in the copy', () => {
  const state = (mark: number, ...restored: readonly (readonly [at: number, madeAt: number, mark: number])[]) => ({
    ...{ schema: 1, store: 7, mark, madeAt: mark },
    restored: restored.map(([at, madeAt, mark]) => ({ at, madeAt, mark })),
  })
  const [early, late] = [state(10), state(20)]
  expect([isLater(late, early), isLater(early, early), isLater(early, late)]).toEqual([true, true, false])
  // Early was put back at 30, and used until 50; a copy of that was put back at 60.
  const branch = state(50, [30, 10, 10])
  expect([isLater(branch, early), isLater(branch, late)]).toEqual([true, false])
  const twice = state(70, [30, 10, 10], [60, 50, 50])
  expect([isLater(twice, branch), isLater(twice, late), isLater(late, branch)]).toEqual([true, false, false])
  // The same copy once more: what was said after the first time is not there.
  expect(isLater(state(70, [60, 10, 10]), branch)).toBe(false)
  // A clock that was wrong.
  expect(isLater(state(50, [30, 9_999, 10]), late)).toBe(false)
})
