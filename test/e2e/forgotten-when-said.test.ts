import { expect, it } from 'vitest'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { AwaitedLog } from './awaited-log.ts'
import { startHousehold } from './household.ts'

/** No timer of it ever ends. */
const WITHOUT_TIMERS: Clock = { ...systemClock, after: () => () => {} }

it('S41: what a running turn says is forgotten as soon as its send has an outcome; no clock is waited for', async () => {
  const gate = createGate()
  const script: Script = (request) => {
    const text = lastUserText(request)
    return text.includes('slowly') ? textReply('slow', { holds: [{ beforeDelta: 0, gate }] }) : textReply('heard')
  }
  const log = new AwaitedLog()
  const home = await startHousehold({ script, streaming: false, clock: WITHOUT_TIMERS, logger: log })
  const { world, ledger, faults } = home.telegram
  const { id: group } = world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444] })
  const say = async (text: string, chat = 111) => {
    const after = ledger.mark()
    world.say({ from: 111, text, chat })
    return (await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })).text
  }
  await say('it is so')
  world.say({ from: 111, text: 'slowly' })
  await gate.reached
  expect(await say('/forget chat yes')).toContain('I am still answering something there')

  const held = faults.add({ method: 'sendMessage', action: { kind: 'hold', when: 'after' } })
  gate.release()
  await held.reached
  // Forgetting has looked for the outcome by the time that another chat was answered.
  await say('@parley_bot hello', group)
  held.release()
  await log.line('Something was forgotten')
})
