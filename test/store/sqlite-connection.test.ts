import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openConnection, toPositional } from '../../src/store/engines/sqlite-connection.ts'
import { removeTempFolders, tempFolder, withDatabase } from './temp-database.ts'

removeTempFolders()

describe('toPositional', () => {
  it.each([
    ['SELECT $1, $2', 'SELECT ?, ?', undefined],
    ['SELECT $2, $1', 'SELECT ?, ?', [1, 0]],
    ['SELECT $1, $1, $2', 'SELECT ?, ?, ?', [0, 0, 1]],
    ["SELECT '$9', $1", "SELECT '$9', ?", undefined],
    ['SELECT $11, $1', 'SELECT ?, ?', [10, 0]],
    ['SELECT 1', 'SELECT 1', undefined],
  ])('%s', (text, positional, order) => {
    expect(toPositional(text)).toEqual({ positional, order })
  })
})

describe('openConnection', () => {
  const open = () => openConnection(join(tempFolder(), 'store.db'))

  it('numbered parameters may repeat and come in any order', () => {
    const connection = open()
    const row = connection.get('SELECT $3 AS c, $1 AS a, $2 AS b, $1 AS again', ['x', null, 3])
    expect(row).toEqual({ c: 3, a: 'x', b: null, again: 'x' })
    expect(connection.all('SELECT $1 AS a UNION ALL SELECT $2', [1, 2])).toEqual([{ a: 1 }, { a: 2 }])
    connection.close()
  })

  it('a missing parameter is an error, not NULL', () => {
    const connection = open()
    expect(() => connection.get('SELECT $2, $1', ['only one'])).toThrow('parameter $2')
    expect(() => connection.get('SELECT $1, $2', ['only one'])).toThrow()
    connection.close()
  })

  it('many different statements keep working', () => {
    const connection = open()
    const sum = Array.from({ length: 1_200 }, (_, no) => connection.get(`SELECT ${no} + $1 AS sum`, [1]))
    expect(sum.at(-1)).toEqual({ sum: 1_200 })
    connection.close()
  })

  it('every open has the pragmas, also where a plain second open has lost FULL', () => {
    const path = join(tempFolder(), 'store.db')
    const pragmas = [
      'journal_mode',
      'synchronous',
      'foreign_keys',
      'busy_timeout',
      'journal_size_limit',
      'secure_delete',
    ]
    const read = () => {
      const connection = openConnection(path)
      const values = pragmas.map((name) => Object.values(connection.get(`PRAGMA ${name}`, []) ?? {})[0])
      connection.close()
      return values
    }
    const wanted = ['wal', 2, 1, 250, 64 * 1024 * 1024, 1]
    expect(read()).toEqual(wanted)
    expect(withDatabase(path, (database) => database.pragma('synchronous', { simple: true }))).toBe(1)
    expect(read()).toEqual(wanted)
  })

  it.each([
    ['get', 'SELECT text FROM nowhere WHERE text = $1', 'a statement of the store of nowhere failed with SQLITE_ERROR'],
    ['all', 'DELETE FROM nowhere WHERE text = $1', 'a statement of the store of nowhere failed with SQLITE_ERROR'],
    ['run', 'UPDATE nowhere SET text = $1', 'a statement of the store of nowhere failed with SQLITE_ERROR'],
    ['run', 'INSERT INTO known (text) VALUES ($1)', 'the store refuses this row of known'],
  ] as const)('an error of %s names the table of %s, and no word that was given', (method, text, message) => {
    const connection = open()
    connection.exec('CREATE TABLE known (text TEXT CHECK (length(text) < 3))')
    expect(() => connection[method](text, ['secret'])).toThrow(expect.objectContaining({ message }))
    connection.close()
  })

  it('a pragma that does not take is unavailable', () => {
    expect(() => openConnection(':memory:')).toThrow(expect.objectContaining({ code: 'unavailable' }))
  })
})
