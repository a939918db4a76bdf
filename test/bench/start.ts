import { type Contender, parley } from './contenders.ts'
import { EchoLoad } from './echo-load.ts'
import type { BenchOptions } from './options.ts'
import { progress, withBot, withFolder } from './rig.ts'
import { atMost, collect, medianRow, type Name, type Row } from './row.ts'

const STARTS = 10
const EARLIER_MESSAGES = 2_000

/** From the spawn of the process to its first poll, contenders in turn: without and with an earlier life. */
export async function benchStart({ contenders }: BenchOptions): Promise<Row[]> {
  const first = new Map<Name, number[]>()
  const again = new Map<Name, number[]>()
  await withFolder(async (folder) => {
    if (contenders.includes(parley)) await live(folder)
    for (let start = 0; start < STARTS; start++) {
      for (const contender of contenders) {
        collect(first, contender.name, await withFolder((fresh) => startMs(contender, fresh)))
        if (contender === parley) collect(again, contender.name, await startMs(contender, folder))
      }
    }
  })
  progress('start: done')
  const goal = atMost(250)
  const rows = [medianRow({ what: 'start to first poll', unit: 'ms', goal }, first)]
  if (again.size > 0) rows.push(medianRow({ what: '… on an existing database', unit: 'ms', goal }, again))
  return rows
}

/** Leaves a database behind in which something has happened. */
async function live(folder: string): Promise<void> {
  await withBot(parley, folder, ({ server, watch }) => watch(new EchoLoad(server, 100).run(EARLIER_MESSAGES)))
}

function startMs(contender: Contender, folder: string): Promise<number> {
  return withBot(contender, folder, (rig) => rig.startMs)
}
