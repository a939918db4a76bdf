import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DeliveryId, TraceId, TurnId } from '../../src/core/ids.ts'
import type { Delivery, DeliveryClass, DeliveryOp, DeliveryReceipt, DeliveryState } from '../../src/core/outbound.ts'
import type { Attempt, Effect, EffectResult, Facts, Item, Looked } from '../../src/delivery/item.ts'
import { next } from '../../src/delivery/next.ts'
import { isRepeat, markRepeat } from '../../src/delivery/repeat-mark.ts'
import { DEFAULT_SETTINGS } from '../../src/delivery/settings.ts'
import { runs } from '../sample.ts'
import { at, DM } from './rig.ts'

const MARK = DEFAULT_SETTINGS.repeatMark
const START = 1_800_000_000_000

/** One step of a walk: `from` by the answer that came, to `to` and what is done next. */
interface Seen {
  readonly from: Item['kind']
  readonly by: EffectResult['to'] | '–'
  readonly to: Item['kind']
  readonly effect: Effect['do']
}

/** What the platform and the world do; each number picks one of what can happen. */
interface World {
  readonly row: { readonly op: DeliveryOp; readonly class: DeliveryClass; readonly state: DeliveryState }
  /** How long ago the row's last call began. */
  readonly ageMs: number
  /** How long the row is worth sending. */
  readonly livesMs: number
  /** It was `sending` with the commit that planned it. */
  readonly claimed: boolean
  readonly window: number | undefined
  readonly proves: boolean
  /** So many calls in the beginning get no answer. */
  readonly outage: number
  readonly picks: readonly number[]
}

const worlds: fc.Arbitrary<World> = fc.record({
  row: fc.record({
    op: fc.constantFrom<DeliveryOp>('send', 'send', 'send', 'edit', 'delete'),
    class: fc.constantFrom<DeliveryClass>('reply', 'reply', 'effect', 'control', 'notice'),
    state: fc.constantFrom<DeliveryState>('planned', 'planned', 'waiting', 'sending', 'uncertain', 'sent'),
  }),
  ageMs: fc.constantFrom(5_000, 60_000, 300_000),
  livesMs: fc.constantFrom(20 * 60_000, 20 * 60_000, 2_000),
  claimed: fc.boolean(),
  window: fc.constantFrom(undefined, undefined, 0, 120_000),
  proves: fc.boolean(),
  outage: fc.constantFrom(0, 0, 3, 12),
  picks: fc.array(fc.nat(999), { minLength: 10, maxLength: 120 }),
})

/** A call that was made: what it was to the one before, and whether a call that writes had succeeded since the loss. */
interface Called {
  readonly as: Attempt
  readonly marked: boolean
  readonly provenSince: boolean
}

/** Walks one row through a world that does whatever the picks say, and then through a calm one until nothing is left to do. */
class Walk {
  readonly seen: Seen[] = []
  readonly calls: Called[] = []
  item: Item
  readonly #world: World
  #now = START
  #elapsed = 1_000
  #step = 0
  #wroteAt: number | undefined
  #lostAt: number | undefined
  #stored: Delivery

  constructor(world: World) {
    this.#world = world
    const { row, ageMs, livesMs, claimed } = world
    this.#stored = {
      id: 'out_1' as DeliveryId,
      source: 'turn_1' as TurnId,
      partNo: 0,
      traceId: 'tr_1' as TraceId,
      address: at(DM),
      part: { text: 'hi', plain: 'hi', markup: 'plain' },
      attempt: row.state === 'planned' ? 0 : 1,
      ownerEpoch: 1,
      expiresAt: START + livesMs,
      ...(row.state === 'planned' ? {} : { startedAt: START - ageMs }),
      messageId: 'm0',
      ...row,
    }
    const begun = { startedAt: this.#elapsed, expiresAt: this.#elapsed + livesMs, as: 'first' } as const
    this.item =
      claimed && row.state === 'sending'
        ? { kind: 'sending', row: this.#stored, ...begun }
        : { kind: 'queued', id: this.#stored.id }
    let answer: EffectResult | undefined
    for (let steps = 0; steps < 600 && this.seen.at(-1)?.effect !== 'leave'; steps++) answer = this.#advance(answer)
  }

  #advance(answer: EffectResult | undefined): EffectResult | undefined {
    const [to, effect] = next(this.item, this.#facts(answer))
    this.seen.push({ from: this.item.kind, by: answer?.to ?? '–', to: to.kind, effect: effect.do })
    this.item = to
    return this.#perform(effect)
  }

  #facts(answer: EffectResult | undefined): Facts {
    return {
      now: this.#now,
      elapsed: this.#elapsed,
      settings: DEFAULT_SETTINGS,
      random: 0.5,
      ready: this.#pick(8) !== 0,
      sameKeyWindowMs: this.#world.window,
      provesSending: this.#world.proves,
      wroteAt: this.#wroteAt,
      moved: false,
      answer,
    }
  }

  #perform(effect: Effect): EffectResult | undefined {
    switch (effect.do) {
      case 'leave':
        return undefined
      case 'wait':
        expect(effect.until).toBeGreaterThan(this.#elapsed)
        return this.#pass(effect.until - this.#elapsed)
      case 'park':
        return this.#pass(1_000)
      case 'load':
        return this.#load()
      case 'reserve':
        return this.#slot()
      case 'begin':
        return this.#begin()
      case 'call':
        return this.#call()
      case 'look':
        this.#pass(5)
        return { to: 'look', found: lookedOf(this.#pick(6)) }
      case 'prove':
        return this.#prove()
      case 'record':
        return this.#pick(6) === 0 ? undefined : this.#record()
    }
  }

  #load(): EffectResult {
    const odd = this.#pick(40)
    return { to: 'load', row: odd === 0 ? 'unreadable' : odd === 1 ? undefined : this.#stored }
  }

  #slot(): EffectResult {
    const picked = this.#pick(5) ?? 0
    return { to: 'reserve', slotAt: this.#elapsed + (SLOTS[picked] ?? 0), later: picked === 1 }
  }

  #begin(): EffectResult {
    const refused = this.#pick(20)
    if (refused === 0) return { to: 'begin', denied: 'policy' }
    if (refused === 1) return { to: 'begin', row: undefined }
    const { as } = stateOf(this.item, 'reserved')
    const { attempt, part, op } = this.#stored
    const how = as === 'repeat' ? { op: 'send' as const, part: markRepeat(part, MARK, 4096) } : { op, part }
    this.#stored = { ...this.#stored, ...how, state: 'sending', attempt: attempt + 1, startedAt: this.#now }
    return { to: 'begin', row: this.#stored }
  }

  #call(): EffectResult {
    const { as, row } = stateOf(this.item, 'sending')
    const provenSince = this.#lostAt === undefined || (this.#wroteAt ?? 0) > this.#lostAt
    this.calls.push({ as, marked: isRepeat(row.part, MARK), provenSince })
    this.#pass(5)
    const receipt = receiptOf(this.calls.length <= this.#world.outage ? 0 : this.#pick(9))
    if (receipt.kind === 'unknown') this.#lostAt = this.#elapsed
    if (receipt.kind === 'sent') this.#wroteAt = this.#elapsed
    return { to: 'call', receipt }
  }

  #prove(): EffectResult {
    this.#pass(5)
    const works = this.#pick(3) !== 0
    if (works) this.#wroteAt = this.#elapsed
    return { to: 'prove', proof: works ? { works } : { works, retryAfterMs: 2_000 } }
  }

  #record(): EffectResult {
    const { change } = stateOf(this.item, 'recording')
    if (change.kind !== 'settle') {
      this.#stored = { ...this.#stored, op: change.kind === 'edit' ? 'edit' : 'send', state: 'planned' }
    } else {
      const wait = change.waitMs === undefined ? {} : { notBefore: this.#now + change.waitMs }
      this.#stored = { ...this.#stored, state: change.state, ...wait }
    }
    return { to: 'record' }
  }

  #pass(ms: number): undefined {
    this.#now += ms
    this.#elapsed += ms
  }

  #pick(most: number): number | undefined {
    const picked = this.#world.picks[this.#step++]
    return picked === undefined ? undefined : picked % most
  }
}

function stateOf<Kind extends Item['kind']>(item: Item, kind: Kind): Extract<Item, { kind: Kind }> {
  if (item.kind !== kind) throw new Error(`the item is ${item.kind} where it should be ${kind}`)
  return item as Extract<Item, { kind: Kind }>
}

/** A calm platform takes everything. */
function receiptOf(picked: number | undefined): DeliveryReceipt {
  const reason = 'no'
  switch (picked) {
    case 0:
    case 1:
    case 2:
      return { kind: 'unknown', reason }
    case 3:
      return { kind: 'not_sent', reason }
    case 4:
      return { kind: 'rejected', reason }
    case 5:
      return { kind: 'rejected', reason, retryAfterMs: 3_000 }
    case 6:
      return { kind: 'rejected', reason, movedTo: at('telegram:direct:8') }
    default:
      return { kind: 'sent', messageId: 'm1' }
  }
}

function lookedOf(picked: number | undefined): Looked {
  switch (picked) {
    case 0:
      return { kind: 'cannot_tell', reason: 'down', retryAfterMs: 1_000 }
    case 1:
      return { kind: 'cannot_tell', reason: 'no scope' }
    case 2:
      return { kind: 'found', messageId: 'm1', outdated: false }
    case 3:
      return { kind: 'found', messageId: 'm1', outdated: true }
    default:
      return { kind: 'absent' }
  }
}

/** When a slot comes, ms from now; the second asks again then. */
const SLOTS = [0, 700, 700, 150_000]

const RUNS = runs(3_000)

describe('a part on its way, in any world', () => {
  test('comes to an end once the world is calm', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        expect(new Walk(world).item.kind).toBe('ended')
      }),
      RUNS,
    )
  })

  test('T14: where nothing can be proven, after a lost send comes at most one more, marked, on a line that works', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        if (world.row.op !== 'send' || world.window !== undefined || !world.proves) return
        const { calls } = new Walk({ ...world, row: { ...world.row, state: 'planned' } })
        const lost = calls.filter(({ marked }) => marked)
        expect(new Set(lost.map(({ as }) => as)).has('anew')).toBe(false)
        if (world.row.class === 'effect') expect(lost).toEqual([])
        for (const { as, provenSince } of lost) if (as === 'repeat') expect(provenSince).toBe(true)
        expect(calls.filter(({ as }) => as === 'repeat').length).toBeLessThanOrEqual(1)
        expect(calls.some(({ as }) => as === 'again' || as === 'anew')).toBe(false)
      }),
      RUNS,
    )
  })

  test('a second call under the same key is made where the platform keeps keys, and nowhere else', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { calls } = new Walk(world)
        if (world.window === undefined || world.window === 0) expect(calls.some(({ as }) => as === 'again')).toBe(false)
      }),
      RUNS,
    )
  })
})

describe('the table of transitions', () => {
  const page = readFileSync(new URL('../../src/delivery/README.md', import.meta.url), 'utf8')
  const listed = new Set(
    [...page.matchAll(/^\| `(\w+)` \| `([\w–]+)` \| `(\w+)` \| `(\w+)` \|/gm)].map((row) => row.slice(1).join(' ')),
  )

  test('has every transition there is, and no other', () => {
    const made = new Set<string>()
    fc.assert(
      fc.property(worlds, (world) => {
        for (const { from, by, to, effect } of new Walk(world).seen) made.add(`${from} ${by} ${to} ${effect}`)
      }),
      { numRuns: 8_000, seed: 2 },
    )
    expect([...made].sort()).toEqual([...listed].sort())
  })
})
