import type { PriceList } from './budget.ts'
import { addUsage, type Model, type ModelEvent, NO_USAGE, type Usage } from './model.ts'
import { costOf, isFree, priceOf } from './prices.ts'

/** Upper bounds in seconds; the last one holds the rest. */
export const LATENCY_BOUNDS: readonly number[] = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
/** Values of one label: names of channels and models come from the configuration, and more share one. */
const MOST_VALUES = 50
const REST = 'other'
/** Answers on their way whose time is taken; of more the oldest is forgotten. */
const MOST_WAITING = 10_000

export interface Latencies {
  /** By `LATENCY_BOUNDS`, each by itself. */
  readonly counts: number[]
  seconds: number
}

export interface ModelUse {
  calls: number
  usage: Usage
  /** Millionths of a dollar. */
  micros: number
}

/** The plain numbers behind the metrics, since the process began. Counting costs a message a few map look-ups. */
export class Measures {
  /** By channel, then by outcome. */
  readonly turns = new Map<string, Map<string, number>>()
  /** By channel, then by the state in which a part arrived. */
  readonly deliveries = new Map<string, Map<string, number>>()
  readonly latencies = new Map<string, Latencies>()
  readonly models = new Map<string, ModelUse>()
  readonly #waiting = new Map<string, number>()

  /** Called when the end of a turn is on record, before its answer leaves. `at`: when what it answers was accepted. */
  turnEnded(channel: string, outcome: string, answer?: { readonly source: string; readonly at: number }): void {
    add(this.turns, channel, outcome.replace(/:.*/s, ''))
    if (answer === undefined) return
    this.#waiting.set(answer.source, answer.at)
    if (this.#waiting.size <= MOST_WAITING) return
    for (const oldest of this.#waiting.keys()) {
      this.#waiting.delete(oldest)
      return
    }
  }

  /** Called when a part has another state on record. */
  partMoved(channel: string, state: string, { source, now }: { readonly source: string; readonly now: number }): void {
    add(this.deliveries, channel, state)
    const at = this.#waiting.get(source)
    if (at === undefined) return
    this.#waiting.delete(source)
    if (state === 'sent' || state === 'resent') this.#took(channel, Math.max(0, now - at) / 1_000)
  }

  #took(channel: string, seconds: number): void {
    const known = held(this.latencies, channel, () => ({ counts: LATENCY_BOUNDS.map(() => 0).concat(0), seconds: 0 }))
    const index = LATENCY_BOUNDS.findIndex((bound) => seconds <= bound)
    const at = index === -1 ? LATENCY_BOUNDS.length : index
    known.counts[at] = (known.counts[at] ?? 0) + 1
    known.seconds += seconds
  }

  /** Called when a model has answered. */
  called(model: string, usage: Usage, micros: number): void {
    const use = held(this.models, model, () => ({
      ...{ calls: 0, micros: 0 },
      usage: NO_USAGE,
    }))
    use.calls++
    use.micros += micros
    use.usage = addUsage(use.usage, usage)
  }
}

function add(counts: Map<string, Map<string, number>>, label: string, name: string): void {
  const one = held(counts, label, () => new Map<string, number>())
  one.set(name, (one.get(name) ?? 0) + 1)
}

/** Returns the value of a label, or that of the rest. */
function held<Value>(values: Map<string, Value>, label: string, make: () => Value): Value {
  const name = values.has(label) || values.size < MOST_VALUES ? label : REST
  const known = values.get(name)
  if (known !== undefined) return known
  const made = make()
  values.set(name, made)
  return made
}

/** Returns models whose answers are counted; a script is no model, and its calls are left alone. */
export function countCalls(
  models: (id: string) => Promise<Model>,
  measures: Measures,
  prices: PriceList | undefined,
): (id: string) => Promise<Model> {
  return async (id) => {
    const model = await models(id)
    if (isFree(id)) return model
    const price = priceOf(id, prices)
    const counted = async function* (events: AsyncIterable<ModelEvent>): AsyncGenerator<ModelEvent, void, void> {
      for await (const event of events) {
        if (event.type === 'end') measures.called(id, event.usage, costOf(event.usage, price))
        yield event
      }
    }
    return { id, stream: (request, signal) => counted(model.stream(request, signal)) }
  }
}
