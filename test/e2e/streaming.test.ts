import { describe, expect, it } from 'vitest'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startHousehold } from './household.ts'

describe('a reply that grows', () => {
  it('is one message, edited until it is whole', async () => {
    const text = 'A sentence that takes its time. '.repeat(12).trim()
    const { telegram } = await startHousehold({ script: () => textReply(text, { delayMs: 60 }) })
    telegram.world.say({ from: 111, text: 'tell me' })
    const whole = await telegram.ledger.nextFromBot('edited', { where: (entry) => entry.text === text })
    expect(telegram.world.messages(111, { by: 'bot' })).toHaveLength(1)
    expect(telegram.ledger.calls('sendMessage')).toHaveLength(1)
    expect(whole.text).toBe(text)
  })
})
