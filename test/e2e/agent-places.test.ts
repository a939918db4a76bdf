import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import type { Tool } from '../../src/core/turn.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { agents, member, owner, policy } from '../fakes/routing-policy.ts'
import { recorded, startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'
import { setClock } from './set-clock.ts'

const GROUP = -1001000000001
const HOUR_MS = 3_600_000

const script: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`it says: ${result}`)
  const said = lastUserText(request)
  const [, name, input] = /(schedule_create|pay) (\{.*\})/s.exec(said) ?? []
  if (name === undefined || input === undefined) return textReply('fine')
  return { blocks: [{ type: 'tool_use', name, input: JSON.parse(input) }] }
}

async function household(place: string, changes: Partial<RoutingPolicy>) {
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
      agents: [
        { id: toAgentId('main'), ...made },
        { id: toAgentId('work'), ...made },
      ],
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
  const heard = async (after: number) =>
    (await ledger.nextFromBot('sent', { after, where: (one) => /it says/.test(one.text) })).text
  const say = async (text: string, chat: number): Promise<string> => {
    const after = ledger.mark()
    world.say({ from: 444, chat, text: `@parley_bot ${text}` })
    return heard(after)
  }
  const scheduled = async (text: string, chat: number): Promise<string> => {
    expect(await say(`schedule_create ${JSON.stringify({ text, every: '1h', task: true })}`, chat)).toContain(
      '"creator":"bob"',
    )
    await recorded(house)
    const after = ledger.mark()
    clock.skip(HOUR_MS)
    return heard(after)
  }
  return { paid, say, scheduled }
}

const PLACES: readonly (readonly [string, string, number, Partial<RoutingPolicy>])[] = [
  [
    'a group of an agent that is not the default one',
    `agent:work:telegram:group:${GROUP}`,
    GROUP,
    { agents: agents('main', 'work'), dispatch: [{ match: { chat: String(GROUP) }, agent: 'work' }] },
  ],
  ['a group where each sender has a session', `telegram:group:${GROUP}`, GROUP, { dimensions: ['chat', 'sender'] }],
  [
    'a group of such an agent where each sender has a session',
    `agent:work:telegram:group:${GROUP}`,
    GROUP,
    {
      dimensions: ['chat', 'sender'],
      agents: agents('main', 'work'),
      dispatch: [{ match: { chat: String(GROUP) }, agent: 'work' }],
    },
  ],
  ['the one session of a person', 'direct:bob', 444, { direct: 'person' }],
]

for (const [name, place, chat, changes] of PLACES)
  it(`R36: what is denied in ${name} is denied in what was scheduled there`, async () => {
    const { say, scheduled, paid } = await household(place, changes)
    expect(await say('pay {"to":"now"}', chat)).toContain('Denied')
    expect(await scheduled('pay {"to":"cy"}', chat)).toContain('Denied')
    expect(paid).toEqual([])
  })
