import type { Dispatch } from '../../src/core/dispatch.ts'
import type { DispatchRule } from '../../src/core/policy.ts'
import type { Dimension } from '../../src/core/session.ts'
import type { Routing } from '../../src/routing/compile-routing.ts'
import { decideRoute } from '../../src/routing/decide-route.ts'
import { dispatchOf, group, message, routeFacts, user } from '../fakes/dispatch.ts'
import { member, policy, routingOf } from '../fakes/routing-policy.ts'

const RULES = 1_000
const PEOPLE = 10_000
const BATCH = 200
const BATCHES = 400

interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly goal: number
}

/**
 * One route decision with its scope key and trace: 1,000 rules, 10,000 people, every input distinct, each matching the
 * rule of a random rank. Two kinds of rule sets: by chat and by person. The median batch, in µs a decision.
 */
export async function benchRoute(): Promise<Figure[]> {
  const random = seeded(20_261_121)
  const byChat = measure((rank) => ({ channel: 'telegram', chat: `group:-100${rank}` }), random)
  const byPerson = measure((rank) => ({ channel: 'telegram', sender: `person-${rank}` }), random)
  return [
    { name: 'route decision, rules by chat', value: byChat, unit: 'µs', goal: 2 },
    { name: 'route decision, rules by person', value: byPerson, unit: 'µs', goal: 2 },
  ]
}

function measure(matchOf: (rank: number) => DispatchRule['match'], random: () => number): number {
  const routing = largeRouting(matchOf)
  const facts = routeFacts()
  const times: number[] = []
  for (let batch = 0; batch < BATCHES; batch++) {
    // Small batches, so that the inputs are as near as a message just parsed is.
    const inputs = Array.from({ length: BATCH }, (_, index) =>
      input(Math.floor(random() * RULES), batch * BATCH + index),
    )
    const started = process.hrtime.bigint()
    let matched = 0
    for (const one of inputs) {
      const decision = decideRoute(routing, facts, one)
      if (decision.kind === 'run' && decision.route.matchedBy !== 'default') matched++
    }
    times.push(Number(process.hrtime.bigint() - started) / 1_000 / BATCH)
    if (matched !== BATCH) throw new Error(`only ${matched} of ${BATCH} inputs matched a rule`)
  }
  return times.toSorted((a, b) => a - b)[BATCHES / 2] ?? Number.NaN
}

function largeRouting(matchOf: (rank: number) => DispatchRule['match']): Routing {
  const dimensions: Dimension[] = ['chat', 'sender']
  const dispatch = Array.from({ length: RULES }, (_, rank) => ({ name: `r${rank}`, match: matchOf(rank) }))
  const people = Array.from({ length: PEOPLE }, (_, index) => member(`person-${index}`, `telegram:${index}`))
  const access = { direct: 'allowlist', groups: [{ match: {}, who: 'allowlist', trigger: 'mention' }] } as const
  return routingOf(policy({ people, dispatch, dimensions, access }))
}

/** The topic makes every input, hence every scope key, another one. */
function input(rank: number, serial: number): Dispatch {
  const address = group(`-100${rank}`, { topic: String(serial) })
  return dispatchOf(message({ address, sender: user(String(rank)), mentioned: true }))
}

/** A small linear congruential generator: the same inputs on every run. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}
