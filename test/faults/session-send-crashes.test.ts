import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, BOB, KILLED, startScene } from './scene.ts'

/** Ada's session asks Bob's, and tells her what it answered. */
const asking: Script = (request) => {
  const content = request.messages.at(-1)?.content ?? ''
  if (typeof content !== 'string' && content.some(({ type }) => type === 'tool_result')) {
    const { status, reply } = JSON.parse(lastUserText(request)) as { status: string; reply?: string }
    return textReply(`told: ${status} ${reply}`)
  }
  const text = lastUserText(request)
  if (text.includes('are you there')) return textReply('I am here')
  if (text !== 'ask bob') return textReply(`heard ${text}`)
  const input = { sessionKey: `telegram:direct:${BOB}`, message: 'are you there' }
  return { blocks: [{ type: 'tool_use', name: 'sessions_send', input }] }
}

/** The first turn opens Bob's session, the second is Ada's, the third Bob's for her; only then is her tool done. */
const POINTS: readonly FailpointSpec[] = [
  'CP7-tool-intent',
  'CP8-tool-running',
  'CP4-claimed:3',
  'CP6-model-answer-uncommitted:3',
  'CP9-tool-done-uncommitted',
]

describe.concurrent('a kill between a message to a session and its answer', CASE, () => {
  for (const point of rounds(POINTS, 3)) {
    it(`T20, F-A06: killed at ${point}: it is sent once, and its answer is told once`, async (test) => {
      const scene = await startScene(test, { script: asking })
      await scene.daemon.start(point)
      scene.telegram.world.say({ from: BOB, text: 'hello' })
      await scene.sent('heard hello', { chat: BOB })
      scene.telegram.world.say({ from: ADA, text: 'ask bob' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent('told: ok I am here', { chat: ADA })
      const { events } = await scene.finish()
      expect(scene.texts(ADA)).toEqual(['told: ok I am here'])
      expect(scene.texts(BOB)).toEqual(['heard hello'])
      expect(events.filter(({ type, data }) => type === 'user_message' && data.includes('are you there'))).toHaveLength(
        1,
      )
    })
  }
})
