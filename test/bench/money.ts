import type { Usage } from '../../src/rehearsal/anthropic/reply-message.ts'
import { ADA, BOB, type MoneyRig, withMoneyRig } from './money-rig.ts'
import { exchange, playTalk, textOf } from './money-talk.ts'
import { progress } from './rig.ts'
import { atMost, type Row } from './row.ts'

const TURNS = 50
const CALLS_OF_TURN = 3
const OVERHEARD = 500
const MINUTE = 60_000
/** The context limits leave 50 messages of 24,000 characters together, which are 6,000 tokens; the tags come on top. */
const OVERHEARD_TOKENS = 6_500

/** Prices of input against the plain one: written for five minutes, for an hour, and read. */
const WRITE = 1.25
const LONG_WRITE = 2
const READ = 0.1

/** The input tokens a conversation is billed for, and a turn after a long talk among others. */
export async function benchMoney(): Promise<Row[]> {
  const talk = await withMoneyRig(playTalk(), talkRows)
  const overheard = await withMoneyRig(playTalk(), overheardRows)
  return [...talk, ...overheard]
}

async function talkRows(rig: MoneyRig): Promise<Row[]> {
  const started = rig.clock.now()
  for (let turn = 0; turn < TURNS; turn++) {
    rig.clock.set(new Date(started + turn * MINUTE).toISOString())
    const { said, answer } = exchange(turn)
    await rig.ask({ from: ADA, text: said }, answer)
  }
  const usages = usagesOf(rig)
  if (usages.length !== TURNS * CALLS_OF_TURN) throw new Error(`${usages.length} requests were made.`)
  const tools = rig.anthropic.ledger.requests()[0]?.tools?.length
  if (tools !== 10) throw new Error(`The model was given ${tools} tools.`)
  const total = sum(usages, totalOf)
  const full = sum(usages, (one) => one.input_tokens + one.cache_creation_input_tokens)
  progress(`money: ${total} tokens, ${full} of them at full price, ${Math.round(weighted(usages))} weighted`)
  const name = `${TURNS} turns, each with two tools`
  return [
    { what: `${name}: input tokens, their weight if nothing were cached`, unit: '', values: { Parley: total } },
    {
      what: '… at full price, uncached or written',
      unit: '%',
      goal: atMost(10),
      values: { Parley: (100 * full) / total },
    },
    { what: '… weighted by price', unit: '', goal: atMost(150_000), values: { Parley: weighted(usages) } },
    { what: '… of the first request', unit: '', values: { Parley: firstOf(usages) } },
  ]
}

/** A talk among others calls no model; the next turn that does is shown the end of it. */
async function overheardRows(rig: MoneyRig): Promise<Row[]> {
  const { telegram } = rig
  const address = (chat: number) => ({ from: ADA, chat, text: '@parley_bot what do you think?' })
  const { id: quiet } = telegram.world.addChat({ type: 'supergroup', title: 'Quiet', members: [ADA, BOB] })
  const { id: busy } = telegram.world.addChat({ type: 'supergroup', title: 'Busy', members: [ADA, BOB] })
  await rig.ask(address(quiet), exchange(0).answer)
  const alone = usagesOf(rig)
  for (let index = 0; index < OVERHEARD; index++) telegram.world.say({ from: BOB, chat: busy, text: textOf(index) })
  await rig.ask(address(busy), exchange(1).answer)
  const after = usagesOf(rig).slice(alone.length)
  if (after.length !== CALLS_OF_TURN) throw new Error(`${after.length} requests were made.`)
  const name = `after ${OVERHEARD} unaddressed messages`
  return [
    { what: `first request of a turn ${name}: input tokens`, unit: '', values: { Parley: firstOf(after) } },
    {
      what: '… more than in a quiet group',
      unit: '',
      goal: atMost(OVERHEARD_TOKENS),
      values: { Parley: firstOf(after) - firstOf(alone) },
    },
    { what: '… of the whole turn', unit: '', values: { Parley: sum(after, totalOf) } },
    { what: '… weighted by price', unit: '', values: { Parley: weighted(after) } },
  ]
}

function usagesOf({ anthropic }: MoneyRig): Usage[] {
  const ended = anthropic.ledger.all((entry) => entry.kind === 'ended')
  return ended.flatMap((entry) => (entry.kind === 'ended' && entry.usage ? [entry.usage] : []))
}

function totalOf(usage: Usage): number {
  return usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
}

function weighted(usages: readonly Usage[]): number {
  return sum(usages, ({ input_tokens, cache_read_input_tokens, cache_creation }) => {
    const { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long } = cache_creation
    return input_tokens + WRITE * short + LONG_WRITE * long + READ * cache_read_input_tokens
  })
}

function firstOf([first]: readonly Usage[]): number {
  return first === undefined ? Number.NaN : totalOf(first)
}

function sum(usages: readonly Usage[], count: (usage: Usage) => number): number {
  return usages.reduce((total, usage) => total + count(usage), 0)
}
