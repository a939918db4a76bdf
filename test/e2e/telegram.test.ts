import { describe, expect, it } from 'vitest'
import { startHousehold } from './household.ts'

describe('Telegram, end to end', () => {
  it("answers the owner's direct message", async () => {
    const { telegram, daemon } = await startHousehold()
    telegram.world.say({ from: 111, text: 'hello' })
    const answer = await telegram.ledger.nextFromBot('sent')
    expect(answer).toMatchObject({ chatId: 111, text: 'echo hello' })
    const [why] = await daemon.operator.why(String(answer.messageId - 1))
    expect(why).toMatchObject({ decision: 'run', reason: 'direct' })
  })
})
