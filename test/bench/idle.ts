import { setTimeout as pause } from 'node:timers/promises'
import type { BenchOptions } from './options.ts'
import { progress, withBot, withFolder } from './rig.ts'
import { atMost, type Row } from './row.ts'

const IDLE_MS = 5_000

/** What a bot holds that has nothing to do, five seconds after its first poll. */
export async function benchIdle({ contenders }: BenchOptions): Promise<Row[]> {
  const measured = contenders.map(async (contender): Promise<[string, number]> => {
    const rss = await withFolder((folder) =>
      withBot(contender, folder, async ({ bot }) => {
        await pause(IDLE_MS)
        return bot.rss()
      }),
    )
    return [contender.name, rss]
  })
  const values = Object.fromEntries(await Promise.all(measured))
  progress('idle: done')
  return [{ what: 'idle RSS', unit: 'MB', goal: atMost(80), values }]
}
