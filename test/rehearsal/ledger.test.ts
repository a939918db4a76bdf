import { describe, expect, test } from 'vitest'
import { Ledger } from '../../src/rehearsal/ledger.ts'

interface Entry {
  kind: string
  at: number
}

const isPing = (entry: Entry) => entry.kind === 'ping'

describe('Ledger', () => {
  test('next resolves with an entry that is there already', async () => {
    const ledger = new Ledger<Entry>()
    ledger.append({ kind: 'ping', at: 1 })
    expect(await ledger.next(isPing)).toEqual({ kind: 'ping', at: 1 })
  })

  test('next resolves with an entry that comes later, and after a mark only with that', async () => {
    const ledger = new Ledger<Entry>()
    ledger.append({ kind: 'ping', at: 1 })
    const waited = ledger.next(isPing, { after: ledger.mark() })
    ledger.append({ kind: 'pong', at: 2 })
    ledger.append({ kind: 'ping', at: 3 })
    expect(await waited).toEqual({ kind: 'ping', at: 3 })
  })

  test('collect resolves once there are enough', async () => {
    const ledger = new Ledger<Entry>()
    ledger.append({ kind: 'ping', at: 1 })
    const waited = ledger.collect(3, isPing)
    for (const at of [2, 3, 4]) ledger.append({ kind: 'ping', at })
    expect((await waited).map(({ at }) => at)).toEqual([1, 2, 3])
    expect(ledger.count(isPing)).toBe(4)
  })

  test('a timeout tells what was seen', async () => {
    const ledger = new Ledger<Entry>((entry) => `${entry.kind} at ${entry.at}`)
    for (let at = 0; at < 30; at++) ledger.append({ kind: 'pong', at })
    await expect(ledger.next(isPing, { timeoutMs: 5 })).rejects.toThrow(
      /Waited 5 ms: 0 of 1 matching ledger entries came\.\nSeen:\n {2}… 5 earlier entries\n {2}pong at 5\n[\s\S]*pong at 29$/,
    )
  })

  test('close rejects who still waits', async () => {
    const ledger = new Ledger<Entry>()
    const waited = ledger.next(isPing)
    ledger.close()
    await expect(waited).rejects.toThrow('closed while the ledger was awaited')
  })
})
