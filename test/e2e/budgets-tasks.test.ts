import { describe, expect, it } from 'vitest'
import type { BudgetConfig } from '../../src/core/budget.ts'
import { toAgentId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'
import { setClock } from './set-clock.ts'

const usage = { input_tokens: 450, output_tokens: 50 }

/** Reads a page, has a task done or pays, when somebody says so; each call costs 500 tokens. */
const script: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`it says ${result}`, { usage })
  const [, verb] = /(read|task|pay)$/.exec(lastUserText(request)) ?? []
  if (verb === undefined) return textReply('work done', { usage })
  const name = { read: 'read_page', task: 'task', pay: 'pay' }[verb] ?? ''
  return { blocks: [{ type: 'tool_use', name, input: verb === 'task' ? { task: 'work' } : {} }], usage }
}

const pay: Tool = {
  class: 'once',
  spec: { name: 'pay', description: 'Pays.', parameters: { type: 'object' } },
  run: async () => 'paid',
}

const page: Tool = {
  ...{ class: 'pure', reach: 'inside', foreign: true },
  spec: { name: 'read_page', description: 'Reads.', parameters: { type: 'object' } },
  run: async () => 'a page',
}

/** A household in which somebody reads a page and has a task done then; `say` returns the answer. */
async function house(budgets: Partial<BudgetConfig>, clock = setClock('2026-11-26T12:00:00Z')) {
  const { telegram } = await startHousehold({
    ...{ script, streaming: false, clock, tools: { books: [page, pay] } },
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'public', groups: [] },
    }),
    config: {
      agents: [
        {
          ...{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Be calm.', answerTokens: 100 },
          tools: ['books', 'task'],
        },
      ],
      budgets: { timezone: 'UTC', warnAt: 1, prices: { 'anthropic/rehearsal': { input: 1, output: 1 } }, ...budgets },
    },
  })
  const { world, ledger } = telegram
  const heard = async (chat: number, words = '', after = 0): Promise<string> =>
    (await ledger.nextFromBot('sent', { after, where: ({ chatId, text }) => chatId === chat && text.includes(words) }))
      .text
  const say = (from: number, text: string, words?: string): Promise<string> => {
    const after = ledger.mark()
    world.say({ from, text })
    return heard(from, words, after)
  }
  return { say, heard, ledger }
}

describe('who pays for a task', () => {
  it('C33, F-I12: no stranger, where the turn that began it had read a page', async () => {
    const spent = { day: { tokens: 100 } }
    const { say } = await house({ strangers: { each: spent, together: spent } })
    expect(await say(111, 'read')).toContain('a page')
    expect(await say(111, 'task')).toContain('work done')
  })

  it('C33, F-I12: whoever has asked for it, where their conversation holds words of others as well', async () => {
    const { say } = await house({ person: { only: { bob: { day: { tokens: 50_000 } } } } })
    expect(await say(444, 'read')).toContain('a page')
    expect(await say(444, 'task')).toContain('work done')
    expect(await say(444, '/budget')).toContain('bob, day: 2,500 of 50,000')
  })

  it('C33: whoever has asked, for the turn in which a call is made that was allowed late', async () => {
    const clock = setClock('2026-11-26T12:00:00Z')
    const { say, heard, ledger } = await house({ person: { only: { bob: { day: { tokens: 50_000 } } } } }, clock)
    await say(111, 'hello')
    const waits = clock.timerOf(120_000, 5_000)
    const after = ledger.mark()
    await say(444, 'pay', 'I have asked my owner')
    const [, code] = /\/approve (\w+)/.exec(await heard(111, 'May I use', after)) ?? []
    await waits
    clock.skip(120_000)
    await heard(444, 'it says Not yet approved', after)
    const late = ledger.mark()
    await say(111, `/approve ${code}`, 'I do it now')
    await heard(444, 'it says paid', late)
    expect(await say(444, '/budget')).toContain('bob, day: 1,500 of 50,000')
  })
})
