import { describe, expect, it } from 'vitest'
import { connectLocal } from '../../src/cli/local-client.ts'
import { copiedTurnId, type SessionId, type TurnId } from '../../src/core/ids.ts'
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

/** The turns in the log of each session that has some. */
async function turnsIn({ sessions }: OperatorService): Promise<readonly (readonly string[])[]> {
  const listed = await sessions.list({ limit: 50, offset: 0, inactive: true })
  const logs = listed.sessions.map(async ({ id }) => (await sessions.history(id, { limit: 200 })).events)
  const turns = (await Promise.all(logs)).map((events) => [...new Set(events.flatMap(({ turn }) => turn ?? []))])
  return turns.filter(({ length }) => length > 0)
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
      await scene.finish()
    })
  }

  it('K27: a fork that was killed and is asked for once more has the turns that it would have had', async (test) => {
    const scene = await startScene(test, { script })
    await scene.daemon.start('CP24-move-uncommitted')
    scene.telegram.world.say({ from: ADA, text: 'the train leaves at seven' })
    await scene.sent('heard the train leaves at seven')
    const fork = async () =>
      (await operator(scene)).archives.relocate(FROM, { kind: 'fork', to: 'cli:notes', confirmed: true })
    await expect(fork()).rejects.toThrow()
    expect(await scene.daemon.exited()).toEqual(KILLED)
    await scene.daemon.start()
    const { id } = await (await operator(scene)).sessions.show(FROM)
    expect(await fork()).toMatchObject({ state: 'done', session: 'cli:notes', from: id })
    const turns = await turnsIn(await operator(scene))
    const [[own] = []] = turns.filter(([turn]) => turn?.length === 'turn_'.length + 24)
    expect(turns.toSorted()).toEqual([[own], [copiedTurnId(own as TurnId, 'cli:notes' as SessionId)]].toSorted())
    await scene.finish()
  })
})
