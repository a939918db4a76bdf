import { telegramFormat } from '../../adapters/telegram/format.ts'
import { atMost, median, type Row } from './row.ts'

const LENGTH = 32_000
const RUNS = 40

/** Marks of every kind close together: what a model writes when it is asked for a long comparison. */
const SAMPLE = [
  '## A *heading* with `code`',
  'Some **bold _nested_ text**, a [link](https://example.org/a?b=c&d=e), ~~struck~~ and `a < b && c > d`; **more** of *it*.',
  '- one **item** with [a link](https://example.org)\n- another `item`\n  - a _nested_ item & more',
  '1. first\n2. **second**\n3. `third`',
  '> a quotation with **marks** and a [link](https://example.org)',
  '```ts\nconst answer: Map<string, number> = new Map([["a", 1]])\n```',
  '| name | value |\n| --- | --- |\n| **a** | `1 < 2` |\n| b | *two* |',
].join('\n\n')

/** Splitting and rendering a long answer for Telegram, and twice as long a one: linear is a factor of two. */
export function benchSplit(): Row[] {
  const single = denseAnswer(LENGTH)
  const double = denseAnswer(2 * LENGTH)
  const times: { single: number[]; double: number[] } = { single: [], double: [] }
  for (let run = 0; run < 2 * RUNS; run++) {
    const [one, two] = [timed(single), timed(double)]
    if (run < RUNS) continue
    times.single.push(one)
    times.double.push(two)
  }
  const [one, two] = [median(times.single), median(times.double)]
  return [
    {
      what: `split and render ${LENGTH.toLocaleString('en-US')} dense characters`,
      unit: 'ms',
      goal: atMost(5),
      values: { Parley: one },
      samples: { Parley: times.single },
    },
    { what: '… twice as many: factor', unit: '', goal: atMost(2.4), values: { Parley: two / one } },
  ]
}

function denseAnswer(length: number): string {
  return `${SAMPLE}\n\n`.repeat(Math.ceil(length / SAMPLE.length)).slice(0, length)
}

function timed(markdown: string): number {
  const from = performance.now()
  const parts = telegramFormat.split(markdown)
  const ms = performance.now() - from
  if (parts.length < 4) throw new Error(`only ${parts.length} parts`)
  return ms
}
