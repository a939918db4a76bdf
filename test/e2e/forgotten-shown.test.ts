import { describe, expect, it } from 'vitest'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { setClock } from './set-clock.ts'

const CANARY = 'zq9canary-4711'
const DAY_MS = 86_400_000

describe('what a platform still shows of what was forgotten', () => {
  it('S41: an edit of a command that was forgotten leaves no byte', async () => {
    const { home, world, say, exchange } = await forgettingHouse()
    const { id } = await exchange(`/remember my code is ${CANARY}`)
    await say('/forget me yes')
    expect(holding(home.dataDir, CANARY)).toEqual([])
    world.edit({ chat: 111, message: id, text: `/remember my code is ${CANARY} still` })
    await say('and now?')
    expect(holding(home.dataDir, CANARY)).toEqual([])
  })

  it('S41: a reply to a command that was forgotten quotes nothing of it', async () => {
    const { home, say, exchange, prompt } = await forgettingHouse()
    const { id } = await exchange(`/remember my code is ${CANARY}`)
    await say('/forget me yes')
    await say('what was that?', { replyTo: id })
    expect(prompt()).not.toContain(CANARY)
    expect(holding(home.dataDir, CANARY)).toEqual([])
  })

  it('S41: a reply to an answer that is too old to be deleted leaves no byte of it', async () => {
    const clock = setClock('2026-11-01T08:00:00Z')
    const { home, world, say, prompt } = await forgettingHouse({ clock })
    await say(`my code is ${CANARY}`)
    const replyTo = world.messages(111, { by: 'bot' }).at(-1)?.message.message_id ?? 0
    clock.skip(3 * DAY_MS)
    await say('/forget 80h yes')
    await say('what was that?', { replyTo })
    expect(prompt()).not.toContain(CANARY)
    expect(holding(home.dataDir, CANARY)).toEqual([])
  })
})

describe('the clock is set back before something is forgotten', () => {
  it('S41: /forget last takes what was said last, and not what was said before it', async () => {
    const clock = setClock('2026-11-01T08:00:00Z')
    const { home, say, prompt } = await forgettingHouse({ clock })
    await say('keep this word')
    clock.skip(3_600_000)
    await say(`my code is ${CANARY}`)
    clock.setBy(-1_800_000)
    await say('/forget last')
    await say('and now?')
    expect(prompt()).toContain('keep this word')
    expect(prompt()).not.toContain(CANARY)
    expect(holding(home.dataDir, CANARY)).toEqual([])
  })

  it.each(['/forget chat yes', '/forget me yes', '/forget 2h yes'])(
    'S41: %s takes what was said before',
    async (asked) => {
      const clock = setClock('2026-11-01T08:00:00Z')
      const { home, say, prompt } = await forgettingHouse({ clock })
      await say(`my code is ${CANARY}`)
      clock.setBy(-1_800_000)
      await say(asked)
      await say('and now?')
      expect(prompt()).not.toContain(CANARY)
      expect(holding(home.dataDir, CANARY)).toEqual([])
    },
  )
})
