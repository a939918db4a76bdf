/** Numbers in [0, 1) that a seed decides (mulberry32): what failed once fails again. */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

function nested(depth: number): unknown {
  let value: unknown = 'deep'
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { inner: value }
  return value
}

const DEEP = nested(2000)
const HUGE = 'x'.repeat(100_000)
const ODD: readonly unknown[] = [
  null,
  true,
  false,
  '',
  'text',
  '__proto__',
  HUGE,
  0,
  -1,
  1.5,
  2 ** 53,
  1e308,
  Number.POSITIVE_INFINITY,
  9_007_199_254_740_991,
  [],
  [null],
  [[]],
  {},
  { id: null },
  { __proto__: null, toString: 1 },
  DEEP,
]

/** Returns a payload with one to three of its values missing or replaced by ones that do not belong there. */
export function mutated(payload: unknown, random: () => number): unknown {
  let value = payload
  for (let left = 1 + Math.floor(random() * 3); left > 0; left--) value = mutatedOnce(value, random)
  return value
}

function mutatedOnce(value: unknown, random: () => number): unknown {
  if (typeof value !== 'object' || value === null || random() < 0.05) return ODD[Math.floor(random() * ODD.length)]
  const keys = Object.keys(value)
  const key = keys[Math.floor(random() * keys.length)]
  if (key === undefined) return ODD[Math.floor(random() * ODD.length)]
  const inner: unknown = Reflect.get(value, key)
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === key ? mutatedOnce(inner, random) : item))
  if (random() < 0.2) return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key))
  return { ...value, [key]: mutatedOnce(inner, random) }
}

/** Calls `look` with so many mutations, and says the seed of one with which it threw. */
export function eachMutation(
  payloads: readonly unknown[],
  { count, seed }: { readonly count: number; readonly seed: number },
  look: (payload: unknown) => void,
): void {
  for (let number = 0; number < count; number++) {
    const payload = mutationOf(payloads, seed + number)
    try {
      look(payload)
    } catch (error) {
      throw new Error(`seed ${seed + number}: ${JSON.stringify(payload)?.slice(0, 1000)}`, { cause: error })
    }
  }
}

export function mutationOf(payloads: readonly unknown[], seed: number): unknown {
  const random = randomFrom(seed)
  return mutated(payloads[Math.floor(random() * payloads.length)], random)
}
