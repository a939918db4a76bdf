import { setTimeout as pause } from 'node:timers/promises'
import { EchoLoad } from './echo-load.ts'
import type { BenchOptions } from './options.ts'
import { progress, type Rig, withBot, withFolder } from './rig.ts'
import { atMost, medianRow, type Name, percentile, type Row } from './row.ts'

const WARM_UP = 1_000
const SAMPLES = 250
/** Between two messages, so that the work after an answer is not counted to the next one. */
const PAUSE_MS = 3

/** One message at a time to a bot that stands in its poll: from the update to the send that reached the server. */
export async function benchLatency({ contenders, rounds }: BenchOptions): Promise<Row[]> {
  const p50 = new Map<Name, number[]>()
  const p99 = new Map<Name, number[]>()
  for (let round = 1; round <= rounds; round++) {
    for (const contender of contenders) {
      const times = await withFolder((folder) => withBot(contender, folder, (rig) => sampleLatency(rig, SAMPLES)))
      progress(`latency ${round}/${rounds} ${contender.name}: ${percentile(times, 0.5).toFixed(2)} ms`)
      p50.set(contender.name, [...(p50.get(contender.name) ?? []), percentile(times, 0.5)])
      p99.set(contender.name, [...(p99.get(contender.name) ?? []), percentile(times, 0.99)])
    }
  }
  return [
    medianRow({ what: 'one warm message, p50', unit: 'ms', goal: atMost(3) }, p50),
    medianRow({ what: 'one warm message, p99', unit: 'ms', goal: atMost(15) }, p99),
  ]
}

/** Warms the bot up, then times `count` single messages, in ms. */
export async function sampleLatency({ server, watch }: Rig, count: number): Promise<number[]> {
  const load = new EchoLoad(server, 20)
  await watch(load.run(WARM_UP))
  const times: number[] = []
  while (times.length < count) {
    await pause(PAUSE_MS)
    times.push(await watch(oneMessage(server, load)))
  }
  load.check()
  return times
}

async function oneMessage({ ledger }: Rig['server'], load: EchoLoad): Promise<number> {
  const after = ledger.mark()
  let answeredAt = Number.NaN
  const answered = ledger.next(
    (entry) => {
      if (load.answeredBy(entry) === undefined) return false
      answeredAt = performance.now()
      return true
    },
    { after },
  )
  // Some poll again before they answer, some after.
  const listening = ledger.listening({ after })
  const saidAt = performance.now()
  load.say(load.anyone)
  await Promise.all([answered, listening])
  return answeredAt - saidAt
}
