import { EchoLoad } from './echo-load.ts'
import type { BenchOptions } from './options.ts'
import { progress, type Rig, withBot, withFolder } from './rig.ts'
import { atMost, type Name, type Row } from './row.ts'

const CHATS = 200
const EARLY = 10_000
const LATE = 50_000

/** Memory after many messages, and whether it still grows. */
export async function benchMemory({ contenders }: BenchOptions): Promise<Row[]> {
  const early: Partial<Record<Name, number>> = {}
  const late: Partial<Record<Name, number>> = {}
  const growth: Partial<Record<Name, number>> = {}
  for (const contender of contenders) {
    const [before, after] = await withFolder((folder) => withBot(contender, folder, twoSamples))
    early[contender.name] = before
    late[contender.name] = after
    growth[contender.name] = (100 * (after - before)) / before
    progress(`memory ${contender.name}: ${Math.round(before)} MB, ${Math.round(after)} MB`)
  }
  return [
    { what: `RSS after ${EARLY.toLocaleString('en-US')} messages`, unit: 'MB', values: early },
    { what: `RSS after ${LATE.toLocaleString('en-US')} messages`, unit: 'MB', goal: atMost(150), values: late },
    { what: '… growth in between', unit: '%', goal: atMost(5), values: growth },
  ]
}

async function twoSamples({ server, bot, watch }: Rig): Promise<[number, number]> {
  const load = new EchoLoad(server, CHATS)
  await watch(load.run(EARLY))
  const before = bot.rss()
  await watch(load.run(LATE - EARLY))
  return [before, bot.rss()]
}
