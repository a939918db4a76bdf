import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { connectLocal } from '../../src/cli/local-client.ts'
import { owner, policy } from '../fakes/routing-policy.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, BOB, KILLED, startScene } from './scene.ts'

/** Ada owns the agent; nobody else may talk. */
const routing = policy({ people: [owner('ada', `telegram:${ADA}`)] })
const [LINE, CARD] = ['only talk to people', 'asks to talk to me']

const POINTS = [
  ['CP1-received', 'nothing is stored', false],
  ['CP2-committed', 'the refusal is stored', false],
  ['CP10-outbox-planned', 'the line is planned', false],
  ['CP11-sending-committed', 'the first of line and card is begun', false],
  ['CP11-sending-committed:2', 'the second of line and card is begun', true],
  ['CP12-bytes-written', 'the first of them is on its way', true],
  ['CP13-response-read', 'the first of them has arrived, which nobody knows', true],
] as const

describe.concurrent('a kill while a stranger is refused', CASE, () => {
  for (const [point, what, unknown] of rounds(POINTS, 2)) {
    it(`F-A14: ${what} (${point}): the stranger reads the line and the owner the card, once but for what was under way`, async (test) => {
      const scene = await startScene(test, { routing, model: 'scripted/echo' })
      const armed = join(dirname(scene.socketPath), 'armed')
      await scene.daemon.start(point, armed)
      const { world } = scene.telegram
      world.say({ from: ADA, text: 'hello' })
      await scene.sent('echo hello', { chat: ADA })
      const daemon = await connectLocal(scene.socketPath)
      await test.expect.poll(async () => (await daemon?.status())?.outbox).toEqual({ sent: 1 })
      writeFileSync(armed, '')
      world.say({ from: BOB, text: 'let me in' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent(LINE, { chat: BOB })
      await scene.sent(CARD, { chat: ADA })
      // Behind a further word of each nothing is owed.
      world.say({ from: BOB, text: 'please' })
      await scene.settle([ADA])
      const { inbox } = await scene.finish()
      const count = (chat: number, words: string) => scene.texts(chat).filter((text) => text.includes(words)).length
      const most = unknown ? 2 : 1
      expect(count(BOB, LINE)).toBeLessThanOrEqual(most)
      expect(count(ADA, CARD)).toBeLessThanOrEqual(most)
      expect(inbox.filter(({ outcome }) => outcome === 'answered')).toHaveLength(2)
    })
  }
})
