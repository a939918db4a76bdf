import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, type Scene, startScene } from './scene.ts'

function numbered(): Script {
  let no = 0
  return (request) => textReply(`answer ${++no} to ${lastUserText(request).split('\n').at(-1)}`)
}

interface Case {
  readonly point: FailpointSpec
  readonly what: string
}

const UNDO: readonly Case[] = [
  { point: 'CP20-exchange-taken-back', what: 'it is recorded, and nothing is deleted yet' },
  { point: 'CP11-sending-committed:3', what: 'the deletion is begun' },
]
const RETRY: readonly Case[] = [...UNDO, { point: 'CP4-claimed:3', what: 'the turn is claimed once more' }]

/** Ada asks two things, and the daemon dies of what she says then; the next one starts. */
async function dieOf(scene: Scene, command: string, point: FailpointSpec): Promise<void> {
  await scene.daemon.start(point)
  for (const [no, text] of ['one', 'two'].entries()) {
    scene.telegram.world.say({ from: ADA, text })
    await scene.sent(`answer ${no + 1} to ${text}`)
  }
  scene.telegram.world.say({ from: ADA, text: command })
  expect(await scene.daemon.exited()).toEqual(KILLED)
  await scene.daemon.start()
}

describe.concurrent('a kill while an exchange is taken back', CASE, () => {
  for (const { point, what } of rounds(UNDO, 2)) {
    it(`${what} (${point}): one exchange is taken back, its answer deleted, the command answered once`, async (test) => {
      const scene = await startScene(test, { script: numbered() })
      await dieOf(scene, '/undo', point)
      await scene.sent('Taken back')
      await scene.settle([ADA])
      await scene.finish()
      expect(scene.texts(ADA).filter((text) => text.startsWith('Taken back'))).toHaveLength(1)
      expect(scene.texts(ADA).filter((text) => text.includes('to two'))).toEqual([])
      expect(scene.texts(ADA)).toContain('answer 1 to one')
      const prompt = JSON.stringify(scene.anthropic.ledger.requests().at(-1)?.messages)
      expect(prompt).toContain('answer 1 to one')
      expect(prompt).not.toContain('two')
    })
  }
  for (const { point, what } of rounds(RETRY, 3)) {
    it(`${what} (${point}): one exchange is answered once more, the old answer deleted`, async (test) => {
      const scene = await startScene(test, { script: numbered() })
      await dieOf(scene, '/retry', point)
      await scene.sent('I am answering that once more')
      await scene.settle([ADA])
      await scene.finish()
      expect(scene.texts(ADA).filter((text) => text.startsWith('I am answering that'))).toHaveLength(1)
      const answers = scene.texts(ADA).filter((text) => text.includes('to two'))
      expect(answers).toHaveLength(1)
      expect(answers).not.toContain('answer 2 to two')
      expect(scene.texts(ADA)).toContain('answer 1 to one')
      const prompt = JSON.stringify(scene.anthropic.ledger.requests().at(-1)?.messages)
      expect(prompt).not.toContain('answer 2')
    })
  }
})
