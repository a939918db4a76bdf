import { expect, it } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { toAgentId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import { type Script, textReply } from '../../src/rehearsal/openai/script.ts'
import { rehearse } from '../rehearsal/openai/rehearsal.ts'
import { codeOf } from './asking-household.ts'
import { startHousehold } from './household.ts'

/** A household whose model server gives calls the ids that it likes, as some compatible ones do. */
async function house(script: Script) {
  const openai = await rehearse({ script, models: ['local'] })
  const paid: string[] = []
  const pay: Tool = {
    class: 'once',
    spec: { name: 'pay', description: 'Pays.', parameters: { type: 'object', properties: { to: { type: 'string' } } } },
    async run(args) {
      paid.push((args as { to: string }).to)
      return 'paid'
    },
  }
  const started = await startHousehold({
    streaming: false,
    config: {
      agents: [{ id: toAgentId('main'), model: 'openai/local', prompt: 'Obey.', tools: ['bank'] }],
      models: { openai: { kind: 'openai', apiKey: new Secret(openai.apiKey), baseUrl: openai.baseUrl } },
    },
    tools: { bank: [pay] },
  })
  const { world, ledger } = started.telegram
  const heard = (words: string, after = 0) =>
    ledger.nextFromBot('sent', { after, where: ({ text }) => text.includes(words) })
  const say = async (text: string, words: string): Promise<string> => {
    const after = ledger.mark()
    world.say({ from: 111, text })
    return (await heard(words, after)).text
  }
  return { ...started, openai, paid, say, heard, ledger }
}

const call = (to: string, id = 'call_0') => ({ type: 'tool_call', name: 'pay', arguments: { to }, id }) as const
const results = (messages: readonly { readonly role: string }[]): number =>
  messages.filter(({ role }) => role === 'tool').length

it('S7: a yes is good for one call, though a model server gives the next the same id', async () => {
  const { say, heard, ledger, paid } = await house(({ messages }) =>
    results(messages) < 2 && messages.some(({ content }) => JSON.stringify(content ?? '').includes('go on'))
      ? { parts: [call('cy')] }
      : textReply('done'),
  )
  const card = await say('go on', 'May I use')
  const after = ledger.mark()
  await say(`/approve ${codeOf(card)}`, 'Allowed')
  const second = (await heard('May I use', after)).text
  expect(codeOf(second)).not.toBe(codeOf(card))
  expect(paid).toEqual(['cy'])
})

it('S7: two calls of one id in one step are two questions', async () => {
  const { say, heard, ledger, paid } = await house(({ messages }) =>
    results(messages) === 0 && messages.some(({ content }) => JSON.stringify(content ?? '').includes('go on'))
      ? { parts: [call('cy'), call('cy')] }
      : textReply('done'),
  )
  const after = ledger.mark()
  const card = await say('go on', 'May I use')
  const second = (
    await ledger.nextFromBot('sent', {
      after,
      where: ({ text }) => text.includes('May I use') && codeOf(text) !== codeOf(card),
    })
  ).text
  await say(`/approve ${codeOf(card)}`, 'Allowed')
  const then = ledger.mark()
  await say(`/deny ${codeOf(second)}`, 'Refused')
  await heard('done', then)
  expect(paid).toEqual(['cy'])
})
