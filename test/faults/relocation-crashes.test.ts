import { describe, expect, it } from 'vitest'
import { connectLocal } from '../../src/cli/local-client.ts'
import type { OperatorService } from '../../src/core/operator.ts'
import type { RelocationKind } from '../../src/core/relocation.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, BOB, KILLED, type Scene, startScene } from './scene.ts'

const script: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

interface CrashCase {
  readonly kind: RelocationKind
  readonly point: FailpointSpec
  /** What is there afterwards: how often each session has the words, and whether the chat has the old session. */
  readonly copies: readonly number[]
  readonly stays: boolean
}

const CASES: readonly CrashCase[] = [
  { kind: 'move', point: 'CP24-move-uncommitted', copies: [1], stays: true },
  { kind: 'move', point: 'CP25-move-committed', copies: [0, 1, 1], stays: false },
  { kind: 'fork', point: 'CP24-move-uncommitted', copies: [1], stays: true },
  { kind: 'fork', point: 'CP25-move-committed', copies: [1, 1], stays: true },
]

const FROM = `telegram:direct:${ADA}`
const TO = `telegram:direct:${BOB}`

async function operator({ socketPath }: Scene): Promise<OperatorService> {
  const daemon = await connectLocal(socketPath)
  if (daemon === undefined) throw new Error('no daemon runs')
  return daemon
}

/** How often the words are in each session there is. */
async function wordsIn({ sessions }: OperatorService): Promise<readonly number[]> {
  const listed = await sessions.list({ limit: 50, offset: 0, inactive: true })
  const counts = listed.sessions.map(async ({ id }) => {
    const { events } = await sessions.history(id, { limit: 200 })
    return events.filter(({ type, text }) => type === 'user_message' && text.includes('at seven')).length
  })
  return (await Promise.all(counts)).toSorted()
}

describe.concurrent('a kill while a session is moved or forked', CASE, () => {
  for (const { kind, point, copies, stays } of rounds(CASES, 3)) {
    it(`K27: ${kind}, killed at ${point}: it was done once or not at all, and nothing of the log is lost or doubled`, async (test) => {
      const scene = await startScene(test, { script })
      await scene.daemon.start(point)
      scene.telegram.world.say({ from: ADA, text: 'the train leaves at seven' })
      await scene.sent('heard the train leaves at seven')
      const before = await operator(scene)
      const { id } = await before.sessions.show(FROM)
      const asked = before.archives.relocate(FROM, { kind, to: TO, confirmed: true })
      await expect(asked).rejects.toThrow()
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      const after = await operator(scene)
      expect(await wordsIn(after)).toEqual(copies)
      expect((await after.sessions.show(FROM)).id === id).toBe(stays)
      scene.telegram.world.say({ from: BOB, text: 'when does it leave?' })
      await scene.sent('heard when does it leave?', { chat: BOB })
      const request = JSON.stringify(scene.anthropic.ledger.requests().at(-1)?.messages)
      expect(request.includes('the train leaves at seven')).toBe(copies.length > 1)
      // The invariants take a log that was copied for one that was written twice.
      if (copies.length === 1) await scene.finish()
    })
  }
})
