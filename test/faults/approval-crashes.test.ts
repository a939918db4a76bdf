import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, startScene } from './scene.ts'
import { asksFor, UNKNOWN } from './tool-scripts.ts'

interface Case {
  readonly point: FailpointSpec
  /** The kill comes before the question is answered. */
  readonly before?: true
  readonly runs: number
  readonly told: string
}

const asks = asksFor('probe_beyond')
const script: Script = (request, at) =>
  lastUserText(request).endsWith('goodbye') ? textReply('goodbye') : asks(request, at)

const CASES: readonly Case[] = [
  { point: 'CP17-approval-asked', before: true, runs: 1, told: 'once done' },
  { point: 'CP18-approval-decided', runs: 1, told: 'once done' },
  // The intent alone is on record: it may have run, so it is not run again.
  { point: 'CP7-tool-intent', runs: 0, told: UNKNOWN },
  { point: 'CP8-tool-running', runs: 1, told: UNKNOWN },
  { point: 'CP9-tool-done-uncommitted', runs: 1, told: UNKNOWN },
]

describe.concurrent('a kill around an approval', CASE, () => {
  for (const { point, before, runs, told } of rounds(CASES, 3)) {
    it(`F-H07: ${point}: asked once, made ${runs} times, the model is told "${told}"`, async (test) => {
      const scene = await startScene(test, { script })
      const { world } = scene.telegram
      await scene.daemon.start(point)
      world.say({ from: ADA, text: 'use your tool' })
      if (before) {
        expect(await scene.daemon.exited()).toEqual(KILLED)
        await scene.daemon.start()
      }
      const { text: card } = await scene.sent('May I use')
      world.say({ from: ADA, text: `/approve ${/\/approve (\w+)/.exec(card)?.[1]}` })
      if (!before) {
        expect(await scene.daemon.exited()).toEqual(KILLED)
        await scene.daemon.start()
      }
      await scene.sent(`told: ${told}`)
      await scene.telegram.ledger.nextFromBot('edited', { where: ({ text }) => text.includes('Allowed once by') })
      expect(scene.anthropic.ledger.requests(), 'the step is not asked for again').toHaveLength(2)
      // The edit of the card may be done a second time, before whatever is said next there.
      await scene.settle([ADA])
      await scene.finish()
      expect(scene.texts(ADA).filter((text) => text.includes('May I use'))).toHaveLength(1)
      expect(scene.probes()).toHaveLength(runs)
    })
  }
})
