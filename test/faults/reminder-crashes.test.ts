import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { discordPlace, type OtherPlace, slackPlace, startAll } from './other-platforms.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, startScene } from './scene.ts'

const script: Script = (request) => textReply(lastUserText(request))

const CASES: readonly { readonly point: FailpointSpec; readonly what: string }[] = [
  { point: 'CP15-slot-claimed', what: 'the slot claimed, nothing handed on' },
  { point: 'CP4-claimed', what: 'the turn claimed, nothing planned' },
]

describe.concurrent('F-E08: a kill when a reminder comes due', CASE, () => {
  for (const { point, what } of rounds(CASES, 2)) {
    it(`${what} (${point}): it is said once, without a model, and is over then`, async (test) => {
      const scene = await startScene(test, { script })
      await scene.daemon.start(point)
      scene.telegram.world.say({ from: ADA, text: '/remind in 3 seconds to stretch' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent('I remind you here')
      await scene.sent('Reminder: stretch')
      await scene.settle([ADA])
      await scene.finish()
      expect(scene.texts(ADA).filter((text) => text.startsWith('Reminder'))).toHaveLength(1)
    })
  }
})

const PLACES: readonly (readonly [string, () => Promise<OtherPlace>])[] = [
  ['Discord', () => discordPlace({}, 'direct')],
  ['Slack', () => slackPlace()],
]

describe.concurrent('F-E08: a kill when a reminder comes due on', CASE, () => {
  for (const [platform, open] of PLACES) {
    it(`${platform}: it is said once, without a model, and is over then`, async (test) => {
      const place = await open()
      test.onTestFinished(() => place.close())
      const scene = await startScene(test, { script, others: [place] })
      await startAll(scene, [place], 'CP15-slot-claimed')
      place.say('/remind in 3 seconds to stretch')
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await startAll(scene, [place])
      await place.sent('I remind you here')
      await place.sent('Reminder: stretch')
      await scene.finish()
      expect(place.texts().filter((text) => text.startsWith('Reminder'))).toHaveLength(1)
    })
  }
})
