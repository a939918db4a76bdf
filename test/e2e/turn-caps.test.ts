import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { type Reply, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type Household, startHousehold } from './household.ts'

const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: '', tools: [] }]
const queue = { max: 100, busy: 'queue' } as const
const REACHED = /^This conversation has had as many turns as it may have; \/new starts a fresh one\. \(tr_/

async function say({ telegram }: Pick<Household, 'telegram'>, text: string): Promise<string> {
  const mark = telegram.ledger.mark()
  telegram.world.say({ from: 111, text })
  return (await telegram.ledger.nextFromBot('sent', { after: mark })).text
}

it('C10, C12, C13: a turn beyond the cap calls no model and says so; failed calls are not counted, starts change nothing', async () => {
  const refused: Reply = { error: { status: 400, type: 'invalid_request_error' } }
  const script: Script = (request) =>
    JSON.stringify(request.messages.at(-1)).includes('fail') ? refused : textReply('fine')
  const config = { agents, session: { queue, turnCap: { chat: 2 } } }
  const home = await startHousehold({ script, config, streaming: false })
  expect(await say(home, 'fail')).toMatch(/^My language model did not take/)
  expect([await say(home, 'one'), await say(home, 'two')]).toEqual(['fine', 'fine'])
  const asked = home.anthropic?.ledger.requests().length
  expect(await say(home, 'three')).toMatch(REACHED)
  const daemon = await home.restart()
  expect(await say(home, 'four')).toMatch(REACHED)
  expect(home.anthropic?.ledger.requests()).toHaveLength(asked ?? 0)

  const [session] = (await daemon.operator.sessions.list({ limit: 1, offset: 0, inactive: false })).sessions
  const { events } = await daemon.operator.sessions.history(session?.id ?? '', { limit: 100 })
  expect(events.slice(-3).map(({ type }) => type)).toEqual([
    'user_message',
    'session:turn_started',
    'session:turn_completed',
  ])
  expect(events.at(-1)?.text).toBe('failed: turn_limit')
  expect(await say(home, '/new')).toMatch(/^Done/)
  expect(await say(home, 'five')).toBe('fine')
})
