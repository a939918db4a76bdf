import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createIdSource,
  deliveryKey,
  type IdInputs,
  runId,
  toAccountId,
  toAgentId,
  toPersonId,
  toScopeKey,
  toSessionId,
} from '../../src/core/ids.ts'

const NOON = Date.UTC(2026, 10, 21, 12)

/** A clock that stands and bytes that count up. */
function inputs(changes: Partial<IdInputs> = {}): IdInputs {
  let byte = 0
  return { now: () => NOON, randomBytes: (count) => Uint8Array.from({ length: count }, () => byte++ % 256), ...changes }
}

describe('row ids', () => {
  it('carry their kind and 24 characters of Crockford base 32', () => {
    const ids = createIdSource(inputs())
    const body = '[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{24}'
    expect(ids.inbox()).toMatch(new RegExp(`^in_${body}$`))
    expect(ids.turn()).toMatch(new RegExp(`^turn_${body}$`))
    expect(ids.delivery()).toMatch(new RegExp(`^out_${body}$`))
    expect(ids.trace()).toMatch(new RegExp(`^tr_${body}$`))
  })

  it('sort in the order they were made, within and across milliseconds', () => {
    let now = NOON
    const ids = createIdSource(inputs({ now: () => now }))
    const made = Array.from({ length: 2_000 }, (_, index) => {
      now += index % 7 === 0 ? 1 : 0
      return ids.inbox()
    })
    expect([...made].sort()).toEqual(made)
    expect(new Set(made).size).toBe(made.length)
  })

  it('have their length at any time a clock may tell, with a fraction or before 1970', () => {
    let now = -1
    const ids = createIdSource(inputs({ now: () => now }))
    const made = [-1, -NOON, 0.5, NOON, NOON + 0.5].map((ms) => {
      now = ms
      return ids.inbox()
    })
    for (const id of made) expect(id).toMatch(/^in_[0-9a-z]{24}$/)
    expect([...made].sort()).toEqual(made)
  })

  it('of two processes differ at the same time and count', () => {
    const [one, other] = [1, 2].map((byte) =>
      createIdSource(inputs({ randomBytes: (n) => new Uint8Array(n).fill(byte) })),
    )
    expect(one?.turn()).not.toBe(other?.turn())
  })

  it('S3: a channel session id is <platform>:<UTC date>-<8 hex>', () => {
    expect(createIdSource(inputs()).session('telegram')).toBe('telegram:2026-11-21-05060708')
  })

  it('S3: session ids differ by their random part', () => {
    const ids = createIdSource(inputs())
    expect(ids.session('slack')).not.toBe(ids.session('slack'))
  })
})

describe('delivery keys', () => {
  it('are 25 characters, stable for one delivery and different for another', () => {
    const ids = createIdSource(inputs())
    const [one, other] = [ids.delivery(), ids.delivery()]
    expect(deliveryKey(one)).toMatch(/^[0-9A-Za-z]{25}$/)
    expect(deliveryKey(one)).toBe(deliveryKey(one))
    expect(deliveryKey(one)).not.toBe(deliveryKey(other))
  })

  it('begin with the hash of the id, five bits a character', () => {
    const id = createIdSource(inputs()).delivery()
    const first = createHash('sha256').update(id).digest().readUInt8(0) >> 3
    expect('0123456789abcdefghjkmnpqrstvwxyz'.indexOf(deliveryKey(id).charAt(0).toLowerCase())).toBe(first)
  })
})

describe('runs', () => {
  it('T19: the same call has the same run id, another call another one, however its parts are cut', () => {
    expect(runId('turn_1', 'c1')).toMatch(/^run_[0-9a-z]{26}$/)
    expect(runId('turn_1', 'c1')).toBe(runId('turn_1', 'c1'))
    expect(new Set([runId('a', 'bc'), runId('ab', 'c'), runId('abc'), runId('a', 'b', 'c')]).size).toBe(4)
  })
})

describe('names', () => {
  it.each([
    ['Main', 'main'],
    ['  My Agent!! ', 'my-agent'],
    ['a/../b', 'a-b'],
    ['--x_1--', 'x_1'],
    ['äö', 'main'],
    ['', 'main'],
    ['a'.repeat(70), 'a'.repeat(64)],
    [`${'a'.repeat(63)}-b`, 'a'.repeat(63)],
    [`a${'-'.repeat(400_000)}b`, 'a'],
    [`${'-'.repeat(400_000)}b--`, 'b'],
  ])('K2: the agent %j is %j', (raw, id) => {
    expect(toAgentId(raw)).toBe(id)
  })

  it('K2: an account without a name is default', () => {
    expect([toAccountId(''), toAccountId(' Work 2 ')]).toEqual(['default', 'work-2'])
  })

  it('K2: a normalised name stays as it is', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 80, unit: fc.constantFrom('a', 'B', '-', '_', ' ', '7', 'ß', '/') }),
        (raw) => {
          expect(toAgentId(toAgentId(raw))).toBe(toAgentId(raw))
        },
      ),
    )
  })

  it('a person is trimmed and in lower case', () => {
    expect(toPersonId(' Ada ')).toBe('ada')
  })

  it('session ids and scope keys are taken as they are', () => {
    expect([toSessionId('cli:A b'), toScopeKey('agent:Main:x')]).toEqual(['cli:A b', 'agent:Main:x'])
  })
})
