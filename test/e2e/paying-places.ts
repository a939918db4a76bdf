import { expect } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import type { Tool } from '../../src/core/turn.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { recorded, startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'
import { setClock } from './set-clock.ts'

export const GROUP = -1001000000001
const HOUR_MS = 3_600_000

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

/** Bob may pay everywhere but in `place`; `paid` is who was paid. There are two agents, `main` and `work`. */
export async function payingPlaces(place: string, changes: Partial<RoutingPolicy> = {}) {
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
  const made = { model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['bank', 'schedule', 'task'] }
  const house = await startHousehold({
    ...{ script, clock, streaming: false, tools: { bank: [pay] } },
    config: {
      agents: ['main', 'work'].map((id) => ({ id: toAgentId(id), ...made })),
      toolPolicy: [
        { tools: ['pay'], who: ['everybody'], in: [place], action: 'deny' },
        { tools: ['pay'], who: ['member'], action: 'allow' },
      ],
    },
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
      ...changes,
    }),
  })
  const { world, ledger } = house.telegram
  world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, 444] })
  const heard = async (after: number, chat: number): Promise<string> =>
    (await ledger.nextFromBot('sent', { after, where: (one) => one.chatId === chat && /it says/.test(one.text) })).text
  /** Bob says something in a chat and is told what came of it. */
  const say = async (text: string, chat: number): Promise<string> => {
    const after = ledger.mark()
    world.say({ from: 444, chat, text: `@parley_bot ${text}` })
    return heard(after, chat)
  }
  /** Has Bob schedule the text there, lets an hour pass and returns what the run says. */
  const scheduled = async (text: string, chat: number): Promise<string> => {
    const wish = JSON.stringify({ text, every: '1h', task: true })
    expect(await say(`schedule_create ${wish}`, chat)).toContain('"creator":"bob"')
    await recorded(house)
    const after = ledger.mark()
    clock.skip(HOUR_MS)
    return heard(after, chat)
  }
  return { paid, say, scheduled }
}
