import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { Database } from '../../src/store/engines/sqlite-driver.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, type Scene, startScene } from './scene.ts'
import { asksFor, UNKNOWN } from './tool-scripts.ts'

/** Longer than a turn waits for an answer. */
const WAITED_MS = 121_000
const asks = asksFor('probe_beyond')
const script: Script = (request, at) =>
  lastUserText(request).endsWith('goodbye') ? textReply('goodbye') : asks(request, at)

interface Case {
  readonly point: FailpointSpec
  readonly runs: number
  readonly told: string
}

const CASES: readonly Case[] = [
  { point: 'CP18-approval-decided', runs: 1, told: 'once done' },
  { point: 'CP4-claimed', runs: 1, told: 'once done' },
  // The intent alone is on record: it may have run, so it is not run again.
  { point: 'CP7-tool-intent', runs: 0, told: UNKNOWN },
  { point: 'CP8-tool-running', runs: 1, told: UNKNOWN },
  { point: 'CP9-tool-done-uncommitted', runs: 1, told: UNKNOWN },
  { point: 'CP6-model-answer-uncommitted', runs: 1, told: 'once done' },
]

/** Moves its questions into the past while no daemon runs, so that the next start continues without an answer. */
function age(scene: Scene): void {
  const database = new Database(join(scene.socketPath, '../parley.db'))
  database.prepare('UPDATE approvals SET asked_at = asked_at - ?').run(WAITED_MS)
  database.close()
}

describe.concurrent('a kill around a call that was allowed late', CASE, () => {
  for (const { point, runs, told } of rounds(CASES, 3)) {
    it(`F-H07, S8: ${point}: made ${runs} times in one later turn, the model is told "${told}"`, async (test) => {
      const scene = await startScene(test, { script })
      const { world } = scene.telegram
      await scene.daemon.start('CP17-approval-asked')
      world.say({ from: ADA, text: 'use your tool' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      age(scene)
      await scene.daemon.start()
      const { text: card } = await scene.sent('May I use')
      await scene.sent('told: Not yet approved')
      await scene.daemon.terminate()
      await scene.daemon.start(point)
      world.say({ from: ADA, text: `/approve ${/\/approve (\w+)/.exec(card)?.[1]}` })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent(`told: ${told}`)
      await scene.settle([ADA])
      await scene.finish()
      const said = scene.texts(ADA)
      expect(said.filter((text) => text.startsWith('told: ') && !text.includes('Not yet'))).toHaveLength(1)
      expect(said.filter((text) => text.includes('May I use'))).toHaveLength(1)
      expect(scene.probes()).toHaveLength(runs)
    })
  }
})
