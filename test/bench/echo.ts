import { bareHttp, type Contender, databaseIn, parley } from './contenders.ts'
import { countRows } from './count-rows.ts'
import { EchoLoad } from './echo-load.ts'
import type { BenchOptions } from './options.ts'
import { progress, type Rig, withBot, withFolder } from './rig.ts'
import { atLeast, collect, type Goal, medianRow, type Name, type Row, type Values } from './row.ts'

const CHATS = 200
const WARM_UP = 3_000

interface EchoRun {
  readonly perSecond: number
  /** Processor time of the bot for one message, in µs: it tells the work even where the machine is busy. */
  readonly cpu: number
  readonly calls: number
  readonly rss: number
}

/** Echo turns per second over 200 chats in a closed loop, whole processes, the contenders in turn, several rounds. */
export async function benchEcho({ contenders, messages, rounds }: BenchOptions): Promise<Row[]> {
  const runs = new Map<Name, EchoRun[]>()
  for (let round = 1; round <= rounds; round++) {
    for (const contender of [...contenders, bareHttp]) {
      const run = await withFolder((folder) => echoRun(contender, folder, messages))
      progress(`echo ${round}/${rounds} ${contender.name}: ${Math.round(run.perSecond)}/s, ${Math.round(run.cpu)} µs`)
      runs.set(contender.name, [...(runs.get(contender.name) ?? []), run])
    }
  }
  const pick = (field: keyof EchoRun): Map<Name, number[]> => {
    const lists = new Map<Name, number[]>()
    for (const [name, list] of runs) for (const run of list) collect(lists, name, run[field])
    return lists
  }
  const perSecond = medianRow(
    { what: `echo turns, ${CHATS} chats`, unit: '1/s', goal: atLeastGrammy },
    pick('perSecond'),
  )
  const { Parley, telegraf } = perSecond.values
  const share: Values = Parley === undefined || telegraf === undefined ? {} : { Parley: (100 * Parley) / telegraf }
  return [
    perSecond,
    { what: '… of what telegraf does', unit: '%', goal: atLeast(50), values: share },
    medianRow({ what: 'processor time of one echo', unit: 'µs' }, pick('cpu')),
    medianRow({ what: 'API calls of one echo, polls too', unit: '' }, pick('calls')),
    medianRow({ what: `RSS after ${(messages + WARM_UP).toLocaleString('en-US')} messages`, unit: 'MB' }, pick('rss')),
  ]
}

const atLeastGrammy: Goal = {
  text: '≥ grammY',
  met: ({ Parley, grammY }) => (Parley === undefined || grammY === undefined ? undefined : Parley >= grammY),
}

async function echoRun(contender: Contender, folder: string, messages: number): Promise<EchoRun> {
  const { run, said } = await withBot(contender, folder, async (rig) => {
    const load = new EchoLoad(rig.server, CHATS)
    await rig.watch(load.run(WARM_UP))
    const run = await measured(rig, load, messages)
    load.check()
    return { run, said: load.said }
  })
  if (contender === parley) checkRows(databaseIn(folder), said)
  return run
}

async function measured({ server, bot, watch }: Rig, load: EchoLoad, messages: number): Promise<EchoRun> {
  const from = { cpu: bot.cpuTime(), entry: server.ledger.mark() }
  const ms = await watch(load.run(messages))
  const cpu = bot.cpuTime() - from.cpu
  const calls = server.ledger.count((entry) => entry.kind === 'call', from.entry)
  return {
    perSecond: (messages * 1000) / ms,
    cpu: (cpu * 1000) / messages,
    calls: calls / messages,
    rss: bot.rss(),
  }
}

/** Every message must have left its rows: an inbox row that is done, a turn that completed, a part that was sent. */
function checkRows(database: string, said: number): void {
  for (const [what, count] of Object.entries(countRows(database))) {
    if (count !== said) throw new Error(`${said} messages were said, but the database has ${count} ${what}.`)
  }
}
