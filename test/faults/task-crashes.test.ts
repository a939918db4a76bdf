import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, startScene } from './scene.ts'

/** Ada's session gives a task away, and tells her what came of it. */
const delegating: Script = (request) => {
  const content = request.messages.at(-1)?.content ?? ''
  if (typeof content !== 'string' && content.some(({ type }) => type === 'tool_result')) {
    const { status, reply } = JSON.parse(lastUserText(request)) as { status: string; reply?: string }
    return textReply(`told: ${status} ${reply}`)
  }
  if (lastUserText(request).includes('count the stars')) return textReply('nine of them')
  return { blocks: [{ type: 'tool_use', name: 'task', input: { task: 'count the stars' } }] }
}

/** The first turn is Ada's, the second that of her task. */
const POINTS: readonly FailpointSpec[] = [
  'CP7-tool-intent',
  'CP8-tool-running',
  'CP4-claimed:2',
  'CP6-model-answer-uncommitted:2',
  'CP6-model-answer-uncommitted:3',
  'CP9-tool-done-uncommitted',
]

describe.concurrent('a kill between a task and its answer', CASE, () => {
  for (const point of rounds(POINTS, 6)) {
    it(`R36, F-A06: killed at ${point}: the task is begun once, and its answer is told once`, async (test) => {
      const scene = await startScene(test, { script: delegating })
      await scene.daemon.start(point)
      scene.telegram.world.say({ from: ADA, text: 'how many stars are there?' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent('told: ok nine of them', { chat: ADA })
      const { events } = await scene.finish()
      expect(scene.texts(ADA)).toEqual(['told: ok nine of them'])
      const begun = events.filter(({ type, data }) => type === 'user_message' && data.includes('count the stars'))
      expect(begun).toHaveLength(1)
    })
  }
})
