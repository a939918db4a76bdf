import { describe, expect, it } from 'vitest'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { AwaitedLog } from './awaited-log.ts'
import { type Household, startHousehold } from './household.ts'

async function answered({ telegram }: Household, text: string, timeoutMs = 15_000): Promise<void> {
  telegram.world.say({ from: 111, text })
  await telegram.ledger.nextFromBot('sent', { where: (entry) => entry.text === `echo ${text}`, timeoutMs })
}

function sentTexts({ telegram }: Household, chat: number): string[] {
  return telegram.world.messages(chat, { by: 'bot' }).map(({ message }) => message.text ?? '')
}

describe('trouble while receiving', () => {
  it('F-B04: another poller takes the line: the alarm names it, and receiving goes on without a restart', async () => {
    const logger = new AwaitedLog()
    const house = await startHousehold({ logger })
    const { apiRoot, token } = house.telegram
    await fetch(`${apiRoot}/bot${token}/getUpdates?timeout=0`)
    const down = await logger.line('Telegram is down.')
    expect(down.fields.detail).toMatch(/another instance polls this token/)
    await answered(house, 'are you back?')
    expect(await house.daemon.operator.status()).toMatchObject({ channels: [{ status: 'up' }] })
  })

  it('F-B04: an answer that is ready leaves while another poller holds the line', async () => {
    const logger = new AwaitedLog()
    const gate = createGate()
    const script = () => textReply('at last', { holds: [{ beforeDelta: 0, gate }] })
    const house = await startHousehold({ logger, script })
    const { faults, world, ledger } = house.telegram
    const conflict = { ok: false, error_code: 409, description: 'Conflict: terminated by other getUpdates request' }
    const body = JSON.stringify(conflict)
    const times = Number.POSITIVE_INFINITY
    world.say({ from: 111, text: 'hello' })
    await gate.reached
    // Ends the long poll that waits by now.
    world.say({ from: 444, text: 'and I?' })
    faults.add({ method: 'getUpdates', times, action: { kind: 'answer', when: 'before', status: 409, body } })
    await logger.line('Telegram is down.')
    gate.release()
    await ledger.nextFromBot('sent', { where: ({ chatId }) => chatId === 111 })
    expect(await house.daemon.operator.status()).toMatchObject({ channels: [{ status: 'down' }] })
  })

  it('F-C09: a token that is refused while running takes the channel down, and it recovers without a restart', async () => {
    const logger = new AwaitedLog()
    const house = await startHousehold({ logger })
    const body = { ok: false, error_code: 401, description: 'Unauthorized' }
    const refused = house.telegram.faults.add({
      method: 'getUpdates',
      times: 2,
      action: { kind: 'answer', when: 'before', status: 401, body },
    })
    await answered(house, 'before')
    const down = await logger.line('Telegram is down.')
    expect(down.fields.detail).toMatch(/refuses the token/)
    await answered(house, 'after')
    expect(refused.hits).toBe(2)
    expect(await house.daemon.operator.status()).toMatchObject({ channels: [{ status: 'up' }] })
    expect(logger.lines.filter(({ sentence }) => sentence === 'Telegram is down.')).toHaveLength(1)
  })

  it('F-G05: update ids far lower than before are taken as new messages', async () => {
    const house = await startHousehold()
    const { world, ledger } = house.telegram
    const message = world.say({ from: 111, text: 'one' })
    await ledger.confirmed(ledger.updateIdOf(message))
    world.setNextUpdateId(0)
    await answered(house, 'two')
    await answered(house, 'three')
    expect(sentTexts(house, 111)).toEqual(['echo one', 'echo two', 'echo three'])
  })

  it('F-G10: updates of unknown kind and malformed ones are counted, and what comes behind them is answered', async () => {
    const house = await startHousehold()
    const { world } = house.telegram
    world.raw({ update: { poll: { id: '1', question: 'so?' } } })
    world.raw({ update: { brand_new_kind: {} } })
    world.raw({ update: { message: 17 } })
    const id = world.raw({ update: { message: { message_id: 'x', chat: null } } })
    world.raw({ update: `{"update_id":${id + 1}}` })
    await answered(house, 'still there?')
    const { channels } = await house.daemon.operator.status()
    expect(channels[0]?.unknown).toEqual({
      'update:poll': 1,
      'update:brand_new_kind': 1,
      'malformed:message': 2,
      'update:other': 1,
    })
  })
})
