import { describe, expect, it } from 'vitest'
import { owner, policy } from '../fakes/routing-policy.ts'
import { discordPlace } from './other-platforms.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, BOB, KILLED, startScene } from './scene.ts'

/** Ada owns the agent by her Telegram id alone; nobody else may talk. */
const routing = policy({ people: [owner('ada', `telegram:${ADA}`)] })

describe.concurrent('a kill while somebody is let in', CASE, () => {
  for (const point of rounds(['CP4-claimed:2', 'CP10-outbox-planned:4'] as const, 2)) {
    it(`what was said before the admission is answered once (${point})`, async (test) => {
      const scene = await startScene(test, { routing, model: 'scripted/echo' })
      await scene.daemon.start(point)
      const { world } = scene.telegram
      world.say({ from: ADA, text: 'hello' })
      await scene.sent('echo hello', { chat: ADA })
      world.say({ from: BOB, text: 'let me in' })
      const card = await scene.sent('asks to talk to me', { chat: ADA })
      await scene.sent('only talk to people', { chat: BOB })
      world.say({ from: ADA, text: `/admit ${/\/admit ([a-z0-9]{5})/.exec(card.text)?.[1]}` })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent('echo let me in', { chat: BOB })
      world.say({ from: BOB, text: 'thank you' })
      await scene.sent('echo thank you', { chat: BOB })
      await scene.telegram.ledger.nextFromBot('edited', { where: ({ text }) => text.includes('Let in by ada') })
      // The edit of the card may be done a second time, before whatever is said next there.
      await scene.settle([ADA])
      await scene.finish()
      const heard = scene.texts(BOB).filter((text) => text.endsWith('echo let me in'))
      expect(heard).toHaveLength(1)
    })
  }
})

describe.concurrent('a kill while ids are joined', CASE, () => {
  for (const point of rounds(['CP19-ids-linked'] as const)) {
    it(`F-H12: the link is whole, and whoever typed the code is told (${point})`, async (test) => {
      const discord = await discordPlace({}, 'direct')
      test.onTestFinished(() => discord.close())
      const scene = await startScene(test, { routing, model: 'scripted/echo', others: [discord] })
      const heard = discord.listening({ after: discord.mark() })
      await scene.daemon.start(point)
      await heard
      scene.telegram.world.say({ from: ADA, text: '/link' })
      const shown = await scene.sent('Within ten minutes', { chat: ADA })
      discord.say(`/link ${/\b(\w{5}-\w{5})\b/.exec(shown.text)?.[1]}`)
      expect(await scene.daemon.exited()).toEqual(KILLED)
      const again = discord.listening({ after: discord.mark() })
      await scene.daemon.start()
      await again
      await discord.sent('You are ada to me here too')
      await scene.sent('/unlink discord:222', { chat: ADA })
      discord.say('hello')
      await discord.sent('echo hello')
    })
  }
})
