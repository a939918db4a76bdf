import { describe, expect, it } from 'vitest'
import { load, refusal, TELEGRAM } from './loading.ts'

const ENV = { TOKEN: '5:AAtoken', OPENAI_API_KEY: 'sk-of-the-environment' }
const AGENT = 'agents: [{ id: main, model: openai/gpt-5.4 }]\n'
const warned = async (yaml: string) => (await load(`${TELEGRAM}${AGENT}${yaml}`, ENV)).config.warnings.join('\n')
const refused = (yaml: string) => refusal(`${TELEGRAM}${AGENT}${yaml}`, ENV)

describe('what is wrong with a setting is said', () => {
  it('the key of the audio endpoint in the file itself is a secret, and warned of', async () => {
    const { config } = await load(
      `${TELEGRAM}${AGENT}audio: { apiKey: "sk-canary-4711", speak: { model: tts-1 } }`,
      ENV,
    )
    expect(config.warnings.join('\n')).toContain('audio.apiKey: the secret stands in the file itself')
    expect(config.secrets?.map((one) => one.reveal())).toContain('sk-canary-4711')
  })

  it('the audio calls of OpenAI without a key, and an address that is too long', async () => {
    const say = 'speak: { model: tts-1 }'
    expect(await warned(`audio: { ${say} }`)).toContain('audio.apiKey: is not set, and api.openai.com answers nobody')
    expect(await warned(`audio: { baseUrl: "http://127.0.0.1:8000/v1", ${say} }`)).not.toContain('audio.apiKey')
    expect(await refused(`audio: { baseUrl: "http://127.0.0.1:8000/v1/audio/speech", ${say} }`)).toContain(
      'audio.baseUrl: ends before /audio; take that out',
    )
  })

  it('a cheaper model without a key, or of no provider', async () => {
    expect(await warned('budgets: { cheaperModel: anthropic/claude-haiku-4-5 }')).toContain(
      'budgets.cheaperModel: anthropic/claude-haiku-4-5 has no key and cannot answer',
    )
    expect(await refused('budgets: { cheaperModel: other/model }')).toContain(
      'budgets.cheaperModel: models has no server other',
    )
  })

  it('a rule of retention that matches nothing, and one that is never reached', async () => {
    const rules =
      '[{ match: { chat: Family }, days: 3 }, { match: {}, days: keep }, { match: { chat: "-7" }, days: 3 }]'
    const found = await warned(`retention: { rules: ${rules} }`)
    expect(found).toContain('retention.rules[0].match.chat: "Family" is no id')
    expect(found).toContain(
      'retention.rules[2]: is never reached, for retention.rules[1] (days: keep) matches all of it',
    )
  })

  it('a word that is none, where a number or a block may stand too', async () => {
    expect(await refused('retention: { rules: [{ match: {}, days: kep }] }')).toMatch(
      /days: must be a (whole )?number or keep; did you mean `keep`\?/,
    )
    expect(await refused('budgets: { strangers: none }')).toContain('must be a block of keys or unlimited')
    expect(await refused('budgets: { total: { day: 5 } }')).toContain('not a number; known: usd, tokens')
  })
})
