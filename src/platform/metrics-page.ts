import { Counter, collectDefaultMetrics, Gauge, Histogram, type MetricValueWithName, Registry } from 'prom-client'

/** One measured value, as it is now. */
export interface MeasuredFamily {
  readonly kind: 'counter' | 'gauge'
  readonly name: string
  readonly help: string
  readonly values: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[]
}

export interface MeasuredHistogram {
  readonly name: string
  readonly help: string
  /** Upper bounds; `counts` has one more, for what is above them, each by itself. */
  readonly bounds: readonly number[]
  readonly values: readonly {
    readonly labels: Readonly<Record<string, string>>
    readonly counts: readonly number[]
    readonly sum: number
  }[]
}

export interface MetricsWriter {
  readonly type: string
  write(families: readonly MeasuredFamily[], histograms: readonly MeasuredHistogram[]): Promise<string>
}

/** Returns what writes metrics. From the first call on the process's own are watched: memory, lag of the event loop. */
export function createMetricsWriter(): MetricsWriter {
  const own = new Registry()
  collectDefaultMetrics({ register: own })
  return {
    type: own.contentType,
    async write(families, histograms) {
      const registry = new Registry()
      for (const family of families) addFamily(registry, family)
      for (const histogram of histograms) registry.registerMetric(new Counted(histogram))
      return `${await registry.metrics()}\n${await own.metrics()}`
    },
  }
}

function addFamily(registry: Registry, { kind, name, help, values }: MeasuredFamily): void {
  // Without a label the library writes a 0 by itself, which would be a series of its own until there is a value.
  const labelNames = values.length === 0 ? ['none'] : [...new Set(values.flatMap(({ labels }) => Object.keys(labels)))]
  const about = { name, help, labelNames, registers: [registry] }
  const metric = kind === 'counter' ? new Counter(about) : new Gauge(about)
  for (const { labels, value } of values) metric.inc(labels, value)
}

/** A histogram that was counted before it was asked for. */
class Counted extends Histogram {
  readonly #measured: MeasuredHistogram

  constructor(measured: MeasuredHistogram) {
    super({ name: measured.name, help: measured.help, buckets: [...measured.bounds], registers: [] })
    this.#measured = measured
  }

  override async get(): ReturnType<Histogram['get']> {
    const { name, help, bounds } = this.#measured
    const values = this.#measured.values.flatMap(({ labels, counts, sum }) => {
      let total = 0
      const buckets = counts.map((count, at): MetricValueWithName<string> => {
        total += count
        return { metricName: `${name}_bucket`, labels: { ...labels, le: bounds[at] ?? '+Inf' }, value: total }
      })
      const ends = Object.entries({ sum, count: total })
      return [
        ...buckets,
        ...ends.map(([end, value]) => ({ metricName: `${name}_${end}`, labels: { ...labels }, value })),
      ]
    })
    return { ...(await new Histogram({ name, help, registers: [] }).get()), values }
  }

  /** The registry asks for this form, which has shared labels apart, where there is one. */
  getForPromString(): ReturnType<Histogram['get']> {
    return this.get()
  }
}
