import { describe, expect, it } from 'vitest'
import { lastUserText, textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, startScene } from './scene.ts'
import { asksFor, UNKNOWN } from './tool-scripts.ts'

interface Case {
  readonly id: string
  readonly point: FailpointSpec
  readonly tool: 'pure' | 'keyed' | 'once'
  /** Executions in all. */
  readonly runs: number
  readonly told: string
}

const CASES: readonly Case[] = [
  { id: 'F-A06', point: 'CP7-tool-intent', tool: 'pure', runs: 1, told: 'pure done' },
  { id: 'F-A06', point: 'CP7-tool-intent', tool: 'keyed', runs: 1, told: 'keyed done' },
  // The intent alone is on record: it may have run, so it is not run again, and the model is told to check.
  { id: 'F-A06', point: 'CP7-tool-intent', tool: 'once', runs: 0, told: UNKNOWN },
  { id: 'F-A07', point: 'CP8-tool-running', tool: 'once', runs: 1, told: UNKNOWN },
  { id: 'F-A07', point: 'CP9-tool-done-uncommitted', tool: 'once', runs: 1, told: UNKNOWN },
  { id: 'F-A07', point: 'CP8-tool-running', tool: 'pure', runs: 2, told: 'pure done' },
  { id: 'F-A07', point: 'CP9-tool-done-uncommitted', tool: 'keyed', runs: 2, told: 'keyed done' },
]

const POSITIONS = [1, 2, 3, 4, 5] as const

describe.concurrent('a kill around a tool', CASE, () => {
  for (const { id, point, tool, runs, told } of rounds(CASES, 3)) {
    it(`${id}: a ${tool} tool (${point}): ${runs} executions in all, the model is told "${told}"`, async (test) => {
      const scene = await startScene(test, { script: asksFor(`probe_${tool}`) })
      await scene.daemon.start(point)
      scene.telegram.world.say({ from: ADA, text: 'use your tool' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent(`told: ${told}`)
      await scene.finish()
      expect(scene.texts(ADA)).toEqual([`told: ${told}`])
      expect(scene.probes()).toHaveLength(runs)
      expect(new Set(scene.probes().map(({ callId }) => callId)).size).toBe(Math.min(runs, 1))
      expect(scene.anthropic.ledger.requests(), 'the step is not asked for again').toHaveLength(2)
    })
  }

  for (const position of rounds(POSITIONS, 5)) {
    it(`F-A08: five calls side by side, killed at result ${position}: every later request is well paired`, async (test) => {
      const scene = await startScene(test, { script: asksFor('probe_pure', 5) })
      await scene.daemon.start(`CP9-tool-done-uncommitted:${position}`)
      scene.telegram.world.say({ from: ADA, text: 'use them all' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent('told: pure done')
      scene.anthropic.setScript((request) => textReply(`heard ${lastUserText(request)}`))
      for (const text of ['one', 'two', 'three']) {
        scene.telegram.world.say({ from: ADA, text })
        await scene.sent(`heard ${text}`)
      }
      await scene.finish()
    })
  }
})
