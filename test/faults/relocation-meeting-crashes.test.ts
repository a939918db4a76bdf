import { describe, expect, it } from 'vitest'
import { connectLocal } from '../../src/cli/local-client.ts'
import type { OperatorService } from '../../src/core/operator.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, BOB, KILLED, type Scene, startScene } from './scene.ts'

const script: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

const [ADAS, BOBS, NOTES] = [`telegram:direct:${ADA}`, `telegram:direct:${BOB}`, 'cli:notes']
const WORDS = ['apples', 'boats'] as const

interface Case {
  readonly what: string
  readonly asked: readonly (readonly [from: string, to: string])[]
}

const CASES: readonly Case[] = [
  {
    what: 'two that change places',
    asked: [
      [ADAS, BOBS],
      [BOBS, ADAS],
    ],
  },
  {
    what: 'one whose destination leaves',
    asked: [
      [ADAS, BOBS],
      [BOBS, NOTES],
    ],
  },
  {
    what: 'two into one place',
    asked: [
      [ADAS, NOTES],
      [BOBS, NOTES],
    ],
  },
]
const POINTS: readonly FailpointSpec[] = ['CP24-move-uncommitted', 'CP24-move-uncommitted:2', 'CP25-move-committed']

async function operator({ socketPath }: Scene): Promise<OperatorService> {
  const daemon = await connectLocal(socketPath)
  if (daemon === undefined) throw new Error('no daemon runs')
  return daemon
}

/** How many sessions have each of the words, and where the sessions in use have them. */
async function found({ sessions }: OperatorService) {
  const listed = await sessions.list({ limit: 50, offset: 0, inactive: true })
  const logs = listed.sessions.map(async ({ id, key, status }) => {
    const { events } = await sessions.history(id, { limit: 200 })
    const has = WORDS.filter((word) => events.some(({ type, text }) => type === 'user_message' && text.includes(word)))
    return { key, has, inUse: status !== 'inactive' }
  })
  return Promise.all(logs)
}

describe.concurrent('a kill while relocations meet', CASE, () => {
  const cases = CASES.flatMap((one) => POINTS.map((point) => ({ ...one, point })))
  for (const { what, asked, point } of rounds(cases, 2)) {
    it(`K27: ${what} (${point}): each is done once or not at all, and no words are lost`, async (test) => {
      const scene = await startScene(test, { script })
      await scene.daemon.start(point)
      for (const [at, from] of [ADA, BOB].entries()) {
        scene.telegram.world.say({ from, text: WORDS[at] ?? '' })
        await scene.sent(`heard ${WORDS[at]}`)
      }
      const { archives } = await operator(scene)
      const ended = await Promise.allSettled(
        asked.map(([from, to]) => archives.relocate(from, { kind: 'move', to, confirmed: true })),
      )
      if (scene.daemon.running && !point.endsWith(':2')) expect(await scene.daemon.exited()).toEqual(KILLED)
      // The second of two may be refused before it comes so far.
      if (point.endsWith(':2') && ended.some(({ status }) => status === 'fulfilled')) await scene.daemon.kill()
      await scene.daemon.exited()
      await scene.daemon.start()
      const after = await found(await operator(scene))
      const inUse = after.filter((one) => one.inUse)
      expect(new Set(inUse.map(({ key }) => key)).size).toBe(inUse.length)
      for (const word of WORDS) {
        expect(after.filter(({ has }) => has.includes(word)).length).toBeGreaterThan(0)
        expect(inUse.filter(({ has }) => has.includes(word)).length).toBeLessThanOrEqual(1)
      }
      await scene.settle([ADA, BOB])
      await scene.finish()
    })
  }
})
