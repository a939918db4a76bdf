import { expect, it } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { toAgentId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import type { EndedEntry } from '../../src/rehearsal/openai/ledger-entries.ts'
import { lastUserText, REFUSALS, type Script, textReply } from '../../src/rehearsal/openai/script.ts'
import { DOT } from '../fakes/pictures.ts'
import { rehearse } from '../rehearsal/openai/rehearsal.ts'
import { startHousehold } from './household.ts'

const camera: Tool = {
  spec: { name: 'photograph', description: 'Takes a picture.', parameters: { type: 'object' } },
  class: 'pure',
  reach: 'inside',
  run: async (_, { keep }) => ({ content: [{ type: 'text', text: 'Here it is.' }, await keep(DOT, 'garden.png')] }),
}

/** Asks for a picture when somebody says "look", and says what it saw once it has one. */
const looking: Script = ({ messages }) => {
  if (messages.some(({ role }) => role === 'tool') && messages.at(-1)?.role === 'user') return textReply('A garden.')
  return { parts: [{ type: 'tool_call', name: 'photograph', arguments: {} }] }
}

async function house(script: Script, model = 'openai/gpt-5.4', prompt = 'You are Parley.') {
  const openai = await rehearse({ script, models: ['gpt-5.4', 'local'] })
  const agent = { id: toAgentId('main'), model, prompt, tools: ['camera'] }
  const models = { openai: { kind: 'openai' as const, apiKey: new Secret(openai.apiKey), baseUrl: openai.baseUrl } }
  const started = await startHousehold({
    streaming: false,
    config: { agents: [agent], models },
    tools: { camera: [camera] },
  })
  return {
    ...started,
    openai,
    /** Says a word and resolves with the answer, once it was sent. */
    async say(text: string): Promise<string> {
      const mark = started.telegram.ledger.mark()
      started.telegram.world.say({ from: 111, text })
      return (await started.telegram.ledger.nextFromBot('sent', { after: mark })).text
    },
  }
}

it.each(['openai/gpt-5.4', 'openai/local'])('a turn with a tool and its picture, by %s', async (model) => {
  const { say, openai, telegram } = await house(looking, model)

  expect(await say('look')).toBe('A garden.')

  const shown = openai.ledger.requests().at(-1)?.messages ?? []
  expect(shown.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'user'])
  expect(shown.at(-1)?.content).toMatchObject([
    { type: 'text', text: 'From a tool: [image: garden.png, image/png, 70 B]' },
    { type: 'image_url', image_url: { url: expect.stringMatching(/^data:image\/png;base64,/) } },
  ])
  expect(openai.ledger.count(({ kind }) => kind === 'refused')).toBe(0)
  expect(telegram.world.messages(111, { by: 'bot' })).toHaveLength(1)
})

it('what was said is shown again with the next turn', async () => {
  const { say, openai } = await house((request) => textReply(`echo ${lastUserText(request)}`))

  expect(await say('one')).toBe('echo one')
  expect(await say('two')).toBe('echo two')

  expect(openai.ledger.requests().at(-1)?.messages).toMatchObject([
    { role: 'system', content: expect.stringContaining('You are Parley.') },
    { role: 'user', content: expect.stringMatching(/one$/) },
    { role: 'assistant', content: 'echo one' },
    { role: 'user', content: expect.stringMatching(/two$/) },
  ])
})

it('a spent quota is told to the owner and the operator with its remedy', async () => {
  const { say, daemon } = await house(() => REFUSALS.quota)

  expect(await say('hi')).toMatch(
    /^The model openai\/gpt-5\.4 cannot answer: .*Check the plan and the credit of the key\./,
  )

  expect((await daemon.operator.status()).modelServers).toMatchObject([
    { name: 'openai', troubles: [{ models: ['gpt-5.4'], code: 'model_no_credit' }] },
  ])
})

it('a long prompt is read from the cache with the second turn, and counted so', async () => {
  const prompt = 'You are Parley. '.repeat(400)
  const { say, openai } = await house(() => textReply('fine'), 'openai/local', prompt)

  await say('one')
  await say('two')

  const ended = openai.ledger.all((entry): entry is EndedEntry => entry.kind === 'ended')
  expect(ended.at(-1)?.usage?.prompt_tokens_details.cached_tokens).toBeGreaterThan(1024)
})
