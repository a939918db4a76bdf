import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, startScene } from './scene.ts'

const SUMMARY = `They talked about trains. ${'The first one leaves at seven. '.repeat(4)}`.trim()

const script: Script = (request) =>
  JSON.stringify(request.system ?? '').includes('You condense')
    ? textReply(SUMMARY)
    : textReply(`answer to ${lastUserText(request).split('\n').at(-1)}`)

describe.concurrent('a kill while a summary is written', CASE, () => {
  for (const point of rounds(['CP16-summary-uncommitted'] as const)) {
    it(`R25: the summary written, not stored (${point}): the command is answered once, and there is one summary`, async (test) => {
      const scene = await startScene(test, { script })
      await scene.daemon.start(point)
      for (const n of [1, 2, 3, 4, 5]) {
        scene.telegram.world.say({ from: ADA, text: `question ${n}` })
        await scene.sent(`answer to question ${n}`)
      }
      scene.telegram.world.say({ from: ADA, text: '/compact' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent('Done: a summary stands for 1 earlier turn')
      scene.telegram.world.say({ from: ADA, text: 'and now?' })
      await scene.sent('answer to and now?')
      await scene.finish()
      const done = scene.texts(ADA).filter((text) => text.startsWith('Done: a summary'))
      expect(done).toHaveLength(1)
      const requests = scene.anthropic?.ledger.requests() ?? []
      expect(JSON.stringify(requests.at(-1)?.messages).split(SUMMARY)).toHaveLength(2)
    })
  }
})
