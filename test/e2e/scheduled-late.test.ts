import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { member, owner } from '../fakes/routing-policy.ts'
import { codeOf, GROUP, leftOpen } from './asking-household.ts'
import { startHousehold } from './household.ts'
import { callIn, callText, toolResult } from './obedient.ts'
import { setClock } from './set-clock.ts'

const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['schedule', 'bank'] }]
const REMIND = callText('schedule_create', { text: 'stretch', at: 'tomorrow at 9' })
const pay: Tool = {
  class: 'once',
  spec: { name: 'pay', description: 'Pays.', parameters: { type: 'object', properties: {} } },
  run: async () => 'paid',
}

/** Does what anybody says, after a payment what else was said; what says "slow" waits for the gate. */
const script =
  (gate: ReturnType<typeof createGate>): Script =>
  (request) => {
    const result = toolResult(request)
    if (result !== undefined && result !== 'paid') return textReply(`it says: ${result}`)
    if (result === 'paid') return callIn(lastSaid(request, REMIND)) ?? textReply('it says: paid')
    const text = lastUserText(request)
    if (text.includes('slow')) return { ...textReply('heard'), holds: [{ beforeDelta: 0, gate }] }
    return callIn(text) ?? textReply('heard')
  }

const lastSaid = ({ messages }: Parameters<Script>[0], words: string): string =>
  JSON.stringify(messages).includes(JSON.stringify(words).slice(1, -1)) ? words : ''

it('T32: a reminder is of whoever asked for it, also in a turn that makes a call which another person was late allowed', async () => {
  const [clock, gate] = [setClock('2026-11-23T10:00:00Z'), createGate()]
  const { telegram, daemon } = await startHousehold({
    ...{ script: script(gate), streaming: false, clock, tools: { bank: [pay] }, config: { agents } },
    routing: {
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'allowlist', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
    },
  })
  const { world, ledger } = telegram
  world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, 444] })
  const heard = (chat: number, words: string, after = 0) =>
    ledger.nextFromBot('sent', { after, where: ({ chatId, text }) => chatId === chat && text.includes(words) })
  world.say({ from: 111, text: 'hello' })
  await heard(111, 'heard')
  const text = `@parley_bot ${callText('pay', {})}`
  // The card is shown where it was asked: nobody but the owner has spoken there.
  const there = (_chat: number, words: string, after?: number) => heard(GROUP, words, after)
  const card = await leftOpen({ world, heard: there, ledger }, clock, { from: 111, chat: GROUP, text })
  world.say({ from: 111, chat: GROUP, text: '@parley_bot slow' })
  await gate.reached
  world.say({ from: 444, chat: GROUP, text: `@parley_bot ${REMIND}` })
  await expect.poll(async () => (await daemon.operator.status()).waiting).toBe(1)
  world.say({ from: 111, chat: GROUP, text: `/approve ${codeOf(card)}` })
  await expect.poll(async () => (await daemon.operator.status()).waiting).toBe(2)
  const after = ledger.mark()
  gate.release()
  expect((await heard(GROUP, 'it says', after)).text).toContain('"creator":"bob"')
})
