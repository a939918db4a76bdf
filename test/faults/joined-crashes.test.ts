import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { toolResult } from '../e2e/obedient.ts'
import { owner, policy } from '../fakes/routing-policy.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, BOB, KILLED, startScene } from './scene.ts'

interface Case {
  readonly busy: 'queue' | 'steer'
  readonly point: FailpointSpec
}

const POINTS: readonly FailpointSpec[] = [
  ...(['CP4-claimed', 'CP6-model-answer-uncommitted:2', 'CP10-outbox-planned:2'] as const),
  ...(['CP11-sending-committed:2', 'CP11-sending-committed:3', 'CP7-tool-intent'] as const),
]
const CASES: readonly Case[] = (['queue', 'steer'] as const).flatMap((busy) => POINTS.map((point) => ({ busy, point })))

/** The first turn looks something up, which waits for the gate; every answer says what was heard last. */
function heardBy(gate: ReturnType<typeof createGate>): Script {
  return (request) => {
    const text = lastUserText(request)
    if (!text.endsWith('look it up') || toolResult(request) !== undefined) return textReply(`heard ${text}`)
    return { blocks: [{ type: 'tool_use', name: 'probe_pure', input: {} }], holds: [{ beforeDelta: 0, gate }] }
  }
}

describe.concurrent('a kill while two chats of one session speak at once', CASE, () => {
  for (const { busy, point } of rounds(CASES, 3))
    it(`K46: ${busy}, ${point}: each chat reads the answers to what was said there, and nothing else`, async (test) => {
      const gate = createGate()
      const scene = await startScene(test, {
        script: heardBy(gate),
        routing: policy({
          people: [owner('ada', 'telegram:111')],
          access: { direct: 'public', groups: [] },
          scope: 'global',
        }),
        config: { session: { queue: { max: 100, busy } } },
      })
      const { world, ledger } = scene.telegram
      await scene.daemon.start(point)
      world.say({ from: ADA, text: 'look it up' })
      if (point !== 'CP4-claimed') await gate.reached
      for (const [from, text] of [
        [ADA, 'ada-1'],
        [BOB, 'bob-1'],
        [ADA, 'ada-2'],
        [BOB, 'bob-2'],
      ] as const)
        world.say({ from, text })
      gate.release()
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.settle([ADA, BOB])
      await scene.finish()
      const said = (chat: number) =>
        scene
          .texts(chat)
          .join(' ')
          .match(/\b(?:ada|bob)-\d/g) ?? []
      expect([...new Set(said(ADA))].toSorted()).toEqual(['ada-1', 'ada-2'])
      expect([...new Set(said(BOB))].toSorted()).toEqual(['bob-1', 'bob-2'])
      expect(ledger.all((entry) => entry.kind === 'message' && entry.chatId !== ADA && entry.chatId !== BOB)).toEqual(
        [],
      )
    })
})
