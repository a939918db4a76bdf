import { parseArgs } from 'node:util'
import { type Contender, grammy, parley, telegraf } from './contenders.ts'

export interface BenchOptions {
  readonly contenders: readonly Contender[]
  /** Messages of one echo run. */
  readonly messages: number
  readonly rounds: number
}

export interface Request {
  /** The measurements asked for; none: all but the long ones. */
  readonly names: readonly string[]
  readonly json: boolean
  readonly options: BenchOptions
}

/** `npm run bench -- [measurement…] [--contenders parley,grammy] [--messages 20000] [--rounds 3] [--json]` */
export function readRequest(args: readonly string[]): Request {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      contenders: { type: 'string', default: 'parley,grammy,telegraf' },
      messages: { type: 'string', default: '20000' },
      rounds: { type: 'string', default: '3' },
    },
  })
  const wanted = values.contenders.split(',')
  const contenders = [parley, grammy, telegraf].filter(({ name }) => wanted.includes(name.toLowerCase()))
  const options = { contenders, messages: Number(values.messages), rounds: Number(values.rounds) }
  return { names: positionals, json: values.json, options }
}
