import { describe, expect, it } from 'vitest'
import { type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { png } from '../fakes/files.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, startScene } from './scene.ts'

const script: Script = (request) =>
  textReply(JSON.stringify(request.messages).includes('> the plan') ? 'read the plan' : 'read nothing')

describe.concurrent('a kill while the files of a message are read', CASE, () => {
  const cases = [
    ['CP29-files-fetched', 'fetched, not recorded: they are fetched again', 2],
    ['CP30-files-recorded', 'recorded, the model not asked: they are not fetched again', 1],
  ] as const
  for (const [point, what, downloads] of rounds(cases, 2)) {
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

describe.concurrent('a kill while the rest of what was sent as one is waited for', CASE, () => {
  for (const [round] of rounds([[1]])) {
    it(`F-G07: an album is one message of one answer all the same (${round})`, async (test) => {
      const scene = await startScene(test, {
        script: ({ messages }) => textReply(`${JSON.stringify(messages).split('"type":"image"').length - 1} pictures`),
      })
      const { world, ledger } = scene.telegram
      const say = (height: number) =>
        world.say({ from: ADA, text: '', extra: fileFields(world, { as: 'photo', bytes: png(4, height), album: 'a' }) })
      await scene.daemon.start()
      await ledger.confirmed(ledger.updateIdOf(say(1)))
      await scene.daemon.kill()
      for (const height of [2, 3, 4]) say(height)
      await scene.daemon.start()
      await scene.sent('pictures')
      const { turns } = await scene.finish()
      expect(scene.texts(ADA)).toEqual(['4 pictures'])
      expect(turns).toHaveLength(1)
    })

    it(`F-G07: in a group the rest of an album that addressed the bot needs no mention either (${round})`, async (test) => {
      const scene = await startScene(test, {
        script: ({ messages }) => textReply(`${JSON.stringify(messages).split('"type":"image"').length - 1} pictures`),
      })
      const { world, ledger } = scene.telegram
      const chat = world.addChat({ type: 'supergroup', title: 'Trip', members: [ADA] }).id
      const say = (height: number, caption?: string) => {
        const file = { as: 'photo', bytes: png(4, height), album: 'a', ...(caption ? { caption } : {}) } as const
        return world.say({ from: ADA, chat, text: '', extra: fileFields(world, file) })
      }
      await scene.daemon.start()
      await ledger.confirmed(ledger.updateIdOf(say(1, '@parley_bot which?')))
      await scene.daemon.kill()
      for (const height of [2, 3, 4]) say(height)
      await scene.daemon.start()
      await scene.sent('pictures')
      const { turns } = await scene.finish()
      expect(scene.texts(chat)).toEqual(['4 pictures'])
      expect(turns).toHaveLength(1)
    })

    it(`F-G07: a pasted text is one message of one answer all the same (${round})`, async (test) => {
      const scene = await startScene(test, {
        script: ({ messages }) =>
          textReply(/begin .*the end/s.test(JSON.stringify(messages)) ? 'read it' : 'read a part'),
      })
      const { world, ledger } = scene.telegram
      await scene.daemon.start()
      await ledger.confirmed(ledger.updateIdOf(world.say({ from: ADA, text: `begin ${'word '.repeat(800)}` })))
      await scene.daemon.kill()
      world.say({ from: ADA, text: 'the end' })
      await scene.daemon.start()
      await scene.sent('read')
      await scene.finish()
      expect(scene.texts(ADA)).toEqual(['read it'])
    })
  }
})
