import { expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { startHousehold } from './household.ts'

const numbers = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at)

it('F-D02: of 500 messages in one chat 100 wait for the turn, the rest is refused and told once, and another chat is answered meanwhile', async () => {
  const gate = createGate()
  const script: Script = (request) => {
    const text = lastUserText(request)
    if (text.includes('slow')) return textReply('at last', { holds: [{ beforeDelta: 0, gate }] })
    return textReply(text.includes('said 1') ? 'heard them' : `heard ${text}`)
  }
  const { telegram, daemon, anthropic } = await startHousehold({ script, streaming: false })
  const { world, ledger } = telegram
  world.say({ from: 444, text: 'slow' })
  await gate.reached
  const said = numbers(1, 500).map((number) => world.say({ from: 444, text: `said ${number}.` }))
  world.say({ from: 111, text: 'and I?' })
  await ledger.nextFromBot('sent', { where: ({ chatId, text }) => chatId === 111 && text === 'heard and I?' })
  for (const message of said.slice(-1)) await ledger.confirmed(ledger.updateIdOf(message))
  gate.release()
  await ledger.nextFromBot('sent', { where: ({ text }) => text === 'heard them' })

  const outcomes = await Promise.all(
    said.map(async ({ message_id }) => (await daemon.operator.why(String(message_id)))[0]?.outcome),
  )
  expect(outcomes).toEqual(numbers(1, 500).map((number) => (number <= 100 ? 'answered' : 'refused: queue_full')))
  const texts = world.messages(444, { by: 'bot' }).map(({ message }) => message.text)
  expect(texts.filter((text) => text?.includes('more messages waiting'))).toHaveLength(1)
  expect(texts).toHaveLength(3)
  const [, , together] = anthropic?.ledger.requests().map(lastUserText) ?? []
  expect(together?.split('\n').filter((line) => line.includes('said'))).toHaveLength(100)
})
