import { join } from 'node:path'
import { setImmediate as loopTurn } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { errorCode } from '../../src/core/errors.ts'
import { createGroupCommit } from '../../src/store/engines/group-commit.ts'
import { openConnection, type SqliteConnection } from '../../src/store/engines/sqlite-connection.ts'
import { Database } from '../../src/store/engines/sqlite-driver.ts'
import { translate } from '../../src/store/engines/sqlite-error.ts'
import type { Sql, TransactionSql } from '../../src/store/sql.ts'
import { removeTempFolders, tempFolder } from './temp-database.ts'

removeTempFolders()

const insert = (value: number) => (sql: Sql) => sql.run('INSERT INTO numbers (value) VALUES ($1)', [value])

describe('group commit', () => {
  let path: string
  let connection: SqliteConnection
  /** Every statement without parameters the group itself ran. */
  let frame: string[]

  beforeEach(() => {
    path = join(tempFolder(), 'store.db')
    frame = []
    const real = openConnection(path)
    connection = {
      ...real,
      get inTransaction() {
        return real.inTransaction
      },
      get writes() {
        return real.writes
      },
      run(text, params) {
        if (params.length === 0) frame.push(text)
        return real.run(text, params)
      },
    }
    connection.exec('CREATE TABLE numbers (value INTEGER NOT NULL UNIQUE)')
  })

  const values = () => connection.all('SELECT value FROM numbers ORDER BY value', []).map((row) => row.value)
  const busyTimeout = () => Object.values(connection.get('PRAGMA busy_timeout', []) ?? {})[0]
  const commits = () => frame.filter((text) => text === 'COMMIT').length

  it('what arrives in one turn of the loop shares one commit', async () => {
    const group = createGroupCommit(connection, systemClock)
    const writes = [group.write(insert(1)), group.write(insert(2))]
    await Promise.resolve()
    writes.push(group.write(insert(3)))
    await Promise.all(writes)
    expect(values()).toEqual([1, 2, 3])
    expect(commits()).toBe(1)
  })

  it('no promise resolves before the commit', async () => {
    const group = createGroupCommit(connection, systemClock)
    const seen: number[] = []
    const note = () => seen.push(commits())
    await Promise.all([group.write(insert(1)).then(note), group.write(insert(2)).then(note)])
    expect(seen).toEqual([1, 1])
  })

  const failing =
    (value: number) =>
    async (sql: Sql): Promise<number> => {
      await insert(value)(sql)
      throw new Error('after it wrote')
    }
  const [kept, undone] = [
    ['SAVEPOINT body', 'RELEASE body'],
    ['SAVEPOINT body', 'ROLLBACK TO body', 'RELEASE body'],
  ]

  it('bodies that succeed need no savepoint', async () => {
    const group = createGroupCommit(connection, systemClock)
    const refused = async (): Promise<number> => Promise.reject(new Error('before it wrote'))
    const settled = await Promise.allSettled([insert(1), refused, insert(3)].map(group.write))
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(values()).toEqual([1, 3])
    expect(frame).toEqual(['BEGIN IMMEDIATE', 'COMMIT'])
  })

  it('a body that fails loses its own writes only: the others run again, each in a savepoint', async () => {
    const group = createGroupCommit(connection, systemClock)
    const settled = await Promise.allSettled([insert(1), failing(2), insert(3), failing(4), insert(5)].map(group.write))
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'])
    expect(values()).toEqual([1, 3, 5])
    const again = [kept, kept, undone, kept].flat()
    expect(frame).toEqual(['BEGIN IMMEDIATE', 'ROLLBACK', 'BEGIN IMMEDIATE', ...again, 'COMMIT'])
  })

  it('a body that runs again is undone once and received once', async () => {
    const group = createGroupCommit(connection, systemClock)
    const calls: string[] = []
    const body = async (sql: TransactionSql) => {
      calls.push('run')
      await insert(1)(sql)
      sql.afterUndo(() => calls.push('undone'))
      sql.afterCommit(() => calls.push('committed'))
    }
    await Promise.allSettled([group.write(body), group.write(failing(2))])
    expect(calls).toEqual(['run', 'undone', 'run', 'committed'])
  })

  it('a body that was given up does not run again', async () => {
    const group = createGroupCommit(connection, systemClock)
    let runs = 0
    const waits = async (sql: Sql): Promise<number> => {
      runs++
      await insert(2)(sql)
      await loopTurn()
      return 2
    }
    const settled = await Promise.allSettled([insert(1), waits, insert(3)].map(group.write))
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect([runs, values()]).toEqual([1, [1, 3]])
  })

  it('bodies that run again wait for a lock that another program took meanwhile; who failed keeps its own error', async () => {
    let begins = 0
    const locked: SqliteConnection = {
      ...connection,
      get inTransaction() {
        return connection.inTransaction
      },
      get writes() {
        return connection.writes
      },
      run(text, params) {
        if (text === 'BEGIN IMMEDIATE' && ++begins === 2) throw translate(new Database.SqliteError('x', 'SQLITE_BUSY'))
        return connection.run(text, params)
      },
    }
    const group = createGroupCommit(locked, systemClock)
    const settled = await Promise.allSettled([insert(1), failing(2), insert(3)].map(group.write))
    expect(settled.map((end) => end.status === 'rejected' && errorCode(end.reason))).toEqual([false, 'internal', false])
    expect([begins, values()]).toEqual([3, [1, 3]])
  })

  it('a group is bounded, and the loop turns between groups', async () => {
    const group = createGroupCommit(connection, systemClock)
    let turns = 0
    let done = false
    const count = async () => {
      while (!done) {
        await loopTurn()
        turns++
      }
    }
    const counting = count()
    await Promise.all(Array.from({ length: 600 }, (_, no) => group.write(insert(no))))
    done = true
    await counting
    expect(commits()).toBe(3)
    expect(turns).toBeGreaterThanOrEqual(3)
  })

  it('a failed COMMIT rejects everybody and keeps nothing, and the next group works', async () => {
    connection.exec(`CREATE TABLE parents (id INTEGER PRIMARY KEY);
      CREATE TABLE children (parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)`)
    const group = createGroupCommit(connection, systemClock)
    let takenBack = 0
    const told = async (sql: TransactionSql) => {
      sql.afterUndo(() => takenBack++)
      await insert(1)(sql)
    }
    const settled = await Promise.allSettled([
      group.write(told),
      group.write((sql) => sql.run('INSERT INTO children VALUES ($1)', [7])),
      group.write(insert(2)),
    ])
    expect(settled.map((result) => result.status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect([values(), takenBack]).toEqual([[], 1])
    await group.write(insert(3))
    expect(values()).toEqual([3])
  })

  it('F-F01: a full disk rejects the write, keeps what was committed, and later writes succeed', async () => {
    connection.exec('CREATE TABLE blobs (data TEXT)')
    const group = createGroupCommit(connection, systemClock)
    await group.write(insert(1))
    const { page_count: pages } = connection.get('PRAGMA page_count', []) ?? {}
    connection.exec(`PRAGMA max_page_count = ${Number(pages) + 2}`)
    const settled = await Promise.allSettled([
      group.write(insert(2)),
      group.write((sql) => sql.run('INSERT INTO blobs VALUES ($1)', ['x'.repeat(100_000)])),
    ])
    expect(settled[1]).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } })
    const kept = settled[0]?.status === 'fulfilled' ? [1, 2] : [1]
    expect(values()).toEqual(kept)
    connection.exec('PRAGMA max_page_count = 1000000')
    await group.write(insert(3))
    expect(values()).toEqual([...kept, 3])
  })

  it('a transaction the engine gave up cannot go on one statement at a time', async () => {
    const group = createGroupCommit(connection, systemClock)
    const settled = await Promise.allSettled([
      group.write(insert(1)),
      group.write(async (sql) => {
        // What the engine does by itself on some disk errors.
        await sql.run('ROLLBACK', [])
        await insert(2)(sql)
      }),
    ])
    expect(settled).toMatchObject([
      { status: 'rejected', reason: { code: 'unavailable' } },
      { status: 'rejected', reason: { code: 'unavailable' } },
    ])
    expect(values()).toEqual([])
    await group.write(insert(3))
    expect(values()).toEqual([3])
  })

  it('F-F05: a foreign lock is waited for with a free loop, then the write goes through', async () => {
    const clock = steppedClock()
    const group = createGroupCommit(connection, clock)
    const foreign = new Database(path)
    foreign.exec('BEGIN IMMEDIATE')
    const write = group.write(insert(1))
    await clock.paused()
    expect(busyTimeout()).toBe(0)
    clock.wake()
    await clock.paused()
    expect(await group.read(values)).toEqual([])
    foreign.exec('ROLLBACK')
    clock.wake()
    await write
    expect(values()).toEqual([1])
    expect(busyTimeout()).toBe(250)
    foreign.close()
  })

  it('F-F05: a lock that is never given back ends in unavailable, and the store goes on after it', async () => {
    const hasty: Clock = {
      now: () => 0,
      elapsed: () => 0,
      after(_, wake) {
        setImmediate(wake)
        return () => {}
      },
    }
    const group = createGroupCommit(connection, hasty)
    const foreign = new Database(path)
    foreign.exec('BEGIN IMMEDIATE')
    const both = await Promise.allSettled([group.write(insert(1)), group.write(insert(2))])
    expect(both).toMatchObject(both.map(() => ({ status: 'rejected', reason: { code: 'unavailable' } })))
    foreign.close()
    await group.write(insert(3))
    expect(values()).toEqual([3])
  })

  it('drain waits for accepted work and refuses more', async () => {
    const group = createGroupCommit(connection, systemClock)
    const writes = Array.from({ length: 300 }, (_, no) => group.write(insert(no)))
    const drained = group.drain()
    await expect(group.write(insert(999))).rejects.toMatchObject({ code: 'unavailable' })
    await drained
    expect(values()).toHaveLength(300)
    await Promise.all(writes)
  })

  it('F-F03: a commit the disk does not confirm is told before anybody hears of it, and nothing is written after', async () => {
    const told: string[] = []
    const fails = new Set(['COMMIT'])
    const real = connection
    const failing: SqliteConnection = {
      ...real,
      get inTransaction() {
        return real.inTransaction
      },
      get writes() {
        return real.writes
      },
      run(text, params) {
        if (fails.has(text)) throw translate(new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_FSYNC'))
        return real.run(text, params)
      },
    }
    const group = createGroupCommit(failing, systemClock, () => void told.push('broken'))
    const outcome = (write: Promise<unknown>) => write.catch((error: unknown) => void told.push(errorCode(error)))
    await Promise.all([outcome(group.write(insert(1))), outcome(group.write(insert(2)))])
    fails.clear()
    await outcome(group.write(insert(3)))
    expect(told).toEqual(['broken', 'store_broken', 'store_broken', 'store_broken'])
    expect(values()).toEqual([])
  })

  it('F-F03: a disk that takes nothing back either is told of once, with the first error', async () => {
    const failing: SqliteConnection = {
      ...connection,
      inTransaction: true,
      run(text, params) {
        if (text !== 'COMMIT' && text !== 'ROLLBACK') return connection.run(text, params)
        throw translate(new Database.SqliteError(text, 'SQLITE_IOERR_FSYNC'))
      },
    }
    const told: unknown[] = []
    const group = createGroupCommit(failing, systemClock, (error) => told.push(error.cause))
    await expect(group.write(insert(1))).rejects.toMatchObject({ code: 'store_broken' })
    expect(told).toMatchObject([{ message: 'COMMIT' }])
  })
})

/** A clock whose pauses end when the test says so. */
function steppedClock(): Clock & { paused(): Promise<void>; wake(): void } {
  let wakeUp: (() => void) | undefined
  let onPause = (): void => {}
  return {
    now: () => 0,
    elapsed: () => 0,
    after(_, wake) {
      wakeUp = wake
      onPause()
      return () => {}
    },
    async paused() {
      if (wakeUp === undefined)
        await new Promise<void>((resolve) => {
          onPause = resolve
        })
    },
    wake() {
      const wake = wakeUp
      wakeUp = undefined
      wake?.()
    },
  }
}
