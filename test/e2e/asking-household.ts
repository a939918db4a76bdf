import { parseAddress } from '../../src/core/address.ts'
import type { ToolRule } from '../../src/core/approval.ts'
import { toAgentId, toScheduleId } from '../../src/core/ids.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import type { Tool } from '../../src/core/turn.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { AwaitedLog } from './awaited-log.ts'
import { startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'
import type { SetClock } from './set-clock.ts'

export const GROUP = -1001000000001
const agentOf = (id: string) => ({
  ...{ id: toAgentId(id), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['bank', 'sessions'] },
})

/**
 * Pays when somebody says so, with `x800` behind a name to that name as often, and says what came of it; what it is
 * shown of an earlier turn, it does not do again. What says `slowly` waits for the gate.
 */
const scripted =
  (gate = createGate()): Script =>
  (request) => {
    const result = toolResult(request)
    if (result !== undefined) return textReply(`it says: ${result}`)
    if (lastUserText(request).endsWith('write to bob'))
      return {
        blocks: [
          { type: 'tool_use', name: 'sessions_send', input: { sessionKey: 'telegram:direct:444', message: 'hi' } },
        ],
      }
    if (lastUserText(request).endsWith('slowly')) return { ...textReply('fine'), holds: [{ beforeDelta: 0, gate }] }
    const [, to, times = '1'] = /pay (\w+)(?: x(\d+))?$/.exec(lastUserText(request)) ?? []
    if (to === undefined) return textReply('fine')
    return { blocks: [{ type: 'tool_use', name: 'pay', input: { to: to.repeat(Number(times)) } }] }
  }

/**
 * Ada owns the agent and has spoken, unless not `met`. Bob is a member, anybody may talk to it; `paid` is who was paid.
 */
export async function askingHousehold(
  more: {
    rules?: readonly ToolRule[]
    clock?: SetClock
    met?: false
    gate?: ReturnType<typeof createGate>
    routing?: Partial<RoutingPolicy>
  } = {},
) {
  const agents = (more.routing?.agents ?? ['main']).map(agentOf)
  const paid: string[] = []
  const log = new AwaitedLog()
  const pay: Tool = {
    class: 'once',
    spec: { name: 'pay', description: 'Pays.', parameters: { type: 'object', properties: { to: { type: 'string' } } } },
    async run(args) {
      paid.push((args as { to: string }).to)
      return 'paid'
    },
  }
  const house = await startHousehold({
    ...{ script: scripted(more.gate), streaming: false, logger: log, tools: { bank: [pay] } },
    ...(more.clock ? { clock: more.clock } : {}),
    config: { agents, ...(more.rules ? { toolPolicy: more.rules } : {}) },
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
      ...more.routing,
    }),
    schedules: ({ world }) => {
      world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, 444, 555] })
      return [
        {
          id: toScheduleId('rent'),
          definition: {
            ...{ cron: '0 8 1 1 *', timezone: 'UTC', prompt: 'pay landlord', overlap: 'skip' },
            ...{ deliverTo: parseAddress('telegram:direct:111'), missed: { kind: 'skip' } },
          },
        },
      ]
    },
  })
  const { world, ledger } = house.telegram
  const heard = (chat: number, words: string, after = 0) =>
    ledger.nextFromBot('sent', { after, where: ({ chatId, text }) => chatId === chat && text.includes(words) })
  const say = async (from: number, text: string, words: string, chat = from): Promise<string> => {
    const after = ledger.mark()
    world.say({ from, text, ...(chat === from ? {} : { chat }) })
    return (await heard(chat, words, after)).text
  }
  if (more.met !== false) await say(111, 'hello', 'fine')
  return { ...house, world, ledger, paid, heard, say, log }
}

export const codeOf = (card: string): string => /\/approve (\w+)/.exec(card)?.[1] ?? ''

/** How long a turn waits for the yes of a person, and how far the timer of it may be off. */
const WAITS = [120_000, 5_000] as const

/** Has somebody ask for a payment, lets nobody answer in time, and returns the card: the turn continues without it. */
export async function leftOpen(
  { world, heard, ledger }: Pick<Asking, 'world' | 'heard' | 'ledger'>,
  clock: SetClock,
  {
    from = 111,
    chat = from,
    text = 'pay cy',
  }: { readonly from?: number; readonly chat?: number; readonly text?: string } = {},
): Promise<string> {
  const waits = clock.timerOf(...WAITS)
  const after = ledger.mark()
  world.say({ from, text, ...(chat === from ? {} : { chat }) })
  const card = await heard(111, 'May I use', after)
  await waits
  clock.skip(WAITS[0])
  await heard(chat, 'Not yet approved', after)
  return card.text
}

type Asking = Awaited<ReturnType<typeof askingHousehold>>
