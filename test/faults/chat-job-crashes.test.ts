import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { toolResult } from '../e2e/obedient.ts'
import { household, owner } from '../fakes/routing-policy.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, startScene } from './scene.ts'
import { UNKNOWN } from './tool-scripts.ts'

const WISH = { text: 'use the tool now', at: 'in 5 seconds', timezone: 'UTC', task: true }

/** Makes a task for later, which uses a tool once and says what it was told. */
const script: Script = (request) => {
  const result = toolResult(request)
  const said = lastUserText(request)
  if (result !== undefined) return textReply(result.includes('"task":true') ? 'it is noted' : `told: ${result}`)
  if (said.endsWith('goodbye')) return textReply('goodbye')
  const name = said.endsWith('use it later') ? 'schedule_create' : 'probe_once'
  return { blocks: [{ type: 'tool_use', name, input: name === 'probe_once' ? {} : WISH }] }
}

interface Case {
  readonly point: FailpointSpec
  readonly runs: number
  readonly told: string
}

const DONE = { runs: 1, told: 'once done' }

/** The first turn, and the first tool, is Ada's; the second that of the task. */
const CASES: readonly Case[] = [
  { point: 'CP9-tool-done-uncommitted', ...DONE },
  { point: 'CP7-tool-intent', ...DONE },
  { point: 'CP8-tool-running', ...DONE },
  { point: 'CP15-slot-claimed', ...DONE },
  { point: 'CP4-claimed:2', ...DONE },
  { point: 'CP6-model-answer-uncommitted:3', ...DONE },
  { point: 'CP8-tool-running:2', runs: 1, told: UNKNOWN },
  { point: 'CP7-tool-intent:2', runs: 0, told: UNKNOWN },
  { point: 'CP9-tool-done-uncommitted:2', runs: 1, told: UNKNOWN },
]

describe.concurrent('a kill around a task that was made in a chat', CASE, () => {
  for (const { point, runs, told } of rounds(CASES, 3)) {
    it(`F-E08, F-A06: ${point}: it is made once and runs once, its tool ${runs} times`, async (test) => {
      const scene = await startScene(test, {
        ...{ script, tools: ['schedule'] },
        routing: household({ people: [owner('ada', `telegram:${ADA}`)] }),
      })
      await scene.daemon.start(point)
      scene.telegram.world.say({ from: ADA, text: 'use it later' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent('it is noted')
      await scene.sent(`told: ${told}`)
      await scene.settle([ADA])
      const { events } = await scene.finish()
      expect(scene.texts(ADA).filter((text) => text.startsWith('told:'))).toHaveLength(1)
      expect(scene.probes()).toHaveLength(runs)
      const begun = events.filter(({ type, data }) => type === 'user_message' && data.includes(WISH.text))
      expect(begun).toHaveLength(1)
    })
  }
})
