import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { household, owner } from '../fakes/routing-policy.ts'
import { mulberry } from './random.ts'
import { CASE, rounds, times } from './rounds.ts'
import { ADA, BOB, KILLED, startScene } from './scene.ts'

const CANARY = 'zq9canary4712'
const EXCHANGES = 12
const KILLS = times(8, 3)
const script: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

/** The files of the daemon that hold the canary; those of the test itself do not count. */
function holding(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(folder, name)
    return statSync(path).isFile() && readFileSync(path).includes(CANARY)
  })
}

// One after another: the moments of the kills would lie elsewhere beside other daemons.
describe('kills at any moment while somebody is forgotten', CASE, () => {
  for (const round of rounds([1, 2, 3], 3)) {
    it(`S41: no byte of rows, search or files is left, others lose nothing, and the answer comes once (${round})`, async (test) => {
      const routing = household({
        people: [owner('ada', `telegram:${ADA}`)],
        access: { direct: 'public', groups: [] },
      })
      const scene = await startScene(test, { script, routing, tools: ['memory'] })
      const { world } = scene.telegram
      const random = mulberry(4712 + round)
      await scene.daemon.start()
      for (let no = 0; no < EXCHANGES; no++) {
        const file = { as: 'document', name: `${CANARY}.txt`, bytes: Buffer.from(`${CANARY} ${no}`) } as const
        const extra = no % 4 === 0 ? { extra: fileFields(world, file) } : {}
        world.say({ from: ADA, text: `my code is ${CANARY} ${no}`, ...extra })
        await scene.sent(`${CANARY} ${no}`, { chat: ADA })
      }
      world.say({ from: BOB, text: 'the weather is fine' })
      await scene.sent('heard the weather is fine', { chat: BOB })
      expect(holding(dirname(scene.socketPath))).not.toEqual([])
      world.say({ from: ADA, text: '/forget me yes' })
      for (let kill = 0; kill < KILLS; kill++) {
        await pause(random() * 60)
        expect(await scene.daemon.kill()).toEqual(KILLED)
        await scene.daemon.start()
      }
      await scene.sent('Forgotten: ', { chat: ADA })
      await scene.settle([ADA, BOB])
      await test.expect.poll(() => holding(dirname(scene.socketPath)), { timeout: 30_000 }).toEqual([])
      expect(scene.texts(ADA).filter((text) => text.includes('Forgotten: '))).toHaveLength(1)
      expect(scene.texts(BOB)).toContain('heard the weather is fine')
      await scene.finish()
      expect(holding(dirname(scene.socketPath))).toEqual([])
    })
  }
})
