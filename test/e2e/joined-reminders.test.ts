import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'

/** Calls the tool that it is told to, and says what came of it. */
const script: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`it says: ${result}`)
  const [, name, id] = /(schedule_list|schedule_cancel) ?(\w+)?$/.exec(lastUserText(request)) ?? []
  if (name === undefined) return textReply('fine')
  return { blocks: [{ type: 'tool_use', name, input: id === undefined ? {} : { id } }] }
}

async function house(routing: Partial<RoutingPolicy>) {
  const home = await startHousehold({
    ...{ script, streaming: false },
    config: { agents: [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['schedule'] }] },
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
      ...routing,
    }),
  })
  const { world, ledger } = home.telegram
  const { id: group } = world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444] })
  const say = async (from: number, text: string, chat = from): Promise<string> => {
    const after = ledger.mark()
    world.say({ from, text, ...(chat === from ? {} : { chat }) })
    return (await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })).text
  }
  const shown = () => JSON.stringify(home.anthropic?.ledger.requests().map(({ messages }) => messages))
  return { say, group, shown }
}

it('T32: a reminder of one person alone is listed in no conversation that others share', async () => {
  const { say, shown } = await house({ scope: 'global' })
  await say(444, '/remind in 2 hours buy the ring')
  expect(await say(444, 'schedule_list')).toContain('it says: {"schedules":[]}')
  expect(await say(444, '/remind list')).toContain('buy the ring')
  expect(shown()).not.toContain('buy the ring')
})

it('T32: a reminder of one person alone is listed to them where nobody else is', async () => {
  const { say } = await house({})
  await say(444, '/remind in 2 hours buy the ring')
  expect(await say(444, 'schedule_list')).toContain('buy the ring')
})

it('T32: a reminder that is cancelled from elsewhere shows nothing of its text there', async () => {
  const { say, group, shown } = await house({})
  const [, first] = /cancel (\w+)/.exec(await say(444, '/remind in 2 hours buy the ring')) ?? []
  const [, second] = /cancel (\w+)/.exec(await say(444, '/remind in 3 hours buy the ring')) ?? []
  const told = await say(444, `@parley_bot schedule_cancel ${first}`, group)
  expect(told).toContain(`"id":"${first}"`)
  expect(told).not.toContain('buy the ring')
  expect(shown()).not.toContain('buy the ring')
  expect(await say(444, `/remind@parley_bot cancel ${second}`, group)).toMatch(/^Cancelled: .*of another conversation/)
  expect(await say(444, '/remind list')).toContain('There is no reminder here')
})
