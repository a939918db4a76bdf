import type { ChannelHub } from '../channels/hub.ts'
import type { Clock } from '../core/clock.ts'
import { LATENCY_BOUNDS, type Measures } from '../core/measures.ts'
import type { HealthOperator, Readiness } from '../core/operate-health.ts'
import { DELIVERY_STATES } from '../core/outbound.ts'
import type { MeasuredFamily, MeasuredHistogram, MetricsWriter } from '../platform/metrics-page.ts'
import type { LiveHub } from '../sessions/service/live-events.ts'
import type { Store } from '../store/store.ts'
import { commitsInTime } from './commits-in-time.ts'

export interface HealthDeps {
  readonly store: Store
  readonly hub: Pick<ChannelHub, 'reports' | 'begun'>
  readonly clock: Clock
  readonly measures: Measures
  readonly live: Pick<LiveHub, 'readers'>
}

/** A store that took a write within this time is not asked for another: anybody may ask. */
const PROVEN_MS = 2_000
const MICROS = 1_000_000
const UNSENT = DELIVERY_STATES.filter((state) => state !== 'sent')

export function makeHealth(deps: HealthDeps): HealthOperator {
  let writer: Promise<MetricsWriter> | undefined
  const { store, clock } = deps
  const committed = provenFor(clock, () => commitsInTime(store, clock))
  return {
    ready: () => readiness(deps, committed),
    async metrics() {
      // The library costs some megabytes, which a daemon that nobody watches saves.
      writer ??= import('../platform/metrics-page.ts').then(({ createMetricsWriter }) => createMetricsWriter())
      const { type, write } = await writer
      return { type, text: await write(await familiesOf(deps), histogramsOf(deps)) }
    },
  }
}

async function readiness({ hub }: HealthDeps, committed: () => Promise<boolean>): Promise<Readiness> {
  const store = await committed()
  const channels = hub
    .reports()
    .filter(({ status }) => status !== 'up')
    .map(({ channel, account, status }) => ({ channel, account, status }))
  const works = store && channels.length === 0
  // The channels begin once everything was resumed.
  return { status: !hub.begun ? 'starting' : works ? 'ready' : 'degraded', channels, store }
}

function provenFor(clock: Clock, commits: () => Promise<boolean>): () => Promise<boolean> {
  let last: { readonly at: number; readonly proof: Promise<boolean> } | undefined
  return () => {
    const at = clock.elapsed()
    if (last === undefined || at - last.at >= PROVEN_MS) last = { at, proof: commits().catch(() => false) }
    return last.proof
  }
}

async function familiesOf({ store: { read }, hub, live, measures }: HealthDeps): Promise<readonly MeasuredFamily[]> {
  const [counts, undecided, waiting, running] = await Promise.all([
    read.outbox.unsentCounts(),
    read.outbox.undecidedCount(),
    read.inbox.waitingCount(),
    read.turns.running(),
  ])
  const models = [...measures.models]
  return [
    counter('parley_turns_total', 'Turns that ended, by outcome.', byTwo(measures.turns, 'outcome')),
    gauge('parley_turns_running', 'Turns that run now.', [{ labels: {}, value: running.length }]),
    gauge('parley_messages_waiting', 'Messages that wait for a turn.', [{ labels: {}, value: waiting }]),
    counter(
      'parley_deliveries_total',
      'Parts of messages that came to a state, by state.',
      byTwo(measures.deliveries, 'state'),
    ),
    gauge(
      'parley_outbox',
      'Parts of messages in the outbox, by state, without those that were sent.',
      UNSENT.map((state) => ({ labels: { state }, value: counts[state] ?? 0 })),
    ),
    gauge(
      'parley_deliveries_uncertain',
      'Parts of which nobody can say whether they arrived, until somebody decides.',
      [{ labels: {}, value: undecided }],
    ),
    counter(
      'parley_model_calls_total',
      'Answers of models.',
      models.map(([model, { calls }]) => ({ labels: { model }, value: calls })),
    ),
    counter(
      'parley_model_tokens_total',
      'Tokens that models read and wrote, by kind.',
      models.flatMap(([model, { usage }]) =>
        Object.entries(usage).map(([kind, value]) => ({ labels: { model, kind }, value })),
      ),
    ),
    counter(
      'parley_model_cost_dollars_total',
      'Price of the answers of models, by the price list.',
      models.map(([model, { micros }]) => ({ labels: { model }, value: micros / MICROS })),
    ),
    gauge(
      'parley_channel_up',
      '1 while a channel receives, else 0.',
      hub.reports().map(({ channel, account, status }) => ({
        labels: { channel, account },
        value: status === 'up' ? 1 : 0,
      })),
    ),
    gauge('parley_stream_readers', 'Readers of live events.', [{ labels: {}, value: live.readers }]),
  ]
}

function histogramsOf({ measures }: HealthDeps): readonly MeasuredHistogram[] {
  const values = [...measures.latencies].map(([channel, { counts, seconds }]) => ({
    ...{ labels: { channel }, counts, sum: seconds },
  }))
  const help = 'Seconds from the acceptance of a message to the first part of its answer that was sent.'
  return [{ name: 'parley_answer_seconds', help, bounds: LATENCY_BOUNDS, values }]
}

type Values = MeasuredFamily['values']

function counter(name: string, help: string, values: Values): MeasuredFamily {
  return { kind: 'counter', name, help, values }
}

function gauge(name: string, help: string, values: Values): MeasuredFamily {
  return { kind: 'gauge', name, help, values }
}

function byTwo(counts: ReadonlyMap<string, ReadonlyMap<string, number>>, second: string): Values {
  return [...counts].flatMap(([channel, inner]) =>
    [...inner].map(([name, value]) => ({ labels: { channel, [second]: name }, value })),
  )
}
