import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { toolResult } from '../e2e/obedient.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { discordPlace, type OtherPlace, slackPlace, startAll } from './other-platforms.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, startScene } from './scene.ts'

const script: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`told: ${result}`)
  if (lastUserText(request).endsWith('goodbye')) return textReply('goodbye')
  return { blocks: [{ type: 'tool_use', name: 'react', input: { emoji: '👍' } }] }
}

const POINTS: readonly FailpointSpec[] = ['CP8-tool-running', 'CP9-tool-done-uncommitted', 'CP7-tool-intent']

describe.concurrent('a kill around an emoji', CASE, () => {
  for (const point of rounds(POINTS, 2)) {
    it(`F-A06: Telegram (${point}): it stands there once, and the model is told so`, async (test) => {
      const scene = await startScene(test, { script, tools: ['react'] })
      const { world } = scene.telegram
      await scene.daemon.start(point)
      const { message_id: id } = world.say({ from: ADA, text: 'put it here' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      expect((await scene.sent('told: ')).text).toContain('👍 stands there')
      await scene.settle([ADA])
      await scene.finish()
      const asked = world.messages(ADA).find(({ message }) => message.message_id === id)
      expect([...(asked?.reactions.values() ?? [])]).toEqual(['👍'])
    })
  }

  const places: readonly (readonly [string, () => Promise<OtherPlace>])[] = [
    ['Discord', () => discordPlace({}, 'direct')],
    ['Slack', () => slackPlace()],
  ]
  for (const [platform, open] of places) {
    it(`F-A06: ${platform} (CP9-tool-done-uncommitted): the emoji that stands there already is no fault`, async (test) => {
      const place = await open()
      test.onTestFinished(() => place.close())
      const scene = await startScene(test, { script, tools: ['react'], others: [place] })
      await startAll(scene, [place], 'CP9-tool-done-uncommitted')
      place.say('put it here')
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await startAll(scene, [place])
      await place.sent('told: ')
      await scene.finish()
      expect(place.texts().filter((text) => text.startsWith('told: '))).toEqual([
        'told: 👍 stands there. That is no answer.',
      ])
    })
  }
})
