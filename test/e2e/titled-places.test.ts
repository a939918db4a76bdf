import { expect, it } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import { toScheduleId } from '../../src/core/ids.ts'
import type { ConfiguredSchedule, CronDefinition } from '../../src/core/schedule.ts'
import { type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import type { TelegramServer } from '../../src/rehearsal/telegram/server.ts'
import { AwaitedLog } from './awaited-log.ts'
import { type Household, startHousehold } from './household.ts'

const CLUB = -1001000000001
const BLOCKED = { ok: false, error_code: 403, description: 'Forbidden: bot was kicked from the supergroup chat' }

interface Club extends Household {
  readonly topic: number
  readonly log: AwaitedLog
}

/** A forum with the topic Rowing, to which a schedule delivers. */
async function club(script: Script = () => textReply('noted')): Promise<Club> {
  let topic = 0
  const schedules = ({ world }: TelegramServer): readonly ConfiguredSchedule[] => {
    world.addChat({ type: 'supergroup', title: 'Club', id: CLUB, forum: true, members: [111, 444] })
    topic = world.addTopic({ chat: CLUB, name: 'Rowing' })
    const definition: CronDefinition = {
      ...{ cron: '0 8 * * *', timezone: 'UTC', prompt: 'Good morning', deliverTo: rowing(topic) },
      missed: { kind: 'skip' },
      overlap: 'skip',
    }
    return [{ id: toScheduleId('morning'), definition }]
  }
  const log = new AwaitedLog()
  const house = await startHousehold({ script, schedules, streaming: false, logger: log })
  return { ...house, topic, log }
}

function rowing(topic: number) {
  return parseAddress(`telegram:group:${CLUB}/${topic}`)
}

it('a place is called by its title in why, status and the list of schedules, with its address beside', async () => {
  const { telegram, daemon, topic, log } = await club()
  const { world, ledger, faults } = telegram
  const answer = { kind: 'answer', when: 'before', status: 403, body: BLOCKED } as const
  const refused = faults.add({ method: 'sendMessage', action: answer })
  const { message_id: id } = world.say({ from: 444, chat: CLUB, topic, text: '@parley_bot when do we row?' })
  await refused.reached
  expect((await log.line('Answered')).fields).toMatchObject({ where: 'Club › Rowing', person: 'Bob' })

  const address = `telegram:group:${CLUB}/${topic}`
  const place = { address, title: 'Club › Rowing' }
  expect(await daemon.operator.why(String(id))).toMatchObject([{ messageId: String(id), ...place }])
  await expect
    .poll(async () => (await daemon.operator.status()).undelivered)
    .toMatchObject([{ state: 'rejected', ...place }])
  expect(await daemon.operator.schedules.list()).toMatchObject([{ deliverTo: address, deliverTitle: 'Club › Rowing' }])

  world.say({ from: 111, chat: 111, text: `/why ${id} trace` })
  const explained = await ledger.nextFromBot('sent', { where: ({ chatId }) => chatId === 111 })
  expect(explained.text).toContain(`in Club › Rowing (${address})`)
  expect(ledger.calls('sendMessage').at(-1)?.params.text).toContain(`<code>Club › Rowing</code> (${address})`)
})

it('the present title of a place is nothing for somebody who may be out of it by now', async () => {
  const { telegram, topic } = await club()
  const { world, ledger } = telegram
  const { message_id: id } = world.say({ from: 444, chat: CLUB, topic, text: '@parley_bot when do we row?' })
  await ledger.nextFromBot('sent', { where: ({ chatId }) => chatId === CLUB })
  world.renameTopic({ chat: CLUB, topic, name: 'Secret', by: 111 })
  world.say({ from: 111, chat: CLUB, topic, text: '@parley_bot noted?' })
  await ledger.nextFromBot('sent', { where: ({ chatId, text }) => chatId === CLUB && text === 'noted' })
  world.say({ from: 444, text: `/why ${id} trace` })
  const { text } = await ledger.nextFromBot('sent', { where: ({ chatId }) => chatId === 444 })
  expect(text).toContain(`in telegram:group:${CLUB}/${topic}`)
  expect(text).not.toContain('Secret')
})

it('the line of a turn that waited names the place as it is called when the turn begins', async () => {
  const gate = createGate()
  const { telegram, topic, log } = await club(async () => {
    await gate.pass()
    return textReply('noted')
  })
  const { world } = telegram
  world.say({ from: 444, chat: CLUB, topic, text: '@parley_bot first' })
  await gate.reached
  world.renameTopic({ chat: CLUB, topic, name: 'Boats', by: 111 })
  world.say({ from: 111, chat: CLUB, topic, text: '@parley_bot second' })
  const decided = () => log.lines.filter(({ sentence }) => sentence === 'A message was decided')
  await expect.poll(() => decided().length).toBe(2)
  gate.release()
  const answered = () => log.lines.filter(({ sentence }) => sentence === 'Answered').map(({ fields }) => fields.where)
  await expect.poll(answered).toEqual(['Club › Rowing', 'Club › Boats'])
})

it('a renamed topic is called by its new name from the next message there', async () => {
  const { telegram, daemon, topic } = await club()
  const { world, ledger } = telegram
  const titleAfter = async (text: string): Promise<string | undefined> => {
    const mark = ledger.mark()
    world.say({ from: 444, chat: CLUB, topic, text: `@parley_bot ${text}` })
    await ledger.nextFromBot('sent', { after: mark })
    const { sessions } = await daemon.operator.sessions.list({ limit: 5, offset: 0, inactive: false })
    return sessions[0]?.title
  }
  expect(await titleAfter('hello')).toBe('Club › Rowing')
  world.renameTopic({ chat: CLUB, topic, name: 'Boats', by: 444 })
  expect(await titleAfter('hello again')).toBe('Club › Boats')
  expect(await titleAfter('and again')).toBe('Club › Boats')
})

it('a direct chat is named by its person', async () => {
  const { telegram, daemon } = await club()
  const { message_id: id } = telegram.world.say({ from: 111, text: 'hello' })
  await telegram.ledger.nextFromBot('sent', { where: ({ chatId }) => chatId === 111 })
  expect(await daemon.operator.why(String(id))).toMatchObject([{ address: 'telegram:direct:111', title: 'Ada' }])
})
