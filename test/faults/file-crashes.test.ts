import { describe, expect, it } from 'vitest'
import { type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, startScene } from './scene.ts'

const script: Script = (request) =>
  textReply(JSON.stringify(request.messages).includes('> the plan') ? 'read the plan' : 'read nothing')

describe.concurrent('a kill while the files of a message are read', CASE, () => {
  const cases = [
    ['CP29-files-fetched', 'fetched, not recorded: they are fetched again', 2],
    ['CP30-files-recorded', 'recorded, the model not asked: they are not fetched again', 1],
  ] as const
  for (const [point, what, downloads] of rounds(cases)) {
    it(`F-G07: ${what} (${point}), and the same turn answers once`, async (test) => {
      const scene = await startScene(test, { script })
      const { world, ledger } = scene.telegram
      await scene.daemon.start(point)
      const file = { as: 'document', name: 'plan.txt', bytes: Buffer.from('the plan') } as const
      world.say({ from: ADA, text: '', extra: fileFields(world, file) })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent('read the plan')
      const { turns, inbox } = await scene.finish()
      expect(scene.texts(ADA)).toEqual(['read the plan'])
      expect(turns).toMatchObject([{ state: 'completed', attempt: 2 }])
      expect(inbox).toMatchObject([{ outcome: 'answered' }])
      expect(ledger.count((entry) => entry.kind === 'call' && entry.method === 'download')).toBe(downloads)
    })
  }
})
