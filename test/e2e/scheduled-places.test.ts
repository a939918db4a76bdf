import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { recorded, startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'
import { setClock } from './set-clock.ts'

const GROUP = -1001000000001
const HOUR_MS = 3_600_000
const TASK = 'hand it to a task: pay {"to":"cy"}'

/** Calls the tool that a message names, in a task where it says so; in a task it does what the task says. */
const script: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`it says: ${result}`)
  const said = lastUserText(request)
  const [, name, input] = /(schedule_create|pay) (\{.*\})/s.exec(said) ?? []
  if (name === undefined || input === undefined) return textReply('fine')
  if (said.includes('hand it to a task') && name !== 'schedule_create')
    return { blocks: [{ type: 'tool_use', name: 'task', input: { task: `${name} ${input}` } }] }
  return { blocks: [{ type: 'tool_use', name, input: JSON.parse(input) }] }
}

/** Bob may pay everywhere but in the group. */
async function household() {
  const paid: string[] = []
  const pay: Tool = {
    class: 'once',
    spec: { name: 'pay', description: 'Pays.', parameters: { type: 'object', properties: { to: { type: 'string' } } } },
    async run(args) {
      paid.push((args as { to: string }).to)
      return 'paid'
    },
  }
  const clock = setClock('2026-11-24T09:20:00Z')
  const tools = ['bank', 'schedule', 'task']
  const house = await startHousehold({
    ...{ script, clock, streaming: false, tools: { bank: [pay] } },
    config: {
      agents: [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools }],
      toolPolicy: [
        { tools: ['pay'], who: ['everybody'], in: [`telegram:group:${GROUP}`], action: 'deny' },
        { tools: ['pay'], who: ['member'], action: 'allow' },
      ],
    },
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
    }),
  })
  const { world, ledger } = house.telegram
  world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, 444] })
  /** Has Bob schedule the text there, lets an hour pass and returns what the run says. */
  const scheduled = async (text: string, chat: number): Promise<string> => {
    const heard = async (after: number) =>
      (await ledger.nextFromBot('sent', { after, where: (one) => one.chatId === chat && /it says/.test(one.text) }))
        .text
    const wish = JSON.stringify({ text, every: '1h', task: true })
    let after = ledger.mark()
    world.say({ from: 444, chat, text: `@parley_bot schedule_create ${wish}` })
    expect(await heard(after)).toContain('"creator":"bob"')
    await recorded(house)
    after = ledger.mark()
    clock.skip(HOUR_MS)
    return heard(after)
  }
  return { paid, scheduled }
}

it('R36: what is denied in a chat is denied in what somebody has scheduled there', async () => {
  const { scheduled, paid } = await household()
  expect(await scheduled('pay {"to":"cy"}', GROUP)).toContain('Denied')
  expect(paid).toEqual([])
  expect(await scheduled('pay {"to":"dan"}', 444)).toContain('paid')
})

it('R36: and in a task that a scheduled run begins', async () => {
  const { scheduled, paid } = await household()
  expect(await scheduled(TASK, GROUP)).toContain('Denied')
  expect(paid).toEqual([])
})
