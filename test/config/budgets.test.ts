import { describe, expect, it } from 'vitest'
import { load, refusal, TELEGRAM } from './loading.ts'

const PEOPLE = 'people: { ada: { role: owner, ids: ["telegram:5550001"] } }\n'
const MORNING = 'schedules: [{ id: morning, cron: "0 8 * * *", prompt: Go, deliverTo: "telegram:direct:5550001" }]\n'
const MODEL = 'agents: [{ id: main, model: anthropic/claude-sonnet-5-5 }]\n'
const ENV = { TOKEN: '5:AAtoken', ANTHROPIC_API_KEY: 'key' }

const read = async (budgets: string, more = '') =>
  (await load(`${TELEGRAM}${PEOPLE}${MORNING}${MODEL}${more}${budgets}`, ENV)).config
const refused = (budgets: string, more = '') => refusal(`${TELEGRAM}${PEOPLE}${MORNING}${MODEL}${more}${budgets}`, ENV)

describe('budgets in the file', () => {
  it('C33: without a block strangers alone have one, and it is small', async () => {
    expect((await read('')).budgets).toEqual({
      warnAt: 0.8,
      strangers: {
        each: { day: { tokens: 200_000 } },
        client: { day: { tokens: 1_000_000 } },
        together: { day: { tokens: 2_000_000 } },
      },
      prices: {},
    })
    expect((await read('budgets: { strangers: unlimited }')).budgets).toEqual({ warnAt: 0.8, prices: {} })
  })

  it('C33: every kind of payer has its own, each of them and single ones, in money and tokens', async () => {
    const { budgets, warnings } = await read(`budgets:
  timezone: Europe/Berlin
  warnAt: 50
  cheaperModel: anthropic/claude-haiku-4-5
  total: { month: { usd: 50 }, day: { usd: 2.5, tokens: 1000000 } }
  chat: { only: { "telegram:group:-1007654321": { day: { usd: 1 } } } }
  topic: { each: { day: { tokens: 90000 } } }
  person: { each: { day: { tokens: 300000 } }, only: { Ada: unlimited, "Telegram:5550002": { month: { usd: 1 } } } }
  schedule: { only: { morning: { month: { usd: 1 } } } }
  strangers: { each: unlimited }
`)
    expect(budgets).toEqual({
      timezone: 'Europe/Berlin',
      warnAt: 0.5,
      cheaperModel: 'anthropic/claude-haiku-4-5',
      total: { month: { micros: 50_000_000 }, day: { micros: 2_500_000, tokens: 1_000_000 } },
      chat: { only: { 'telegram:group:-1007654321': { day: { micros: 1_000_000 } } } },
      topic: { each: { day: { tokens: 90_000 } } },
      person: {
        each: { day: { tokens: 300_000 } },
        only: { ada: {}, 'telegram:5550002': { month: { micros: 1_000_000 } } },
      },
      schedule: { only: { morning: { month: { micros: 1_000_000 } } } },
      strangers: { client: { day: { tokens: 1_000_000 } }, together: { day: { tokens: 2_000_000 } } },
      prices: {},
    })
    expect(warnings).toEqual([])
  })

  it.each([
    ['budgets: { total: { day: { usd: -1 } } }', 'budgets.total.day.usd: must be more than 0'],
    ['budgets: { total: { day: { tokens: 0 } } }', 'budgets.total.day.tokens: must be at least 1'],
    ['budgets: { total: { day: {} } }', 'budgets.total.day: has no limit; write usd, tokens or both'],
    ['budgets: { total: {} }', 'budgets.total: has no limit; write day, month or both'],
    ['budgets: { chat: {} }', 'budgets.chat: has no budget; write each, only or both'],
    ['budgets: { persn: {} }', 'unknown key `persn` in budgets; did you mean `person`?'],
    ['budgets: { total: { day: { token: 5 } } }', 'unknown key `token` in budgets.total.day; did you mean `tokens`?'],
    ['budgets: { timezone: Europe/Berln }', 'budgets.timezone: there is no time zone Europe/Berln'],
    ['budgets: { person: { only: { ade: unlimited } } }', 'did you mean `ada`?'],
    ['budgets: { schedule: { only: { mornin: unlimited } } }', 'there is no schedule mornin; did you mean `morning`?'],
    ['budgets: { chat: { only: { "-100": unlimited } } }', 'is no chat; write <channel>:<direct|group|channel>:<chat>'],
    ['budgets: { chat: { only: { "telegrm:group:-100": unlimited } } }', 'is no chat'],
    ['budgets: { topic: { only: { "telegram:group:-1": unlimited } } }', 'is no topic'],
    ['budgets: { cheaperModel: haiku }', 'must be <server>/<model>'],
  ])('C33: %s is refused', async (budgets, words) => {
    expect(await refused(budgets)).toContain(words)
  })

  it('C33: a model without a price is named wherever the file has a budget, in money or tokens, and nowhere else', async () => {
    const own = 'audio: { baseUrl: "http://127.0.0.1:8000/v1", transcribe: { model: own-ears } }\n'
    const { warnings } = await read(
      'budgets: { total: { day: { usd: 5 } }, cheaperModel: anthropic/claude-haku-4-5 }',
      own,
    )
    expect(warnings).toEqual([
      'budgets.prices: anthropic/claude-haku-4-5 has no price, so it is counted in tokens alone; write { input: …, output: … } for it; did you mean `anthropic/claude-haiku-4-5`?',
      'budgets.prices: audio/own-ears has no price, so it is counted in tokens alone; write { input: …, output: … } for it',
    ])
    const ears =
      'budgets.prices: audio/own-ears has no price, so it is counted in tokens alone; write { input: …, output: … } for it'
    for (const budgets of ['total: { day: { tokens: 50000 } }', 'strangers: { each: { day: { tokens: 90000 } } }'])
      expect((await read(`budgets: { ${budgets} }`, own)).warnings).toEqual([ears])
    for (const none of ['', 'budgets: { strangers: unlimited }', 'budgets: { timezone: UTC }'])
      expect((await read(none, own)).warnings).toEqual([])
    const priced = 'budgets: { total: { day: { usd: 5 } }, prices: { audio/own-ears: { input: 0, output: 0 } } }'
    expect((await read(priced, own)).warnings).toEqual([])
  })

  it('C33: a price of a server that is not there is named before what has no price, which is not told to be written so', async () => {
    const { warnings } = await read(
      'budgets: { cheaperModel: ollama/qwen3, total: { day: { usd: 5 } }, prices: { olama/qwen3: { input: 0, output: 0 }, scripted/x: { input: 1, output: 1 }, openai/x: { input: 1, output: 1 } } }',
      'models: { ollama: { kind: openai, baseUrl: "http://127.0.0.1:11434/v1" } }\n',
    )
    expect(warnings).toEqual([
      'budgets.prices.olama/qwen3: models has no server olama; it has anthropic, ollama; did you mean `ollama`?',
      'budgets.prices: ollama/qwen3 has no price, so it is counted in tokens alone; write { input: …, output: … } for it',
    ])
  })

  it('C33: a limit that is less than one answer is named', async () => {
    const { warnings } = await read('budgets: { chat: { each: { day: { tokens: 1000, usd: 0.01 } } } }')
    expect(warnings).toEqual([
      'budgets.chat.each.day.tokens: is less than one answer may take (about 4596), so no call would be made',
      'budgets.chat.each.day.usd: is less than one answer may cost (about $0.042), so no call would be made',
    ])
  })
})
