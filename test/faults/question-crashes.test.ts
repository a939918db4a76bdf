import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { toolResult } from '../e2e/obedient.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, startScene } from './scene.ts'

interface Case {
  readonly point: FailpointSpec
  /** The kill comes before the question is answered. */
  readonly before?: true
}

const script: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`told: ${result}`)
  if (lastUserText(request).endsWith('goodbye')) return textReply('goodbye')
  return { blocks: [{ type: 'tool_use', name: 'ask', input: { question: 'Which colour?', choices: ['Red', 'Blue'] } }] }
}

const CASES: readonly Case[] = [
  { point: 'CP7-tool-intent', before: true },
  { point: 'CP21-question-asked', before: true },
  { point: 'CP22-question-answered' },
  { point: 'CP23-question-told' },
  { point: 'CP9-tool-done-uncommitted' },
]

describe.concurrent('a kill around a question', CASE, () => {
  for (const { point, before } of rounds(CASES, 3)) {
    it(`F-H07: ${point}: asked once, answered once, and the model is told the answer once`, async (test) => {
      const scene = await startScene(test, { script })
      const { world } = scene.telegram
      await scene.daemon.start(point)
      world.say({ from: ADA, text: 'ask me' })
      if (before) {
        expect(await scene.daemon.exited()).toEqual(KILLED)
        await scene.daemon.start()
      }
      const { text: card } = await scene.sent('Which colour')
      world.say({ from: ADA, text: `/answer ${/\/answer (\w+)/.exec(card)?.[1]} 2` })
      if (!before) {
        expect(await scene.daemon.exited()).toEqual(KILLED)
        await scene.daemon.start()
      }
      expect((await scene.sent('told: ')).text).toContain('chose: Blue')
      await scene.telegram.ledger.nextFromBot('edited', { where: ({ text }) => text.includes('Answered by') })
      expect(scene.anthropic.ledger.requests(), 'the step is not asked for again').toHaveLength(2)
      await scene.settle([ADA])
      await scene.finish()
      expect(scene.texts(ADA).filter((text) => text.includes('Which colour'))).toHaveLength(1)
    })
  }
})
