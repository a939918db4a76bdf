import { expect, it } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import { toAgentId, toScheduleId } from '../../src/core/ids.ts'
import type { ConfiguredSchedule } from '../../src/core/schedule.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { recorded, startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'
import { setClock } from './set-clock.ts'

const HOUR_MS = 3_600_000
const [CLUB, FAMILY] = [-1001000000099, -2001]

/** The first run of the schedule reads what was said in private; others say that they have nothing. */
const script: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`it says ${result}`)
  const first = lastUserText(request).includes('Tell the news') && request.messages.length === 1
  if (!first) return textReply('heard')
  return { blocks: [{ type: 'tool_use', name: 'session_search', input: { query: 'surprise' } }] }
}

function news(to: string): readonly ConfiguredSchedule[] {
  const deliverTo = parseAddress(to)
  const rest = { timezone: 'UTC', prompt: 'Tell the news.', missed: { kind: 'once' }, overlap: 'skip' } as const
  return [{ id: toScheduleId('news'), definition: { ...rest, cron: '0 * * * *', deliverTo } }]
}

async function house(to: string) {
  const clock = setClock('2026-11-24T09:20:00Z')
  const agents = [
    { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Talk.', tools: ['memory', 'sessions'] },
  ]
  const home = await startHousehold({
    ...{ script, clock, streaming: false, config: { agents } },
    schedules: ({ world }) => {
      world.addChat({ type: 'supergroup', title: 'Club', id: CLUB, members: [111, 444] })
      world.addChat({ type: 'group', title: 'Family', id: FAMILY, members: [111, 444] })
      return news(to)
    },
  })
  const { world, ledger } = home.telegram
  const next = async (act: () => void) => {
    const after = ledger.mark()
    act()
    const { chatId, text } = await ledger.nextFromBot('sent', { after })
    await recorded(home)
    return { chatId, text }
  }
  return {
    ...{ home, world, next },
    run: () => next(() => clock.skip(HOUR_MS)),
    prompt: () => JSON.stringify(home.anthropic?.ledger.requests().at(-1)?.messages),
  }
}

it('F-H11: a schedule that delivers to a group from now on brings nothing along that it read for one person', async () => {
  const { home, world, next, run, prompt } = await house('telegram:direct:111')
  await next(() => world.say({ from: 111, text: 'the surprise party is on Sunday' }))
  expect((await run()).text).toContain('on Sunday')
  await home.restart({ schedules: news(`telegram:group:${CLUB}`) })
  expect((await run()).chatId).toBe(CLUB)
  expect(prompt()).toContain('Tell the news')
  expect(prompt()).not.toContain('on Sunday')
  expect(await home.daemon.operator.sessions.show('cron:news')).toMatchObject({ turns: 1 })
  await run()
  expect(await home.daemon.operator.sessions.show('cron:news')).toMatchObject({ turns: 2 })
})

it('F-C07: a schedule goes on in the session that it has when its group gets another id', async () => {
  const { home, world, run } = await house(`telegram:group:${FAMILY}`)
  expect((await run()).chatId).toBe(FAMILY)
  const { id } = world.migrate(FAMILY)
  await expect.poll(async () => (await run()).chatId).toBe(id)
  expect(await home.daemon.operator.sessions.show('cron:news')).toMatchObject({ id: 'schedule:news' })
})
