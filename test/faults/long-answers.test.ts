import { describe, expect, it } from 'vitest'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, startScene } from './scene.ts'

/** Each fills a message of its own. */
const CHUNKS = Array.from({ length: 8 }, (_, index) => `part ${index + 1} ${'x'.repeat(4000)}`)
const LAST = 'part 8'

const BETWEEN: readonly FailpointSpec[] = ['CP14-between-chunks', 'CP14-between-chunks:4', 'CP14-between-chunks:7']

describe.concurrent('a kill in an answer of eight messages', CASE, () => {
  for (const point of rounds(BETWEEN, 2)) {
    it(`F-A15: between two messages (${point}): the rest follows, none twice`, async (test) => {
      const scene = await startScene(test, { script: () => textReply(CHUNKS.join('\n\n')) })
      await scene.daemon.start(point)
      scene.telegram.world.say({ from: ADA, text: 'at length, please' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent(LAST)
      await scene.finish()
      expect(scene.texts(ADA)).toEqual(CHUNKS)
      expect(scene.anthropic.ledger.requests()).toHaveLength(1)
    })
  }

  for (const point of rounds<FailpointSpec>(['CP13-response-read:4'])) {
    it(`F-A15: inside the fourth send (${point}): that one comes again, marked, and order is kept`, async (test) => {
      const scene = await startScene(test, { script: () => textReply(CHUNKS.join('\n\n')) })
      await scene.daemon.start(point)
      scene.telegram.world.say({ from: ADA, text: 'at length, please' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent(LAST)
      await scene.finish()
      const expected = CHUNKS.toSpliced(4, 0, `(repeat) ${CHUNKS[3]}`)
      expect(scene.texts(ADA)).toEqual(expected)
    })
  }
})
