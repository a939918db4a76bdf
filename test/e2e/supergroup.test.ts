import { describe, expect, it } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import { toAgentId, toScheduleId } from '../../src/core/ids.ts'
import type { CronDefinition } from '../../src/core/schedule.ts'
import { type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { AwaitedLog } from './awaited-log.ts'
import { addFamily, ask, family, GROUP, lastPrompt } from './family-group.ts'
import { heldHook } from './held-hook.ts'
import { toolResult } from './obedient.ts'
import { setClock } from './set-clock.ts'

describe('a group that becomes a supergroup', () => {
  it.each([[['leaving', 'arriving'] as const], [['arriving', 'leaving'] as const], [['arriving'] as const]])(
    'F-C07: messages before and after are one session, told by %j',
    async (tell) => {
      const log = new AwaitedLog()
      const house = await family({ logger: log })
      await ask(house, GROUP, 'one')
      const before = await house.daemon.operator.sessions.show(`telegram:group:${GROUP}`)
      const { id } = house.telegram.world.migrate(GROUP, { tell })
      const answer = await ask(house, id, 'two')
      expect(answer).toMatchObject({ chatId: id, text: expect.stringContaining('two') })
      expect(lastPrompt(house)).toContain('heard [Bob] @parley_bot one')
      const { sessions, total } = await house.daemon.operator.sessions.list({ limit: 10, offset: 0, inactive: true })
      expect([total, sessions[0]?.id, sessions[0]?.key]).toEqual([1, before.id, `telegram:group:${id}`])
      const after = await house.daemon.operator.sessions.show(`telegram:group:${GROUP}`)
      expect(after).toMatchObject({ id: before.id, metadata: { chat_id: String(id) } })
      expect(after.scope).toMatchObject({ values: { chat: `group:${id}` } })
      expect(log.lines.filter(({ sentence }) => sentence.includes('new id'))).toHaveLength(1)
    },
  )

  it('F-C07: what is said in it is answered where the notice comes with the same poll', async () => {
    const house = await family()
    const { world, ledger } = house.telegram
    world.say({ from: 444, chat: GROUP, text: '@parley_bot one' })
    const { id } = world.migrate(GROUP)
    world.say({ from: 444, chat: id, text: '@parley_bot two' })
    await ledger.nextFromBot('sent', { where: ({ chatId, text }) => chatId === id && text.includes('two') })
    expect(await house.daemon.operator.admissions.list()).toEqual([])
  })

  it('F-C07, R8: what a hook holds while its group gets a new id is said in the conversation that it had', async () => {
    const [{ hook, asked, answer }, log] = [
      await heldHook('before_save', { held: '@parley_bot two' }),
      new AwaitedLog(),
    ]
    const house = await family({ logger: log, config: { hooks: [hook] } })
    const { world, ledger } = house.telegram
    await ask(house, GROUP, 'one')
    world.say({ from: 444, chat: GROUP, text: '@parley_bot two' })
    await asked
    const { id } = world.migrate(GROUP)
    await log.line('A group has a new id; change it in the configuration where it is named')
    answer()
    await ledger.nextFromBot('sent', { where: ({ chatId, text }) => chatId === id && text.includes('two') })
    expect(lastPrompt(house)).toContain('heard [Bob] @parley_bot one')
    expect((await house.daemon.operator.sessions.list({ limit: 10, offset: 0, inactive: true })).total).toBe(1)
  })

  it('F-C07: after a restart the rule still holds, and the log says what to write', async () => {
    const log = new AwaitedLog()
    const house = await family({ logger: log })
    await ask(house, GROUP, 'one')
    const { id } = house.telegram.world.migrate(GROUP)
    await ask(house, id, 'two')
    await house.restart()
    await ask(house, id, 'three')
    expect(lastPrompt(house)).toContain('one')
    expect((await log.line('A setting is doubtful')).fields).toEqual({
      warning: `routing.access.groups[0].match.chat: ${GROUP} is the former id of the chat; write ${id}`,
    })
  })

  it('F-C07: a send that finds it out first moves everything, and is sent once', async () => {
    const gate = createGate()
    const house = await family({ script: () => textReply('done', { holds: [{ beforeDelta: 0, gate }] }) })
    house.telegram.world.say({ from: 444, chat: GROUP, text: '@parley_bot work' })
    await gate.reached
    const mark = house.telegram.ledger.mark()
    const { id } = house.telegram.world.migrate(GROUP, { tell: [] })
    gate.release()
    const sent = await house.telegram.ledger.nextFromBot('sent', { after: mark })
    expect(sent).toMatchObject({ chatId: id, text: 'done' })
    await house.restart()
    expect(await house.daemon.operator.sessions.show(`telegram:group:${id}`)).toMatchObject({ turns: 1 })
    expect(house.telegram.world.messages(id).filter(({ botId }) => botId !== null)).toHaveLength(1)
  })

  it('F-C07: schedules go to the new chat, before and after a restart, whatever the configuration calls it', async () => {
    const clock = setClock('2026-01-10T07:59:00Z')
    const deliverTo = parseAddress(`telegram:group:${GROUP}`)
    const daily: CronDefinition = {
      cron: '0 8 * * *',
      timezone: 'UTC',
      prompt: 'Good morning.',
      deliverTo,
      missed: { kind: 'once' },
      overlap: 'skip',
    }
    const house = await family({
      clock,
      schedules: ({ world }) => {
        addFamily(world)
        return [{ id: toScheduleId('morning'), definition: daily }]
      },
    })
    const { telegram } = house
    const { id } = telegram.world.migrate(GROUP)
    await ask(house, id, 'two')
    const morning = async (at: string) => {
      const after = telegram.ledger.mark()
      clock.set(at)
      const where = ({ text }: { readonly text: string }) => text.includes('Good morning')
      return telegram.ledger.nextFromBot('sent', { after, where })
    }
    expect(await morning('2026-01-10T08:00:05Z')).toMatchObject({ chatId: id })
    expect((await house.daemon.operator.schedules.list())[0]).toMatchObject({ deliverTo: `telegram:group:${id}` })
    await house.restart()
    expect(await morning('2026-01-11T08:00:05Z')).toMatchObject({ chatId: id })
  })
})

it('F-C07, S7: a question is answered where its group is by then', async () => {
  const script: Script = (request) => {
    const result = toolResult(request)
    if (result !== undefined) return textReply(`it says: ${result}`)
    return { blocks: [{ type: 'tool_use', name: 'ask', input: { question: 'Which?', choices: ['Red', 'Blue'] } }] }
  }
  const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['ask'] }]
  const house = await family({ script, config: { agents } })
  const { world, ledger } = house.telegram
  world.say({ from: 444, chat: GROUP, text: '@parley_bot ask' })
  const card = await ledger.nextFromBot('sent', { where: ({ text }) => text.includes('Which?') })
  const code = /\/answer (\w+)/.exec(card.text)?.[1]
  const after = ledger.mark()
  const { id } = world.migrate(GROUP, { tell: ['leaving', 'arriving'] })
  world.say({ from: 444, chat: id, text: `/answer@parley_bot ${code} 2` })
  await ledger.nextFromBot('sent', { after, where: ({ chatId, text }) => chatId === id && text.includes('Noted') })
})
